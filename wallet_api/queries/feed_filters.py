"""What a feed is filtered by: the direction and the value of its trades, and who made them."""

from collections.abc import Mapping
from typing import Any

from wallet_api.base.chains import CHAINS, one_type
from wallet_api.database import Connection, load_sql

_FIND_WALLETS = load_sql(__package__, "find_wallets")


def read_filters(connection: Connection, given: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the parameters of the filters among loaded arguments, and a warning for each unknown wallet."""
    addresses, direction = given.get("address"), given.get("transaction_type")
    parameters = {
        "wants_sells": None if direction is None else direction == "sell",
        "min_value": given.get("min_value"),
        "min_value_usd": given.get("min_value_usd"),
        "wallet_ids": None,
    }
    if addresses is None:
        return parameters, []
    blockchain, one = given.get("blockchain"), one_type(given.get("type"))
    chains = list(CHAINS) if blockchain is None else [blockchain]
    wanted = {"blockchains": chains, "type": one, "addresses": list(addresses)}
    rows = connection.execute(_FIND_WALLETS, wanted).fetchall()
    found = {row["address"] for row in rows}
    where = "" if blockchain is None else f" on {blockchain}{'' if one is None else f' as {one}'}"
    warnings = [
        f"The wallet {address} is not tracked{where}."
        for address in dict.fromkeys(addresses)
        if address not in found
    ]
    return parameters | {"wallet_ids": [row["wallet_id"] for row in rows]}, warnings


def filter_words(given: Mapping[str, Any]) -> list[str]:
    """Return the filters among loaded arguments as words, equal ones for equal filters; none without any."""
    words = [f"transaction_type={given['transaction_type']}"] if "transaction_type" in given else []
    words += [f"min_value={given['min_value'].normalize():f}"] if "min_value" in given else []
    words += [f"min_value_usd={given['min_value_usd'].normalize():f}"] if "min_value_usd" in given else []
    words += [f"address={','.join(sorted(set(given['address'])))}"] if "address" in given else []
    return words
