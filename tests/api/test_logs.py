"""The logs of a real gunicorn: each line with its request id, without keys.

That nobody forges one is in tests/contract/test_security.py.
"""

import json
import re
from dataclasses import replace

import requests

from tests.processes import Gunicorn, StartGunicorn
from wallet_api.database import Connection
from wallet_api.keys import create_key
from wallet_api.settings import Settings

GROUP = {"blockchain": "solana", "type": "kol"}


def _lines_without_key(server: Gunicorn, key: str) -> list[str]:
    """Send a key in every way, stop the server, and return its lines, none of which has it."""
    url, bearer = f"{server.url}/v1/wallets", {"Authorization": f"Bearer {key}"}
    for address, parameters, headers in (
        (url, GROUP | {"api_key": key}, {}),
        (url, GROUP, bearer),
        # One too many for the limit of the key.
        (url, GROUP, bearer),
        (url, GROUP | {"api_key": [key, key]}, {}),
        (url, GROUP | {key: key}, bearer),
        (f"{server.url}/{key}/api_key={key}", {}, {"Referer": key, "User-Agent": key}),
        (f"{url}?{key}", {}, {f"X-{key[:20]}": key}),
    ):
        requests.get(address, params=parameters, headers=headers, timeout=20)
    server.stop()
    assert server.log.count("/v1/wallets") >= 6
    assert key[3:20] not in server.log
    return re.split(r"[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", server.log)


def test_as_json_every_line_names_its_request_also_of_a_crash(
    gunicorn: StartGunicorn, settings: Settings, connection: Connection
) -> None:
    key = create_key(connection, "caller", rate="2/hour")
    server = gunicorn(replace(settings, log_format="json", log_level="debug"), workers=1)
    connection.execute("ALTER TABLE wallets RENAME TO gone")
    answer = requests.get(f"{server.url}/v1/wallets", params=GROUP | {"api_key": key}, timeout=20)
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal_error")
    assert "gone" not in answer.text
    lines = [json.loads(line) for line in _lines_without_key(server, key) if line]
    assert all({"time", "level", "logger", "process", "message"} <= set(line) for line in lines)
    own = [line for line in lines if line.get("request_id") == answer.headers["X-Request-ID"]]
    crash, access = sorted(own, key=lambda line: line["logger"] == "gunicorn.access")
    assert (crash["level"], "UndefinedTable" in crash["exception"]) == ("error", True)
    assert (access["method"], access["path"], access["status"]) == ("GET", "/v1/wallets", 500)
    assert (access["remote_address"], access["bytes"]) == ("127.0.0.1", len(answer.content))
    assert access["milliseconds"] > 0


def test_a_line_names_the_key_and_the_arguments(
    gunicorn: StartGunicorn, settings: Settings, connection: Connection
) -> None:
    key = create_key(connection, "alice & co")
    for log_format in ("json", "text"):
        server = gunicorn(replace(settings, log_format=log_format), workers=1)
        answers = [
            requests.get(f"{server.url}/v1/wallets?{query}", headers=headers, timeout=20)
            for query, headers in (
                ("blockchain=solana&type=kol&limit=7", {"Authorization": f"Bearer {key}"}),
                (f"api%5Fkey={key}&blockchain=solana&type=kol", {}),
                ("type=%22%0a&api_key=secret", {}),
            )
        ]
        assert [answer.status_code for answer in answers] == [200, 200, 403]
        server.stop()
        assert key[3:] not in server.log
        assert "secret" not in server.log
        if log_format == "text":
            assert '"GET /v1/wallets?blockchain=solana&type=kol&limit=7 HTTP/1.1" 200 ' in server.log
            assert re.search(r'"GET /v1/wallets\?type=%22%0A HTTP/1.1" 403 .* -$', server.log, re.MULTILINE)
            assert re.search(r"ms alice & co$", server.log, re.MULTILINE)
            continue
        lines = {one["request_id"]: one for one in map(json.loads, server.log.splitlines()) if "path" in one}
        found = [lines[answer.headers["X-Request-ID"]] for answer in answers]
        assert [(line.get("key"), line["arguments"]) for line in found] == [
            ("alice & co", "blockchain=solana&type=kol&limit=7"),
            ("alice & co", "blockchain=solana&type=kol"),
            (None, "type=%22%0A"),
        ]
