"""The import of the demo: all of a world, or what is new in it."""

import threading
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from itertools import count

from wallet_api.base.chains import CHAINS
from wallet_api.base.errors import CommandError
from wallet_api.base.forms import BadRow
from wallet_api.chain.sync.faces import read_chain
from wallet_api.chain.sync.summaries import TokensSummary
from wallet_api.database import connect
from wallet_api.ledger.files.lines import Record
from wallet_api.ledger.files.rows import RowType
from wallet_api.ledger.imports import TradeOptions, import_prices, import_trades, import_wallets
from wallet_api.operate.demo import has_own, newest_trade
from wallet_api.operate.demo.tokens import demo_faces
from wallet_api.operate.demo.world import World

# Receives how many trades are imported, and of how many.
Progress = Callable[[int, int], None]

# A batch of this size is one transaction, so an interrupted import has all trades up to its newest.
_BATCH_ROWS = 10_000


def load_demo(
    database_url: str,
    world: World,
    progress: Progress = lambda done, of: None,
    after: datetime | None = None,
) -> dict[str, int]:
    """Import `world`, or its rows after `after`, and return the numbers of wallets, prices and trades.

    `progress` is called after each batch of trades. Importing a world again changes nothing. Raises
    CommandError for a database with wallets or prices that are not the demo's.
    """
    done = count(_BATCH_ROWS, _BATCH_ROWS)

    def show() -> None:
        progress(min(next(done), world.trades), world.trades)

    with connect(database_url) as connection:
        if has_own(connection):
            raise CommandError(
                "The database has data of yours, and demo data would mix with it. Set WALLET_API_HOME to a "
                "new folder, or DATABASE_URL to an empty database."
            )
        wallets = import_wallets(connection, _records(world.wallet_rows()), _raise)
        # Before the trades, so that those without a USD value get one.
        prices = import_prices(connection, _records(world.price_rows(after)), _raise)
        options = TradeOptions(progress=show, batch_rows=_BATCH_ROWS)
        trades = import_trades(connection, _records(world.trade_rows(after)), _raise, options)
        for chain in CHAINS.values():
            faces = partial(demo_faces, chain)
            read_chain(connection, chain.name, faces, TokensSummary(), threading.Event())
    return {"wallets": wallets.landed, "prices": prices.landed, "trades": trades.landed}


def keep_current(database_url: str, progress: Progress = lambda done, of: None) -> None:
    """Import the default world up to now: all of it into an empty database, else what is new in it.

    Own data, and a world of other options, are left as they are.
    """
    world = World(datetime.now(UTC))
    expected = {(row.blockchain, row.wallet_address) for row in world.wallet_rows()}
    with connect(database_url) as connection:
        if has_own(connection):
            return
        rows = connection.execute("SELECT blockchain, address FROM wallets")
        tracked = {(row["blockchain"], row["address"]) for row in rows}
        newest = newest_trade(connection)
    if not tracked or tracked == expected:
        load_demo(database_url, world, progress, newest)


def _records(rows: Iterable[RowType]) -> Iterator[Record[RowType]]:
    return ((number, b"", row) for number, row in enumerate(rows, 1))


def _raise(number: int, line: bytes, fault: BadRow) -> None:
    # A rejected row of the generator is a bug.
    raise fault
