"""The ranked wallets of a group over a period."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import orjson

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, Row, load_sql

PERIOD_LENGTHS = {
    "6h": timedelta(hours=6),
    "1d": timedelta(days=1),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
}
_DAY = timedelta(days=1)

_LEADERBOARD = load_sql(__package__, "leaderboard")


# The figures that entries may be sorted by, the largest first.
SORTS = ("total_volume", "realized_pnl", "realized_pnl_usd", "win_rate", "total_txn")

# A figure, or None if it is unknown, and the address.
SortKey = tuple[Decimal | None, str]


@dataclass(frozen=True, slots=True)
class Entry:
    """A wallet in a period: the figures to sort by, rounded as in the response, and the rest as JSON."""

    wallet: str
    figures: tuple[Decimal | None, ...]
    total_txn: int
    rest: bytes

    def sort_key(self, sort: str) -> SortKey:
        """Return the figure and the address by which the entry is sorted."""
        return self.figures[SORTS.index(sort)], self.wallet

    def json(self, rank: int) -> orjson.Fragment:
        """Return the entry with this rank."""
        return orjson.Fragment(b'{"wallet":%b,"rank":%d,%b' % (orjson.dumps(self.wallet), rank, self.rest))


def order_of(key: SortKey) -> tuple[bool, Decimal, str]:
    """Return a key that sorts the largest figures first, unknown ones last, and ties by address."""
    figure, wallet = key
    return (True, Decimal(0), wallet) if figure is None else (False, -figure, wallet)


def rank_wallets(entries: Iterable[Entry], sort: str) -> list[Entry]:
    """Return the entries, the largest of this figure first, ties by address."""
    return sorted(entries, key=lambda entry: order_of(entry.sort_key(sort)))


def read_entries(
    connection: Connection, now: datetime, blockchain: str, type: str, period: str
) -> list[Entry]:
    """Return all wallets of a group that traded in (`now` - period, `now`], in any order."""
    parameters = {"blockchain": blockchain, "type": type, "currency": CHAINS[blockchain].currency, "now": now}
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
    figures = tuple(row[sort] for sort in SORTS)
    # The JSON without its opening brace.
    return Entry(row["address"], figures, int(row["total_txn"]), row["entry"].encode()[1:])
