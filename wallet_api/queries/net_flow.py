"""What a group put into tokens and took out of them, in several windows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from wallet_api.base.periods import FLOW_PERIODS, PERIOD_LENGTHS
from wallet_api.database import Connection, Row, load_sql
from wallet_api.queries.groups import group_parameters
from wallet_api.queries.native_price import read_native_price
from wallet_api.queries.paging import MAX_LIMIT
from wallet_api.queries.windows import cut_period

_NET_FLOW = load_sql(__package__, "net_flow")
_WINDOWS = load_sql(__package__, "flow_windows")
_FIGURES = (
    *("buy", "buy_usd", "sell", "sell_usd", "net_flow", "net_flow_usd"),
    *("buyers", "sellers", "new_wallets", "wallet_count"),
)
_NONE = dict.fromkeys(_FIGURES, 0)
_NAMES = ("mint", "symbol", "token_name")
# Of a token, with its flows in all windows.
COLUMNS = (*_NAMES, *(f"windows_{window}_{figure}" for window in FLOW_PERIODS for figure in _FIGURES))


@dataclass(frozen=True)
class Flows:
    """The tokens that a group traded in a period that ended at `now`, which is a whole second.

    `shown` are those that have been requested by id, each with the values of COLUMNS.
    """

    now: datetime
    blockchain: str
    type: str
    tokens: Sequence[Row]
    native_price: Row
    shown: dict[int, tuple[Any, ...]] = field(default_factory=dict)

    def choose(
        self, limit: int, sort: str | None = None, order: str = "desc", min_wallets: int = 1
    ) -> tuple[int, list[int]]:
        """Return how many tokens so many wallets traded, and the ids of at most `limit` of them.

        Those with the largest flow in either direction come first, or of the figure `sort`.
        """
        sign = 1 if order == "asc" else -1

        def place(token: Row) -> tuple[Any, str]:
            return sign * (abs(token["net_flow"]) if sort is None else token[sort]), token["mint"]

        among = [token for token in self.tokens if token["wallet_count"] >= min_wallets]
        first = sorted(among, key=place)[: min(limit, MAX_LIMIT)]
        return len(among), [token["token_id"] for token in first]


def read_flows(connection: Connection, now: datetime, given: Mapping[str, Any]) -> Flows:
    """Return all tokens that a group traded in (`now` - period, `now`]. `now` counts in whole seconds."""
    now, blockchain, type = now.replace(microsecond=0), given["blockchain"], given["type"]
    parameters = group_parameters(blockchain, type) | cut_period(now - PERIOD_LENGTHS[given["period"]], now)
    native_price = read_native_price(connection, now, blockchain)
    tokens = connection.execute(_NET_FLOW, parameters).fetchall()
    return Flows(now, blockchain, type, tokens, native_price)


def read_windows(
    connection: Connection, flows: Flows, token_ids: Sequence[int]
) -> dict[int, tuple[Any, ...]]:
    """Return these tokens by id, each with the values of COLUMNS."""
    parameters = {**_parameters(flows.now, flows.blockchain, flows.type), "token_ids": list(token_ids)}
    rows = connection.execute(_WINDOWS, parameters).fetchall()
    return {token_id: _token(list(of_token)) for token_id, of_token in groupby(rows, itemgetter("token_id"))}


def _parameters(now: datetime, blockchain: str, type: str) -> dict[str, Any]:
    first, second, third, fourth = (now - PERIOD_LENGTHS[window] for window in FLOW_PERIODS)
    older = cut_period(fourth, third)
    return {
        **group_parameters(blockchain, type),
        "now": now,
        "first_since": first,
        "second_since": second,
        "third_since": third,
        "fourth_since": fourth,
        "first_day": older["first_day"],
        "end_day": older["end_day"],
        "starts": [*older["starts"], third],
        "ends": [*older["ends"], now],
    }


def _token(rows: list[Row]) -> tuple[Any, ...]:
    flows = {row["place"]: row for row in rows}
    windows = (flows.get(place, _NONE) for place in range(1, len(FLOW_PERIODS) + 1))
    names = (rows[0][name] for name in _NAMES)
    return (*names, *(window[figure] for window in windows for figure in _FIGURES))
