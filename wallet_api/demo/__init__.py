"""A synthetic world to try the service with: wallets, trades, prices, and a stand-in provider."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from wallet_api.database import connect
from wallet_api.demo.world import Row, World, ndjson
from wallet_api.ledger.imports import import_prices, import_trades, import_wallets
from wallet_api.ledger.readers import Record, ndjson_records
from wallet_api.ledger.rows import BadRow, PriceRow, RowType, TradeRow, WalletRow

# Small enough that a progress bar moves; the merge of a batch costs little beside its rows.
_BATCH_ROWS = 20_000


@dataclass(frozen=True)
class Loaded:
    """How many rows of each kind a load brought in."""

    wallets: int
    prices: int
    trades: int


def _nothing(trades: int) -> None:
    """Where nobody watches."""


def load(database_url: str, world: World, progress: Callable[[int], None] = _nothing) -> Loaded:
    """Bring `world` into the ledger, as its files would; `progress` hears how many trades landed.

    Loading a world again changes nothing; the same world up to a later now moves the trades that are there.
    """
    with connect(database_url) as connection:
        wallets = import_wallets(connection, _records(world.wallet_rows(), WalletRow), _refuse)
    # Prices first, so that trades which come without USD find theirs.
    with connect(database_url) as connection:
        prices = import_prices(connection, _records(world.price_rows(), PriceRow), _refuse)
    with connect(database_url) as connection:
        rows = _records(world.trade_rows(), TradeRow)
        sizes = (min(world.trades - start, _BATCH_ROWS) for start in range(0, world.trades, _BATCH_ROWS))
        trades = import_trades(connection, rows, _refuse, lambda: progress(next(sizes)), _BATCH_ROWS)
    return Loaded(wallets.landed, prices.landed, trades.landed)


def _records(rows: Iterable[Row], row_type: type[RowType]) -> Iterator[Record[RowType]]:
    return ndjson_records(ndjson(rows), row_type)


def _refuse(number: int, line: bytes, fault: BadRow) -> None:
    # All rows are our own making, so a bad one is a mistake in here.
    raise fault
