"""Webhooks: a receiver, the ledger, and what sends from the one to the other."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.ledger.in_process import Importer
from tests.ledger.rows import WALLETS
from tests.lib.receiver import Receiver, receiving
from tests.notify.webhooks import Webhooks
from wallet_api.database import Connection
from wallet_api.settings import Settings


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver of webhooks."""
    with receiving() as running:
        yield running


@pytest.fixture
def webhooks(
    settings: Settings, connection: Connection, receiver: Receiver, tmp_path: Path
) -> Iterator[Webhooks]:
    """Webhooks about a ledger with the wallets to the receiver, which are not sent yet."""
    importer = Importer(str(settings.database_url))
    importer.wallets(WALLETS)
    with ExitStack() as running:
        yield Webhooks(settings, tmp_path / "rules.toml", connection, importer, receiver, running)
