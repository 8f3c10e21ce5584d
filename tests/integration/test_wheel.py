"""`make dist`: its wheel, installed into a fresh environment, runs the service without a checkout."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.lib.network import free_port
from tests.lib.processes import Process, environment_of, run_program
from tests.lib.waiting import eventually
from wallet_api import __version__
from wallet_api.settings import Settings

ROOT = Path(__file__).parents[2]
WHEEL = f"wallet_api-{__version__}-py3-none-any.whl"
SOURCE = f"wallet_api-{__version__}.tar.gz"
ONLY_IN_THE_CHECKOUT = {"audit.sh", "lock.sh", "requirements-dev.txt"}
_CACHES = shutil.ignore_patterns("__pycache__")


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `make dist` writes, in a copy of the checkout."""
    copy = tmp_path_factory.mktemp("checkout")
    for name in ("config", "docs", "tests", "wallet_api"):
        shutil.copytree(ROOT / name, copy / name, ignore=_CACHES)
    for file in ROOT.iterdir():
        if file.is_file():
            shutil.copy2(file, copy)
    command = ("make", "dist", f"VENV={sys.prefix}", f"--old-file={sys.prefix}/.service")
    run_program(command, cwd=copy, check=True, capture_output=True, timeout=240)
    return copy / "dist"


@pytest.fixture(scope="module")
def installed(dist: Path) -> Iterator[Path]:
    """The programs of a fresh environment with the wheel, and with the libraries of this one."""
    # Not below pytest's folder, which the user of root's servers cannot reach.
    with tempfile.TemporaryDirectory(prefix="wallet-api-tests-") as folder:
        Path(folder).chmod(0o755)
        fresh = Path(folder) / "venv"
        venv.create(fresh, symlinks=True)
        variables = {"base": str(fresh), "platbase": str(fresh)}
        libraries = Path(sysconfig.get_path("purelib", "venv", variables))
        # A line of a .pth file adds a folder, but not what .pth files there add: the checkout.
        (libraries / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
        pip = (sys.executable, "-m", "pip", "--python", str(fresh / "bin" / "python"), "--quiet", "install")
        run_program([*pip, "--no-index", "--no-deps", str(dist / WHEEL)], check=True, timeout=120)
        yield fresh / "bin"


def _files(folder: Path) -> set[str]:
    """Return the paths of the files below a folder, relative to it."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.parent.name != "__pycache__")
    return {path.relative_to(folder).as_posix() for path in files}


def test_the_wheel_has_every_file_of_the_package_and_for_operators(dist: Path) -> None:
    with zipfile.ZipFile(dist / WHEEL) as archive:
        packed = {name for name in archive.namelist() if name.startswith("wallet_api/")}
    config = _files(ROOT / "config") - ONLY_IN_THE_CHECKOUT
    assert packed == {f"wallet_api/{name}" for name in _files(ROOT / "wallet_api")} | {
        f"wallet_api/config/{name}" for name in config
    }


def test_the_source_archive_has_all_that_tests_and_readers_need(dist: Path) -> None:
    with tarfile.open(dist / SOURCE) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    for folder in ("config", "docs", "tests", "wallet_api"):
        assert {f"{folder}/{name}" for name in _files(ROOT / folder)} <= packed
    assert {"Makefile", "README.md", "CHANGELOG.md", "LICENSE", "SECURITY.md", "wsgi.py"} <= packed
    locked = (ROOT / "config" / "requirements.txt").read_text().splitlines()
    versions = [line.removesuffix(" \\") for line in locked if not line.startswith("    --hash=")]
    assert (dist / "requirements.txt").read_text().splitlines() == versions


def test_the_installed_commands_print_and_write_the_files_of_config(installed: Path, tmp_path: Path) -> None:
    def config(*arguments: str) -> str:
        command = [installed / "wallet-api", "config", *arguments]
        return run_program(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    lines = config().splitlines()
    listed = {file for line in lines if ": " in line for file in line.rpartition(": ")[2].split(", ")}
    assert listed == _files(ROOT / "config") - ONLY_IN_THE_CHECKOUT - {"__init__.py"}
    assert config("nginx") == (ROOT / "config" / "nginx.conf").read_text()
    # The interpreter of these tests may be one that other users cannot run.
    units = config("systemd", "--no-check")
    assert f"\n# wallet-api.socket\n{(ROOT / 'config' / 'wallet-api.socket').read_text()}" in units
    config("--no-check", "--to", "all")
    assert _files(tmp_path / "all") == listed
    for name in listed:
        assert (tmp_path / "all" / name).read_bytes() == (ROOT / "config" / name).read_bytes()
    assert os.access(tmp_path / "all" / "smoke.sh", os.X_OK)
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "example.env").write_text("old")
    assert config("env", "--to", "one") == "one/example.env\n"
    assert (tmp_path / "one" / "example.env").read_text().startswith("# All settings")


def test_up_in_an_empty_folder_runs_the_installed_service(installed: Path) -> None:
    folder, port = installed.parents[1] / "empty", free_port()
    folder.mkdir()
    process: Process[str] = Process(
        [installed / "wallet-api", "up", "--no-demo", "--port", str(port)],
        cwd=folder,
        env=environment_of(Settings(web_concurrency=1)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    url = f"http://127.0.0.1:{port}"

    def is_ready() -> bool:
        assert process.poll() is None, process.communicate()[0]
        try:
            return requests.get(f"{url}/readyz", timeout=60).ok
        except requests.ConnectionError:
            return False

    try:
        assert eventually(is_ready)
        paths = ("/", "/page/page.js", "/docs", "/v1/openapi.json")
        assert [requests.get(url + path, timeout=60).status_code for path in paths] == [200] * len(paths)
        assert (folder / "var" / "postgres" / "PG_VERSION").exists()
    finally:
        process.terminate()
        output = process.communicate(timeout=60)[0]
    assert process.returncode == 0, output
