"""A service with data: a small demo world in its ledger, the demo's provider, and a key."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from wallet_api import demo
from wallet_api.database import connect
from wallet_api.demo.provider import Portfolios, create_provider, serve
from wallet_api.demo.world import Row, World
from wallet_api.keys import create_key
from wallet_api.settings import Settings


@dataclass(frozen=True)
class DemoService:
    """The settings of the service, an unlimited key, and all wallets."""

    settings: Settings
    key: str
    wallets: list[Row]

    @property
    def headers(self) -> dict[str, str]:
        """The header with the key."""
        return {"Authorization": f"Bearer {self.key}"}

    def wallet(self, blockchain: str, type: str) -> str:
        """Return the address of a wallet of this group."""
        return next(
            str(row["wallet_address"])
            for row in self.wallets
            if (row["blockchain"], row["type"]) == (blockchain, type)
        )


@contextmanager
def running_provider(portfolios: Portfolios, page_size: int = 100) -> Iterator[str]:
    """Run the demo's provider in this block, and yield its URL."""
    server = serve(create_provider(portfolios, page_size))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def demo_service(settings: Settings, age: timedelta = timedelta(0)) -> Iterator[DemoService]:
    """Load a demo world into the database of `settings`, and run its provider in this block.

    Its last trades are of the time `age` ago.
    """
    world = World(datetime.now(UTC) - age, wallets=24, trades=2_000, days=4)
    demo.load(str(settings.database_url), world)
    with connect(str(settings.database_url)) as connection:
        key = create_key(connection, "demo service", rate="100000/second")
    with running_provider(world.portfolio) as url:
        yield DemoService(with_provider(settings, url), key, list(world.wallet_rows()))


def with_provider(settings: Settings, url: str) -> Settings:
    """Return the settings with the demo's provider, and time to wait for it."""
    return replace(
        settings,
        moralis_api_key="demo",
        moralis_evm_url=f"{url}/api/v2.2",
        moralis_solana_url=url,
        holdings_wait_seconds=10.0,
    )
