"""Empty databases, an empty folder for servers, and imports by the command."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from tests.ledger.command import WALLETS, Outcome, run_file
from tests.ledger.in_process import Row
from tests.ledger.rows import written
from tests.lib.backups import Made, created
from tests.lib.folders import server_folder
from tests.lib.processes import processes_of
from wallet_api.api.keys import create_key
from wallet_api.database import Connection
from wallet_api.settings import Settings

TakeIn = Callable[..., Outcome]


@pytest.fixture
def take_in(database_url: str, tmp_path: Path) -> TakeIn:
    """Imports rows with the command: `take_in("trades", *rows, name="trades.csv")`."""

    def take(
        kind: str, *rows: Row | bytes, name: str = "file.ndjson", options: tuple[str, ...] = ()
    ) -> Outcome:
        return run_file(database_url, "import", kind, written(tmp_path / name, *rows), *options)

    return take


@pytest.fixture
def tracked(take_in: TakeIn) -> None:
    """A ledger that tracks the two wallets of `tests/ledger/command.py`."""
    assert take_in("wallets", *WALLETS).status == 0


@pytest.fixture
def key(connection: Connection) -> str:
    """The key of a caller without limits."""
    return create_key(connection, "caller", rate="1000000/second")


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """A folder for the servers of all tests of a module, so that its tables are created once."""
    with server_folder() as folder:
        Path(folder).chmod(0o711)
        yield Path(folder) / "home"
        assert processes_of(Path(folder)) == []


@pytest.fixture
def make() -> Iterator[Made]:
    """Makes empty databases on a server, and drops them after the test."""
    with ExitStack() as stack:
        yield lambda server: stack.enter_context(created(server))


@pytest.fixture
def target(make: Made, servers: Settings) -> str:
    """The address of an empty database."""
    return make(str(servers.database_url))


@pytest.fixture
def empty_home() -> Iterator[Path]:
    """A folder for servers, in which none is left running."""
    with server_folder() as folder:
        Path(folder).chmod(0o711)
        yield Path(folder) / "home"
        left = processes_of(Path(folder))
        for process in left:
            process.kill()
        psutil.wait_procs(left)
    assert left == []
