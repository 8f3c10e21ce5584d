"""A service with data: a small demo world in its ledger, the demo's provider, and a key."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from tests.lib.settings import changed
from wallet_api.api.keys import create_key
from wallet_api.database import connect
from wallet_api.operate.demo import provider
from wallet_api.operate.demo.loading import load_demo
from wallet_api.operate.demo.world import World
from wallet_api.settings import Settings


@dataclass(frozen=True)
class DemoService:
    """The settings of the service, an unlimited key, its world, and all wallets."""

    settings: Settings
    key: str
    world: World
    wallets: list[dict[str, Any]]

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

    @property
    def arguments(self) -> dict[str, str]:
        """A wallet, its group, a token that it traded, and a period."""
        group = {"blockchain": "solana", "type": "kol"}
        address = self.wallet(**group)
        mint = next(row.mint for row in self.world.trade_rows() if row.wallet_address == address)
        return group | {"address": address, "mint": mint, "period": "7d"}


@contextmanager
def demo_service(settings: Settings, age: timedelta = timedelta(0), **size: int) -> Iterator[DemoService]:
    """Load a demo world of a size into the database of `settings`, and run its provider in this block.

    Its last trades are of the time `age` ago.
    """
    url = str(settings.database_url)
    world = World(datetime.now(UTC) - age, **({"wallets": 24, "trades": 4_000, "days": 1} | size))
    load_demo(url, world)
    with connect(url) as connection:
        key = create_key(connection, "demo service", rate="100000/second")
    with provider.serving_balances(url) as stand_in:
        changes = {name.lower(): value for name, value in stand_in.items()}
        own = changed(settings, **changes, holdings_wait_seconds=10.0)
        yield DemoService(own, key, world, msgspec.to_builtins(world.wallet_rows()))
