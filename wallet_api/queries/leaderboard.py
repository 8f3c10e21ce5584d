"""The ranked wallets of a group over a period."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

import orjson

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, Row, load_sql
from wallet_api.orders import BOARD_SORTS, ORDERS
from wallet_api.periods import ALL, PERIOD_LENGTHS
from wallet_api.queries.windows import cut_period

_LEADERBOARD = load_sql(__package__, "leaderboard")
_LEADERBOARD_ALL = load_sql(__package__, "leaderboard_all")

# A figure, or None if it is unknown, and the address.
SortKey = tuple[Decimal | None, str]


@dataclass(frozen=True, slots=True)
class Entry:
    """A wallet in a period: the figures to sort and filter by, as shown, and the rest as JSON.

    `figures` are those of BOARD_SORTS.
    """

    wallet: str
    figures: tuple[Decimal | None, ...]
    closed_count: int
    total_sell: Decimal
    rest: bytes

    def figure(self, name: str) -> Decimal | None:
        """Return one of the figures in BOARD_SORTS."""
        return self.figures[BOARD_SORTS.index(name)]

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


def _entry(row: Row) -> Entry:
    return Entry(
        wallet=row["address"],
        figures=tuple(row[sort] for sort in BOARD_SORTS),
        closed_count=int(row["closed_count"]),
        total_sell=row["total_sell"],
        # The JSON without its opening brace.
        rest=row["entry"].encode()[1:],
    )
