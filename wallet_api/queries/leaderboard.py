"""The ranked wallets of a group over a period."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import orjson

from wallet_api.boards import ALL, ORDERS, PERIOD_LENGTHS, SORTS
from wallet_api.chains import CHAINS
from wallet_api.database import Connection, Row, load_sql

_DAY = timedelta(days=1)

_LEADERBOARD = load_sql(__package__, "leaderboard")
_LEADERBOARD_ALL = load_sql(__package__, "leaderboard_all")

# A figure, or None if it is unknown, and the address.
SortKey = tuple[Decimal | None, str]


@dataclass(frozen=True, slots=True)
class Entry:
    """A wallet in a period: the figures to sort and filter by, as shown, and the rest as JSON.

    `figures` are those of SORTS.
    """

    wallet: str
    figures: tuple[Decimal | None, ...]
    closed_count: int
    total_sell: Decimal
    rest: bytes

    def figure(self, name: str) -> Decimal | None:
        """Return one of the figures in SORTS."""
        return self.figures[SORTS.index(name)]

    def sort_key(self, sort: str) -> SortKey:
        """Return the figure and the address by which the entry is sorted."""
        return self.figure(sort), self.wallet

    def json(self, rank: int) -> orjson.Fragment:
        """Return the entry with this rank."""
        return orjson.Fragment(b'{"wallet":%b,"rank":%d,%b' % (orjson.dumps(self.wallet), rank, self.rest))


def order_of(key: SortKey, order: str = ORDERS[0]) -> tuple[bool, Decimal, str]:
    """Return a key that sorts figures in this order, unknown ones last, and ties by address."""
    figure, wallet = key
    if figure is None:
        return True, Decimal(0), wallet
    # Exact, unlike a minus sign, which rounds.
    return False, figure if order == "asc" else figure.copy_negate(), wallet


def rank_wallets(entries: Iterable[Entry], sort: str, order: str = ORDERS[0]) -> list[Entry]:
    """Return the entries by this figure, the largest or the smallest first, ties by address."""
    return sorted(entries, key=lambda entry: order_of(entry.sort_key(sort), order))


def read_entries(
    connection: Connection, now: datetime, blockchain: str, type: str, period: str
) -> list[Entry]:
    """Return all wallets of a group that traded in (`now` - period, `now`], or ever, in any order."""
    parameters = {"blockchain": blockchain, "type": type, "currency": CHAINS[blockchain].currency, "now": now}
    if period == ALL:
        rows = connection.execute(_LEADERBOARD_ALL, parameters)
    else:
        rows = connection.execute(_LEADERBOARD, parameters | cut_period(now - PERIOD_LENGTHS[period], now))
    return [_entry(row) for row in rows]


def cut_period(since: datetime, now: datetime) -> dict[str, Any]:
    """Return the whole days in (`since`, `now`], `first_day` until `end_day`, and the spans beside them.

    `end_day` is the first day after them. A span is (start, end]; without a whole day, the period is one.
    """
    start = datetime.combine(since.astimezone(UTC), time(), UTC) + _DAY
    end = datetime.combine(now.astimezone(UTC), time(), UTC)
    if start >= end:
        return {"first_day": end.date(), "end_day": end.date(), "starts": [since], "ends": [now]}
    return {
        "first_day": start.date(),
        "end_day": end.date(),
        "starts": [since, end - datetime.resolution],
        "ends": [start - datetime.resolution, now],
    }


def _entry(row: Row) -> Entry:
    return Entry(
        wallet=row["address"],
        figures=tuple(row[sort] for sort in SORTS),
        closed_count=int(row["closed_count"]),
        total_sell=row["total_sell"],
        # The JSON without its opening brace.
        rest=row["entry"].encode()[1:],
    )
