"""config/smoke.sh against a real service: silent when all is well, else one line a fault, no key shown."""

import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.lib.demo_service import DemoService, demo_service
from tests.lib.processes import Gunicorn, run_program
from tests.lib.serving import served
from wallet_api.database import connect
from wallet_api.settings import Settings

SCRIPT = Path(__file__).parent.parent.parent / "config" / "smoke.sh"
# All that the script runs besides the shell: the tools that POSIX has, and curl.
TOOLS = ("awk", "cat", "curl", "grep", "head", "mktemp", "rm", "sleep", "sort")


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder with these tools alone, each of which writes down how it was called."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in TOOLS:
        tool = folder / name
        tool.write_text(f'#!/bin/sh\necho "$0 $*" >>{tmp_path}/calls\nexec {shutil.which(name)} "$@"\n')
        tool.chmod(0o755)
    return folder


def _smoke(url: str, key: str | None, **environment: str) -> tuple[int, list[str]]:
    own = {"PATH": os.environ["PATH"], "WALLET_API_URL": url} | environment
    if key is not None:
        own["WALLET_API_KEY"] = key
    run = run_program(["/bin/sh", str(SCRIPT)], env=own, capture_output=True, text=True, check=False)
    assert run.stderr == ""
    return run.returncode, run.stdout.splitlines()


def test_a_healthy_service_gets_silence_and_no_tool_is_shown_the_key(
    server: Gunicorn, demo: DemoService, tools: Path, tmp_path: Path
) -> None:
    key_file = tmp_path / "key"
    key_file.write_text(demo.key)
    own = {"PATH": str(tools), "WALLET_API_KEY_FILE": str(key_file)}
    assert _smoke(f"{server.url}/", None, **own) == (0, [])
    calls = (tmp_path / "calls").read_text()
    assert calls.count("/curl ") >= 25
    assert demo.key not in calls


def test_every_operation_is_checked(client: FlaskClient) -> None:
    paths = client.get("/v1/openapi.json").json["paths"]
    of_keys = {path for path, item in paths.items() if item["get"]["security"]}
    assert len(of_keys) > 14
    script = SCRIPT.read_text()
    assert {path for path in of_keys if not re.search(rf"{path}[? ]", script)} == set()


def test_each_fault_is_one_line_without_the_key(
    make_app: Callable[[Settings], Flask], demo: DemoService
) -> None:
    # Without cached responses.
    app = make_app(replace(demo.settings, answer_ttl_seconds=0.0, leaderboard_ttl_seconds=0.0))
    turned = b"UPDATE volume_rollup SET volume = -volume;"
    with connect(str(demo.settings.database_url)) as connection, served(app) as url:
        connection.execute(turned + b"ALTER TABLE token_prices RENAME TO gone")
        try:
            status, lines = _smoke(url, demo.key)
        finally:
            connection.execute(turned + b"ALTER TABLE gone RENAME TO token_prices")
    assert status == 1
    for line in ("volume: an hour has more than its day", "stats: status 500"):
        assert [each for each in lines if each.startswith(line)], lines
    assert demo.key not in "".join(lines)


def test_old_data_and_a_missing_provider_are_faults_unless_that_is_said(
    make_app: Callable[[Settings], Flask], settings: Settings
) -> None:
    with (
        demo_service(settings, age=timedelta(days=3)) as service,
        served(make_app(replace(service.settings, alchemy_api_key=None))) as url,
    ):
        status, lines = _smoke(url, service.key)
        assert (status, [line.partition(":")[0] for line in lines]) == (1, ["holdings", "health", "age"])
        assert lines[2] == "age: no trade of solana kol in the last 86400 seconds (0 > 0)"
        expected = {"SMOKE_HOLDINGS": "no", "SMOKE_MAX_AGE_SECONDS": "0"}
        assert _smoke(url, service.key, **expected) == (0, [])


def test_a_key_that_does_not_work_and_a_service_that_is_away_are_faults(server: Gunicorn) -> None:
    status, lines = _smoke(server.url, "nobody's")
    assert status == 1
    assert any("status 403" in line and "not valid" in line and "(req_" in line for line in lines)
    assert _smoke("http://127.0.0.1:9", None) == (1, ["key: set WALLET_API_KEY or WALLET_API_KEY_FILE"])
    status, lines = _smoke("http://127.0.0.1:9", "any")
    assert (status, [line.partition(":")[0] for line in lines]) == (1, ["readyz", "healthz"])
