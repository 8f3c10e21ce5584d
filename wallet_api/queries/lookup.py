"""Where an address is tracked."""

from collections.abc import Sequence
from typing import Any

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, load_sql

_LOOKUP = load_sql(__package__, "lookup")


def look_up_address(connection: Connection, address: str, blockchains: Sequence[str]) -> dict[str, Any]:
    """Return the profile of the wallet on the first of `blockchains` that tracks it, and all that do."""
    profiles = connection.execute(_LOOKUP, {"address": address, "blockchains": list(blockchains)}).fetchall()
    if not profiles:
        return {"found": False, "wallet_address": address}
    return {
        "found": True,
        **profiles[0],
        "currency": CHAINS[profiles[0]["blockchain"]].currency,
        "matches": [{name: profile[name] for name in ("blockchain", "type")} for profile in profiles],
    }
