"""A run of tests that is ended from outside."""

import os
import re
import secrets
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.lib.processes import Process, processes_of
from tests.lib.waiting import eventually

ROOT = Path(__file__).parents[2]
_FOLDER = re.compile(r"/\S*?/wallet-api-tests-\w+")
_MARK = "TESTS_OF_A_RUN"
# Each of them ends as a run without workers does.
WORKERS = 2
# Each test has a database, and a command that waits.
_TESTS = """
import time
import pytest
from tests.lib.processes import wallet_api

@pytest.mark.parametrize("number", range(2))
def test_that_waits(settings, number):
    with wallet_api("import", "wallets", "-", settings=settings, stdin=-1):
        time.sleep(300)
"""


# On a busy machine, a run takes a minute until its first test.
@pytest.mark.timeout(420)
def test_a_run_that_is_ended_by_sigterm_leaves_nothing_running(tmp_path: Path) -> None:
    mark, file = secrets.token_hex(8), tmp_path / "test_waiting.py"
    file.write_text(_TESTS)
    (tmp_path / "conftest.py").write_text("from tests.conftest import *\n")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-n",
        str(WORKERS),
        f"--rootdir={ROOT}",
        f"-c{ROOT}/setup.cfg",
        str(file),
    ]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    process: Process[str] = Process(
        command,
        cwd=ROOT,
        env=environment | {_MARK: mark, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    with process:
        assert eventually(lambda: _imports(mark) == WORKERS, 240), process.communicate()[0]
        servers = _servers(mark)
        assert {server.name() for server in servers} >= {"postgres", "valkey-server"}
        process.send_signal(signal.SIGTERM)
        output = process.communicate(timeout=90)[0]
    assert process.returncode not in (0, 1), output
    assert eventually(lambda: not _running(mark)), _running(mark)
    assert eventually(lambda: not any(server.is_running() for server in servers))


def _imports(mark: str) -> int:
    return _running(mark).count("import")


def _servers(mark: str) -> list[psutil.Process]:
    """Return the servers of this run, by their folders: those of PostgreSQL have no mark."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.environ().get(_MARK) == mark and process.name() == "valkey-server":
                (folder,) = set(_FOLDER.findall(f"{process.cwd()} {' '.join(process.cmdline())}"))
                found += processes_of(Path(folder))
    return found


def _running(mark: str) -> list[str]:
    """Return the programs of this run, and `import` for each command of a test."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.environ().get(_MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append("import" if "import" in process.cmdline() else process.name())
    return found
