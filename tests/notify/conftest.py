"""Webhooks: a receiver, the ledger, and `wallet-api notify`."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.ledger.in_process import Importer
from tests.ledger.rows import WALLETS
from tests.lib.processes import Process, wallet_api
from tests.lib.receiver import Receiver, receiving
from tests.lib.waiting import eventually
from tests.notify.rules import Start
from wallet_api.database import Connection
from wallet_api.settings import Settings


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver of webhooks."""
    with receiving() as running:
        yield running


@pytest.fixture
def importer(database_url: str) -> Importer:
    """Imports into the database of this test, which has the wallets."""
    own = Importer(database_url)
    own.wallets(WALLETS)
    return own


@pytest.fixture
def start(settings: Settings, connection: Connection, tmp_path: Path) -> Iterator[Start]:
    """Write rules, start `notify` and wait until it follows from a place in the feed."""
    with ExitStack() as stack:

        def run(rules: str) -> Process[str]:
            file = tmp_path / "rules.toml"
            file.write_text(rules)
            process = wallet_api("notify", "--rules", str(file), "--allow-private", settings=settings)
            stack.callback(process.communicate)
            stack.callback(process.kill)
            assert process.stdout is not None
            for line in process.stdout:
                if "targets" in line:
                    break
            assert eventually(lambda: connection.execute("SELECT FROM notify_place").rowcount == 1)
            return process

        yield run
