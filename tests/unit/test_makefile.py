"""What stops `make run` says what to type next."""

import os
import re
import shutil
import sys
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


def _make(checkout: Path, *arguments: str, **environment: str) -> str:
    command = ("make", "run", *arguments)
    done = run_program(
        command, cwd=checkout, env=os.environ | environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 2
    return done.stdout


def test_an_old_python_and_none_at_all_name_a_newer_one(checkout: Path) -> None:
    old = checkout / "old-python"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    for python in (str(old), "no-such-python"):
        output = _make(checkout, f"PYTHON={python}")
        assert re.search(
            r"^Python 3\.11 or newer is needed\. Type: make run PYTHON=\S*python3\.1\d$", output, re.M
        )
    assert not (checkout / ".venv").exists()


def test_without_a_network_the_way_by_another_machine_is_shown(checkout: Path) -> None:
    output = _make(checkout, f"PYTHON={sys.executable}", PIP_NO_INDEX="1", PIP_FIND_LINKS=str(checkout))
    download, again = [line.strip() for line in output.splitlines() if line.startswith("  ")]
    assert download == "python3 -m pip download --dest wheels --requirement config/requirements.txt"
    assert again == "PIP_NO_INDEX=1 PIP_FIND_LINKS=wheels make run"
    assert not (checkout / ".venv" / ".service").exists()
