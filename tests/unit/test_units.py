"""The systemd units: valid, and confined."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

CONFIG = Path(__file__).parent.parent.parent / "config"
UNITS = sorted(file for file in CONFIG.iterdir() if file.suffix in (".service", ".socket", ".timer"))

needs_systemd = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="needs systemd-analyze: apt-get install systemd"
)


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """All units, as on a machine that has the programs they start."""
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    for file in UNITS:
        name = file.name.replace("@.", "@trades.")
        (tmp_path / name).write_text(re.sub(r"/opt/wallet-api/\S+", str(program), file.read_text()))
    return tmp_path


@needs_systemd
def test_systemd_finds_no_fault_in_the_units(units: Path) -> None:
    names = [str(file) for file in units.iterdir() if file.suffix in (".service", ".socket", ".timer")]
    assert len(names) == 7
    checked = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *names], capture_output=True, text=True, check=False
    )
    ours = [line for line in checked.stderr.splitlines() if "wallet-api" in line]
    assert (checked.returncode, ours) == (0, [])


@needs_systemd
@pytest.mark.parametrize("name", ["wallet-api.service", "wallet-api-sync@trades.service"])
def test_systemd_rates_the_services_as_confined(units: Path, name: str) -> None:
    rated = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=20", str(units / name)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert rated.returncode == 0, rated.stdout[-2000:]


def test_the_socket_listens_where_nginx_calls() -> None:
    (address,) = re.findall(r"ListenStream=(\S+)", (CONFIG / "wallet-api.socket").read_text())
    assert f"server {address} " in (CONFIG / "nginx.conf").read_text()


@pytest.mark.parametrize("name", ["wallet-api.service", "wallet-api-sync@.service"])
def test_a_service_is_started_again_after_any_number_of_failed_starts(name: str) -> None:
    # systemd's own limit gives up after five starts in ten seconds, and gives up the socket with them.
    assert "\nStartLimitIntervalSec=0\n" in (CONFIG / name).read_text()
