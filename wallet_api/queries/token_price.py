"""Prices of tokens: statements that include `token_price.sql`, and their parameters."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, LiteralString, NamedTuple

from wallet_api.database import Connection, Lists, Row, load_sql


class PriceRule(NamedTuple):
    """Which trades make prices: those of at least this value and at most this age."""

    min_value_usd: Decimal = Decimal(1)
    max_age_seconds: float = 86_400

    def parameters(self, now: datetime) -> dict[str, Any]:
        """Return the parameters of prices at `now`, which counts in whole seconds."""
        now = now.replace(microsecond=0)
        return {
            "now": now,
            "price_min_usd": self.min_value_usd,
            "price_oldest_at": now - timedelta(seconds=self.max_age_seconds),
        }


DEFAULT_RULE = PriceRule()

_SEARCH = load_sql(__package__, "search_prices")


def read_priced(
    connection: Connection, statement: LiteralString, parameters: Mapping[str, Any]
) -> Lists | None:
    """Return the lists of a statement that includes token_price.sql, or None.

    If the newest trade of a token makes no price, search for an earlier one, and run the statement again.
    """
    found = connection.fetch_lists(statement, {**parameters, **_searched([])})
    if found is None or not found[0]["unpriced_ids"]:
        return found
    prices = connection.execute(_SEARCH, {**parameters, "token_ids": found[0]["unpriced_ids"]}).fetchall()
    return connection.fetch_lists(statement, {**parameters, **_searched(prices)}) if prices else found


def _searched(prices: Sequence[Row]) -> dict[str, Any]:
    columns = {"searched_ids": "token_id", "searched_prices": "price", "searched_at": "price_at"}
    return {name: [row[column] for row in prices] for name, column in columns.items()}
