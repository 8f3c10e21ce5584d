"""A synthetic world to try the service with: wallets, trades, prices, and a stand-in provider."""

from collections.abc import Callable
from dataclasses import dataclass

from wallet_api.database import Connection
from wallet_api.demo.world import World, ndjson
from wallet_api.ledger.imports import import_prices, import_trades, import_wallets
from wallet_api.ledger.readers import ndjson_records
from wallet_api.ledger.rows import BadRow, PriceRow, TradeRow, WalletRow

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


def load(connection: Connection, world: World, progress: Callable[[int], None] = _nothing) -> Loaded:
    """Bring `world` into the ledger, as its files would; `progress` hears how many trades landed.

    Loading a world again changes nothing; the same world up to a later now moves the trades that are there.
    """
    wallets = import_wallets(connection, ndjson_records(ndjson(world.wallet_rows()), WalletRow), _refuse)
    # Prices first, so that trades which come without USD find theirs.
    prices = import_prices(connection, ndjson_records(ndjson(world.price_rows()), PriceRow), _refuse)
    trades = import_trades(
        connection,
        ndjson_records(ndjson(world.trade_rows()), TradeRow),
        _refuse,
        lambda: progress(_BATCH_ROWS),
        _BATCH_ROWS,
    )
    return Loaded(wallets.landed, prices.landed, trades.landed)


def _refuse(number: int, line: bytes, fault: BadRow) -> None:
    # All rows are our own making, so a bad one is a mistake in here.
    raise fault
