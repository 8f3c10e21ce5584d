"""The files of config/ for systemd and containers name only what exists."""

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from tests.lib.processes import run_program
from wallet_api.operate.cli import cli
from wallet_api.settings import Settings

ROOT = Path(__file__).parent.parent.parent
CONFIG = ROOT / "config"
CONTAINERFILE = re.sub(r"\\\n\s*", "", (CONFIG / "Containerfile").read_text())
SERVICES: dict[str, Any] = yaml.safe_load((CONFIG / "compose.yaml").read_text())["services"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd: apt-get install systemd")
def test_systemd_finds_the_units_valid_and_the_services_confined(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    for file in CONFIG.iterdir():
        if file.suffix in (".service", ".socket", ".timer"):
            unit = tmp_path / file.name.replace("@.", "@trades.")
            unit.write_text(re.sub(r"/opt/wallet-api/\S+", str(program), file.read_text()))
    units = [str(file) for file in tmp_path.glob("*.*")]
    assert len(units) == 8
    checked = run_program(
        ["systemd-analyze", "verify", "--man=no", *units], capture_output=True, text=True, check=False
    )
    assert [line for line in checked.stderr.splitlines() if "wallet-api" in line] == []
    assert checked.returncode == 0
    for name in ("wallet-api.service", "wallet-api-sync@trades.service"):
        # systemd's own limit gives up after five failed starts in ten seconds, and closes the socket with it.
        assert "\nStartLimitIntervalSec=0\n" in (tmp_path / name).read_text()
        rating = ["systemd-analyze", "security", "--offline=true", "--threshold=20", str(tmp_path / name)]
        rated = run_program(rating, capture_output=True, text=True, check=False)
        assert rated.returncode == 0, rated.stdout[-2000:]


def test_nginx_reaches_the_socket_of_systemd_and_the_default_of_gunicorn() -> None:
    (address,) = re.findall(r"ListenStream=(\S+)", (CONFIG / "wallet-api.socket").read_text())
    assert address == "127.0.0.1:8000"
    assert f"server {address} " in (CONFIG / "nginx.conf").read_text()


def test_the_image_copies_what_make_dist_writes() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", CONTAINERFILE, re.MULTILINE)
    assert copied == ["dist"]
    assert (ROOT / ".dockerignore").read_text().split() == ["**", "!dist"]


def test_files_commands_and_settings_of_the_containers_exist() -> None:
    for name, service in SERVICES.items():
        assert set(service.get("depends_on", ())) <= set(SERVICES)
        for mount in service.get("volumes", ()):
            assert not mount.startswith("./") or (CONFIG / mount.split(":")[0]).exists(), mount
        if service["image"] != "wallet-api":
            continue
        assert set(service["environment"]) <= set(Settings.variables()), name
        program, *arguments = service["command"]
        if program == "gunicorn":
            kind, _, module = arguments[arguments.index("--config") + 1].partition(":")
            assert (kind, bool(find_spec(module))) == ("python", True)
            continue
        assert program == "wallet-api"
        parsed(arguments)


@pytest.mark.parametrize(("job", "follows"), [("trades", True), ("prices", False), ("tokens", False)])
def test_each_sync_repeats_and_trades_are_followed(job: str, follows: bool) -> None:
    unit = (CONFIG / "wallet-api-sync@.service").read_text()
    (words,) = re.findall(r"^ExecStart=\S+/wallet-api (.+)$", unit, re.MULTILINE)
    options = dict(re.findall(r'"(SYNC_\w+)=([^"]+)"', unit))
    expanded = re.sub(r"\$(\w+)", lambda name: options[name[1]], words.replace("%i", job))
    assert parsed(expanded.split())["wait"]
    assert ("--follow" in expanded, "--every" in expanded) == (follows, not follows)
    service = SERVICES.get(f"sync-{job}")
    assert service is None or ("--follow" in service["command"]) is follows


def parsed(arguments: list[str]) -> dict[str, Any]:
    """Return the parameters of a command of wallet-api."""
    command: click.Command = cli
    context = click.Context(cli)
    while isinstance(command, click.Group) and not arguments[0].startswith("-"):
        found = command.get_command(context, arguments.pop(0))
        assert found is not None
        command = found
    return command.make_context(command.name, arguments).params


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who installs for another user")
def test_an_interpreter_that_the_user_of_the_service_cannot_enter_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    closed = tmp_path / "python3"
    shutil.copy(Path(sys.executable).resolve(), closed)
    refused = _run(closed, "config", "systemd")
    assert refused.returncode != 0
    assert f"The units cannot run {closed}: their user cannot enter " in refused.stderr
    assert "/usr/bin/python3 -m venv /opt/wallet-api/.venv" in refused.stderr
    listed = _run(closed, "config")
    assert listed.returncode == 0, listed.stderr


def _run(interpreter: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run a command of wallet-api with an interpreter that is not in an environment."""
    path = os.pathsep.join([str(ROOT), *(entry for entry in sys.path if entry.endswith("site-packages"))])
    return run_program(
        [interpreter, "-m", "wallet_api", *arguments],
        env={"PYTHONPATH": path},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
