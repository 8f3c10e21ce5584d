"""The ranked wallets of a group over a period."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

import orjson

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, Row, load_sql
from wallet_api.queries.spans import columns, cover

PERIOD_LENGTHS = {
    "6h": timedelta(hours=6),
    "1d": timedelta(days=1),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
}
BUCKET_SECONDS = (86_400,)

_LEADERBOARD = load_sql(__package__, "leaderboard")


# The figures that entries may be sorted by, the largest first.
SORTS = ("total_volume", "realized_pnl", "realized_pnl_usd", "win_rate", "total_txn")

# A figure, or None if it is unknown, and the address.
Place = tuple[Decimal | None, str]


@dataclass(frozen=True, slots=True)
class Entry:
    """A wallet in a period: the figures that it may be sorted by, as they are shown, and the rest as JSON."""

    wallet: str
    figures: tuple[Decimal | None, ...]
    total_txn: int
    rest: bytes

    def place(self, sort: str) -> Place:
        """Return what decides its place."""
        return self.figures[SORTS.index(sort)], self.wallet

    def json(self, rank: int) -> orjson.Fragment:
        """Return the entry with this rank."""
        return orjson.Fragment(b'{"wallet":%b,"rank":%d,%b' % (orjson.dumps(self.wallet), rank, self.rest))


def order_of(place: Place) -> tuple[bool, Decimal, str]:
    """Return a key that sorts the largest figures first, unknown ones last, and ties by address."""
    figure, wallet = place
    return (True, Decimal(0), wallet) if figure is None else (False, -figure, wallet)


def rank_wallets(entries: Iterable[Entry], sort: str) -> list[Entry]:
    """Return the entries, the largest of this figure first, ties by address."""
    return sorted(entries, key=lambda entry: order_of(entry.place(sort)))


def read_entries(
    connection: Connection, now: datetime, blockchain: str, type: str, period: str
) -> list[Entry]:
    """Return all wallets of a group that traded in (`now` - period, `now`], in any order."""
    spans = cover(now - PERIOD_LENGTHS[period], now, BUCKET_SECONDS)
    parameters = {"blockchain": blockchain, "type": type, "currency": CHAINS[blockchain].currency, "now": now}
    rows = connection.execute(_LEADERBOARD, parameters | columns(spans))
    return [_entry(row) for row in rows]


def _entry(row: Row) -> Entry:
    figures = tuple(row[sort] for sort in SORTS)
    # Without its opening brace.
    return Entry(row["address"], figures, int(row["total_txn"]), row["entry"].encode()[1:])
