"""The logs of a real gunicorn: whole lines, each with its request id, none forged, without keys."""

import json
import re
from dataclasses import replace

import pytest
import requests

from tests.processes import StartGunicorn
from wallet_api.database import Connection
from wallet_api.keys import create_key
from wallet_api.settings import Settings

GROUP = {"blockchain": "solana", "type": "kol"}
TEXT_LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z \[\d+\] [A-Z]+ .*|    .*")


@pytest.fixture
def json_logs(settings: Settings) -> Settings:
    return replace(settings, log_format="json", log_level="debug")


def test_every_line_is_json_and_names_its_request(gunicorn: StartGunicorn, json_logs: Settings) -> None:
    server = gunicorn(json_logs, workers=1)
    answer = requests.get(f"{server.url}/v1/wallets", params=GROUP | {"api_key": "nobody's"}, timeout=20)
    server.stop()
    lines = [json.loads(line) for line in server.log.splitlines()]
    assert all({"time", "level", "logger", "process", "message"} <= set(line) for line in lines)
    (access,) = [
        line for line in lines if line["logger"] == "gunicorn.access" and line["path"] == "/v1/wallets"
    ]
    assert access["request_id"] == answer.headers["X-Request-ID"]
    assert (access["method"], access["status"], access["remote_address"]) == ("GET", 403, "127.0.0.1")
    assert access["bytes"] == len(answer.content)
    assert access["milliseconds"] > 0


def test_a_crash_is_one_line_with_its_request_and_traceback(
    gunicorn: StartGunicorn, json_logs: Settings, connection: Connection
) -> None:
    key = create_key(connection, "caller")
    connection.execute("ALTER TABLE wallets RENAME TO gone")
    server = gunicorn(json_logs, workers=1)
    answer = requests.get(f"{server.url}/v1/wallets", params=GROUP | {"api_key": key}, timeout=20)
    server.stop()
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal_error")
    assert "gone" not in answer.text
    lines = [json.loads(line) for line in server.log.splitlines()]
    (crash,) = [line for line in lines if line["level"] == "error"]
    assert crash["request_id"] == answer.headers["X-Request-ID"]
    assert "UndefinedTable" in crash["exception"]


def test_no_caller_can_forge_a_line(gunicorn: StartGunicorn, settings: Settings) -> None:
    server = gunicorn(settings, workers=1)
    forged = "2026-01-01T00:00:00.000Z [1] INFO forged"
    for path in (
        f"/a%0a{forged}",
        f"/a%0d%0a{forged}",
        f"/a%e2%80%a8{forged}",
        "/%ff%00%1b[2J",
        f"/v1%0b{forged}",
    ):
        assert requests.get(f"{server.url}{path}", timeout=20).status_code == 404
    requests.get(f"{server.url}/v1/wallets", headers={"User-Agent": forged, "Referer": forged}, timeout=20)
    server.stop()
    lines = re.split(r"[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", server.log)
    assert [line for line in lines if not TEXT_LINE.fullmatch(line) and line] == []
    assert not any(line.startswith(forged) for line in lines)
    assert "\x1b" not in server.log


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_no_key_is_in_any_line_however_it_was_sent(
    gunicorn: StartGunicorn, settings: Settings, connection: Connection, log_format: str
) -> None:
    key = create_key(connection, "caller", rate="2/hour")
    server = gunicorn(replace(settings, log_format=log_format, log_level="debug"), workers=1)
    url = f"{server.url}/v1/wallets"
    requests.get(url, params=GROUP | {"api_key": key}, timeout=20)
    requests.get(url, params=GROUP, headers={"Authorization": f"Bearer {key}"}, timeout=20)
    requests.get(url, params=GROUP, headers={"Authorization": f"Bearer {key}"}, timeout=20)
    requests.get(url, params=GROUP | {"api_key": [key, key]}, timeout=20)
    requests.get(url, params=GROUP | {key: key}, headers={"Authorization": f"Bearer {key}"}, timeout=20)
    requests.get(f"{server.url}/{key}/api_key={key}", headers={"Referer": key, "User-Agent": key}, timeout=20)
    requests.get(f"{url}?{key}", headers={f"X-{key[:20]}": key}, timeout=20)
    server.stop()
    assert server.log.count("/v1/wallets") >= 6
    assert key not in server.log
    assert key[3:20] not in server.log
