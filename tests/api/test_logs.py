"""The logs of a real gunicorn: each line with its request id, its key and its arguments.

That nobody forges one is in tests/contract/test_security.py, and that none has a secret in
tests/integration/test_secrets.py.
"""

import json
import re
from dataclasses import replace

import pytest
import requests

from tests.lib.processes import Gunicorn, StartGunicorn
from wallet_api.api.keys import create_key
from wallet_api.database import Connection
from wallet_api.settings import Settings


def _ask(server: Gunicorn, key: str) -> list[requests.Response]:
    """Send requests with the key in the header, in the query, and with another one."""
    return [
        requests.get(f"{server.url}/v1/wallets?{query}", headers=headers, timeout=60)
        for query, headers in (
            ("blockchain=solana&type=kol&limit=7", {"Authorization": f"Bearer {key}"}),
            (f"api%5Fkey={key}&blockchain=solana&type=kol", {}),
            ("type=%22%0a&api_key=secret", {}),
        )
    ]


def test_as_json_every_line_names_its_request_also_of_a_crash(
    gunicorn: StartGunicorn, settings: Settings, connection: Connection
) -> None:
    key = create_key(connection, "alice & co")
    own = replace(settings, log_format="json", log_level="debug", leaderboard_ttl_seconds=0.0)
    server = gunicorn(own, workers=1)
    answers = _ask(server, key)
    connection.execute("ALTER TABLE wallets RENAME TO gone")
    answers += _ask(server, key)[:1]
    assert [answer.status_code for answer in answers] == [200, 200, 403, 500]
    server.stop()
    lines = [json.loads(line) for line in server.log.splitlines() if line]
    assert all({"time", "level", "logger", "process", "message"} <= set(line) for line in lines)
    found = {
        line["request_id"]: line for line in lines if line["logger"] == "gunicorn.access" and "path" in line
    }
    shown = [found[answer.headers["X-Request-ID"]] for answer in answers]
    assert [(line.get("key"), line["arguments"], line["status"]) for line in shown] == [
        ("alice & co", "blockchain=solana&type=kol&limit=7", 200),
        ("alice & co", "blockchain=solana&type=kol", 200),
        (None, "type=%22%0A", 403),
        ("alice & co", "blockchain=solana&type=kol&limit=7", 500),
    ]
    assert (shown[0]["method"], shown[0]["path"]) == ("GET", "/v1/wallets")
    assert (shown[0]["remote_address"], shown[0]["bytes"]) == ("127.0.0.1", len(answers[0].content))
    assert shown[0]["milliseconds"] > 0
    (crash,) = [
        line
        for line in lines
        if line.get("request_id") == answers[-1].headers["X-Request-ID"] and line not in shown
    ]
    assert (crash["level"], "UndefinedTable" in crash["exception"]) == ("error", True)


def test_as_text_a_line_names_the_key_and_the_arguments(
    gunicorn: StartGunicorn, settings: Settings, connection: Connection
) -> None:
    server = gunicorn(settings, workers=1)
    _ask(server, create_key(connection, "alice & co"))
    server.stop()
    assert '"GET /v1/wallets?blockchain=solana&type=kol&limit=7 HTTP/1.1" 200 ' in server.log
    assert re.search(r'"GET /v1/wallets\?type=%22%0A HTTP/1.1" 403 .* -$', server.log, re.MULTILINE)
    assert re.search(r"ms alice & co$", server.log, re.MULTILINE)


def test_a_log_that_cannot_be_written_drops_its_lines_and_that_is_said_once(
    gunicorn: StartGunicorn, settings: Settings, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GUNICORN_CMD_ARGS", "--access-logfile /dev/full")
    server = gunicorn(replace(settings, log_format="json"), workers=1)
    key = create_key(connection, "alice")
    for _ in range(20):
        assert [answer.status_code for answer in _ask(server, key)] == [200, 200, 403]
    server.stop()
    messages = [json.loads(line)["message"] for line in server.log.splitlines()]
    dropped = "Log lines are dropped until they can be written to /dev/full: No space left on device"
    assert messages.count(dropped) == 1
    assert not any("Traceback" in message for message in messages)
