"""What a feed is filtered by: the direction and the value of its trades, and who made them."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple, TypedDict

from wallet_api.chains import CHAINS, one_type
from wallet_api.database import Connection, load_sql

_FIND_WALLETS = load_sql(__package__, "find_wallets")


class FilterArguments(TypedDict, total=False):
    """The filters of a feed: `buy` or `sell`, the least values as shown, and up to 100 addresses."""

    transaction_type: str
    min_value: Decimal
    min_value_usd: Decimal
    address: Sequence[str]


class FeedFilters(NamedTuple):
    """The parameters of a filtered feed, what binds its cursors, and its warnings."""

    parameters: dict[str, Any]
    scope: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def are_given(self) -> bool:
        """Return whether there is any filter."""
        return bool(self.scope)


NO_FILTERS = FeedFilters(dict.fromkeys(("wants_sells", "min_value", "min_value_usd", "wallet_ids")))


def read_filters(
    connection: Connection, blockchain: str | None, type: str | None, given: FilterArguments
) -> FeedFilters:
    """Return the filters of a request; wallets of no such group are named in the warnings."""
    if not given:
        return NO_FILTERS
    addresses = given.get("address")
    wallet_ids, warnings = None, []
    if addresses is not None:
        chains = list(CHAINS) if blockchain is None else [blockchain]
        one = one_type(type)
        wanted = {"blockchains": chains, "type": one, "addresses": list(addresses)}
        rows = connection.execute(_FIND_WALLETS, wanted).fetchall()
        wallet_ids = [row["wallet_id"] for row in rows]
        found = {row["address"] for row in rows}
        where = "" if blockchain is None else f" on {blockchain}{'' if one is None else f' as {one}'}"
        warnings = [
            f"The wallet {address} is not tracked{where}."
            for address in dict.fromkeys(addresses)
            if address not in found
        ]
    direction = given.get("transaction_type")
    parameters = {
        "wants_sells": None if direction is None else direction == "sell",
        "min_value": given.get("min_value"),
        "min_value_usd": given.get("min_value_usd"),
        "wallet_ids": wallet_ids,
    }
    return FeedFilters(parameters, tuple(_words(given)), tuple(warnings))


def _words(given: FilterArguments) -> list[str]:
    """Return the filters as words, equal ones for equal filters."""
    words = [f"transaction_type={given['transaction_type']}"] if "transaction_type" in given else []
    words += [f"min_value={given['min_value'].normalize():f}"] if "min_value" in given else []
    words += [f"min_value_usd={given['min_value_usd'].normalize():f}"] if "min_value_usd" in given else []
    words += [f"address={','.join(sorted(set(given['address'])))}"] if "address" in given else []
    return words
