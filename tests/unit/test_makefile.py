"""What stops `make run` says what to type next."""

import re
import shutil
from pathlib import Path

import pytest

from tests.lib.processes import run_program

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What `make run` needs of the checkout to install."""
    (tmp_path / "config").mkdir()
    for name in ("Makefile", "setup.py", "setup.cfg", "config/requirements.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def _make(checkout: Path, python: str | Path) -> str:
    command = ("make", "run", f"PYTHON={python}")
    done = run_program(command, cwd=checkout, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    return done.stdout


def _program(file: Path, script: str) -> Path:
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return file


def test_an_old_python_and_none_at_all_name_a_newer_one(checkout: Path) -> None:
    for python in (_program(checkout / "old-python", "exit 1"), "no-such-python"):
        output = _make(checkout, python)
        assert re.search(
            r"^Python 3\.11 or newer is needed\. Type: make run PYTHON=\S*python3\.1\d$", output, re.M
        )
    assert not (checkout / ".venv").exists()


def test_without_a_network_the_way_by_another_machine_is_shown(checkout: Path) -> None:
    # Its environment has a pip that installs nothing.
    failing = _program(checkout / "failing", "echo pip: no network >&2; exit 1")
    made = f'[ "$2" != venv ] || {{ mkdir -p .venv/bin && cp {failing} .venv/bin/python; }}'
    output = _make(checkout, _program(checkout / "new-python", made))
    download, again = [line.strip() for line in output.splitlines() if line.startswith("  ")]
    assert download == "python3 -m pip download --dest wheels --requirement config/requirements.txt"
    assert again == "PIP_NO_INDEX=1 PIP_FIND_LINKS=wheels make run"
    assert not (checkout / ".venv" / ".service").exists()
