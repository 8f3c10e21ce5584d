"""Synthetic data to try the service with: wallets, trades, prices, and a provider of balances."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count

from wallet_api.database import connect
from wallet_api.demo.continuation import Continuation
from wallet_api.demo.world import Row, World, ndjson
from wallet_api.ledger.fields import BadRow
from wallet_api.ledger.imports import import_prices, import_trades, import_wallets
from wallet_api.ledger.lines import Record
from wallet_api.ledger.readers import ndjson_records
from wallet_api.ledger.rows import PriceRow, RowType, TradeRow, WalletRow

# Receives how many trades are imported, and of how many.
Progress = Callable[[int, int], None]

# Small enough for a progress bar to move smoothly.
_BATCH_ROWS = 20_000


@dataclass(frozen=True)
class Loaded:
    """The numbers of imported rows."""

    wallets: int
    prices: int
    trades: int


def load(database_url: str, world: World, progress: Progress = lambda done, of: None) -> Loaded:
    """Import `world` into the ledger; `progress` is called after each batch of trades.

    Importing a world again changes nothing; the same world with a later end moves its trades.
    """
    with connect(database_url) as connection:
        wallets = import_wallets(connection, _records(world.wallet_rows(), WalletRow), _refuse)
    # Prices first, so that the import can value trades without a USD value.
    with connect(database_url) as connection:
        prices = import_prices(connection, _records(world.price_rows(), PriceRow), _refuse)
    with connect(database_url) as connection:
        rows = _records(world.trade_rows(), TradeRow)
        done = count(_BATCH_ROWS, _BATCH_ROWS)

        def progressed() -> None:
            progress(min(next(done), world.trades), world.trades)

        trades = import_trades(connection, rows, _refuse, progressed, _BATCH_ROWS)
    return Loaded(wallets.landed, prices.landed, trades.landed)


def append(
    database_url: str, continuation: Continuation, after: datetime, until: datetime, trades: Sequence[Row]
) -> None:
    """Import `trades` of a continuation, and its prices with after < priced_at <= until.

    Importing them again changes nothing.
    """
    with connect(database_url) as connection:
        import_prices(connection, _records(continuation.price_rows(after, until), PriceRow), _refuse)
    with connect(database_url) as connection:
        import_trades(connection, _records(trades, TradeRow), _refuse)


def _records(rows: Iterable[Row], row_type: type[RowType]) -> Iterator[Record[RowType]]:
    return ndjson_records(ndjson(rows), row_type)


def _refuse(number: int, line: bytes, fault: BadRow) -> None:
    # A rejected row of the generator is a bug.
    raise fault
