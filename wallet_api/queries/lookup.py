"""Where addresses are tracked."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from wallet_api.base.chains import CHAINS
from wallet_api.base.errors import WalletNotFound
from wallet_api.database import Connection, Row, load_sql

_LOOKUP = load_sql(__package__, "lookup")
_MATCH = ("blockchain", "type", "history_since", "history_until")


def look_up_addresses(
    connection: Connection,
    addresses: Sequence[str],
    type: str | None = None,
    has: Callable[[str, str], bool] = lambda blockchain, type: True,
) -> dict[str, Any]:
    """Return of each address the profile on the first chain that tracks it, and all chains that do.

    Wallets of chains and types that `has` is false of are left out. With `type` only wallets of that type
    count: a single address that is tracked under another type alone raises WalletNotFound.
    """
    parameters = {"addresses": list(addresses), "blockchains": list(CHAINS)}
    tracked: defaultdict[str, list[Row]] = defaultdict(list)
    for profile in connection.execute(_LOOKUP, parameters):
        if has(profile["blockchain"], profile["type"]):
            tracked[profile["wallet_address"]].append(profile)
    found = [
        _entry(address, [each for each in tracked[address] if type in (None, each["type"])])
        for address in addresses
    ]
    if len(found) > 1:
        return {"wallets": found}
    [entry] = found
    if not entry["found"] and tracked[addresses[0]]:
        raise WalletNotFound(tracked[addresses[0]][0]["blockchain"], addresses[0], type)
    return entry


def _entry(address: str, profiles: Sequence[Row]) -> dict[str, Any]:
    if not profiles:
        return {"found": False, "wallet_address": address}
    return {
        "found": True,
        **_known(profiles[0]),
        "currency": CHAINS[profiles[0]["blockchain"]].currency,
        "matches": [_known({name: profile[name] for name in _MATCH}) for profile in profiles],
    }


def _known(values: Row) -> Row:
    """Return the values without those that are unknown."""
    return {name: value for name, value in values.items() if value is not None}
