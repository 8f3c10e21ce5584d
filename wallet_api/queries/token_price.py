"""The price of a token: the parameters of `token_price.sql`, which other statements include."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, LiteralString, NamedTuple

from wallet_api.database import Connection, Row, edit_sql


class PriceRule(NamedTuple):
    """Which trades make prices: those of at least this value, and not older than this age."""

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

_NOTHING = "searched AS (SELECT 0 AS token_id, 0.0 AS price, now() AS price_at WHERE FALSE)"


def split_search(statement: LiteralString) -> LiteralString:
    """Let a Citus cluster run a statement of one wallet without the search for prices, on one worker.

    Return the text with the search, for `read_priced`.
    """
    searching = edit_sql(statement, lambda text: text + "\n/* on all workers */")
    edit_sql(statement, _without_search)
    return searching


def read_priced(
    connection: Connection,
    statement: LiteralString,
    searching: LiteralString,
    parameters: Mapping[str, Any],
) -> Row | None:
    """Run a statement of one wallet; again with the search if a cluster left it out but a price needs it."""
    found = connection.fetch_own_row(statement, parameters)
    if found is not None and found["is_searched"] and connection.is_sharded:
        return connection.fetch_row(searching, parameters)
    return found


def _without_search(text: LiteralString) -> LiteralString:
    before, mark, rest = text.partition("/* search */")
    return before + _NOTHING + rest.partition("/* found */")[2] if mark else text
