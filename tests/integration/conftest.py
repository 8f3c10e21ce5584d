"""Empty databases, and an empty folder for servers."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from tests.lib.backups import Made, created
from tests.lib.folders import server_folder
from tests.lib.processes import processes_of
from wallet_api.settings import Settings


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
