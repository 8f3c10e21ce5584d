"""The ranked wallets of a group over a period."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from wallet_api.base.chains import ALL_TYPES
from wallet_api.base.orders import BOARD_SORTS, ORDERS
from wallet_api.database import Connection, Row, load_sql
from wallet_api.queries.board_charts import NO_STEPS, steps_of
from wallet_api.queries.groups import group_parameters
from wallet_api.queries.spans import TimeSpan
from wallet_api.queries.windows import cut_period

_LEADERBOARD = load_sql(__package__, "leaderboard")
_LEADERBOARD_ALL = load_sql(__package__, "leaderboard_all")
_READ_SINCE = load_sql(__package__, "read_since")

# The columns of BOARD_SORTS.
_FIGURES = [
    "period_win_rate_distribution_win_rate_percentage" if sort == "win_rate" else f"period_stats_{sort}"
    for sort in BOARD_SORTS
]

_PROFIT_FACTOR = BOARD_SORTS.index("profit_factor")

# A figure, or None if it is unknown, and the address.
SortKey = tuple[Decimal | None, str]


@dataclass(frozen=True, slots=True)
class Entry:
    """A wallet in a period: the figures to sort and filter by, as shown, and its row.

    `figures` are those of BOARD_SORTS; a profit factor without a loss is infinite.
    """

    row: Row
    figures: tuple[Decimal | None, ...]

    @property
    def wallet(self) -> str:
        """Return the address."""
        address: str = self.row["wallet"]
        return address

    def figure(self, name: str) -> Decimal | None:
        """Return one of the figures in BOARD_SORTS."""
        return self.figures[BOARD_SORTS.index(name)]

    def sort_key(self, sort: str) -> SortKey:
        """Return the figure and the address by which the entry is sorted."""
        return self.figure(sort), self.wallet


def ordering(key: SortKey, order: str = ORDERS[0]) -> tuple[bool, Decimal, str]:
    """Return a key that sorts figures in this order, unknown ones last, and ties by address."""
    figure, wallet = key
    if figure is None:
        return True, Decimal(0), wallet
    # Exact, unlike a minus sign, which rounds.
    return False, figure if order == "asc" else figure.copy_negate(), wallet


def rank_wallets(entries: Iterable[Entry], sort: str, order: str = ORDERS[0]) -> list[Entry]:
    """Return the entries by this figure, the largest or the smallest first, ties by address."""
    return sorted(entries, key=lambda entry: ordering(entry.sort_key(sort), order))


def read_entries(
    connection: Connection,
    now: datetime,
    given: Mapping[str, Any],
    span: TimeSpan,
    *,
    with_charts: bool = False,
) -> list[Entry]:
    """Return all wallets of a group that traded in a span, in any order; in dollars by the price at `now`.

    Those of all types have theirs in their profiles.
    """
    steps = steps_of(span) if with_charts else None
    parameters = {**group_parameters(given["blockchain"], given["type"]), "now": now}
    parameters |= steps.parameters(now) if steps else NO_STEPS
    since = "-infinity" if span.is_all else span.since
    # Of few wallets, so that no board is joined with them.
    partly = {
        row["address"]: {"history_since": row["history_since"]}
        for row in connection.execute(_READ_SINCE, parameters | {"since": since})
    }
    if span.is_all:
        rows = connection.execute(_LEADERBOARD_ALL, parameters)
    else:
        rows = connection.execute(_LEADERBOARD, parameters | cut_period(span.since, span.until))
    # Of wallets of one type it is that of the board.
    without = {} if given["type"] == ALL_TYPES else {"profile_type": None}
    return [
        Entry(
            row | without | (steps.chart(row) if steps else {}) | partly.get(row["wallet"], {}), _figures(row)
        )
        for row in rows
    ]


def _figures(row: Row) -> tuple[Decimal | None, ...]:
    figures = [row[name] for name in _FIGURES]
    if figures[_PROFIT_FACTOR] is None:
        figures[_PROFIT_FACTOR] = Decimal("Infinity")
    return tuple(figures)
