"""One gunicorn with demo data, for the tests that change nothing of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.demo_service import DemoService
from tests.processes import Gunicorn, start_gunicorn


@pytest.fixture(scope="session")
def server(demo: DemoService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gunicorn]:
    """A running service with demo data."""
    log: Path = tmp_path_factory.mktemp("contract") / "gunicorn.log"
    server = start_gunicorn(demo.settings, log, workers=1, threads=4)
    yield server
    server.stop()
