"""The logs of a real gunicorn: whole lines, each with its request id, none forged, without keys."""

import json
import re
from dataclasses import replace

import requests

from tests.processes import Gunicorn, StartGunicorn
from wallet_api.database import Connection
from wallet_api.keys import create_key
from wallet_api.settings import Settings

GROUP = {"blockchain": "solana", "type": "kol"}
TEXT_LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z \[\d+\] [A-Z]+ .*|    .*")
FORGED = "2026-01-01T00:00:00.000Z [1] INFO forged"


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


def _send_as_alice(server: Gunicorn, connection: Connection) -> tuple[str, list[requests.Response]]:
    """Send a key in both ways, and a wrong one; return the key and the responses."""
    key = create_key(connection, "alice & co")
    answers = [
        requests.get(f"{server.url}/v1/wallets?{query}", headers=headers, timeout=20)
        for query, headers in (
            ("blockchain=solana&type=kol&limit=7", {"Authorization": f"Bearer {key}"}),
            (f"api%5Fkey={key}&blockchain=solana&type=kol", {}),
            ("type=%22%0a&api_key=secret", {}),
        )
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 403]
    return key, answers


def test_as_json_every_line_names_its_request_and_its_key_also_of_a_crash(
    gunicorn: StartGunicorn, settings: Settings, connection: Connection
) -> None:
    key = create_key(connection, "caller", rate="2/hour")
    server = gunicorn(replace(settings, log_format="json", log_level="debug"), workers=1)
    of_alice, answers = _send_as_alice(server, connection)
    connection.execute("ALTER TABLE wallets RENAME TO gone")
    other = GROUP | {"limit": "9", "api_key": key}
    answer = requests.get(f"{server.url}/v1/wallets", params=other, timeout=20)
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
    by_id = {line["request_id"]: line for line in lines if "path" in line}
    found = [by_id[answer.headers["X-Request-ID"]] for answer in answers]
    assert [(line.get("key"), line["arguments"]) for line in found] == [
        ("alice & co", "blockchain=solana&type=kol&limit=7"),
        ("alice & co", "blockchain=solana&type=kol"),
        (None, "type=%22%0A"),
    ]
    assert not any(told in server.log for told in (of_alice[3:], "secret"))


def test_as_text_a_line_names_its_key_and_no_caller_can_forge_one(
    gunicorn: StartGunicorn, settings: Settings, connection: Connection
) -> None:
    key = create_key(connection, "caller", rate="2/hour")
    server = gunicorn(replace(settings, log_level="debug"), workers=1)
    of_alice, _ = _send_as_alice(server, connection)
    for path in ("/a%0a", "/a%0d%0a", "/a%e2%80%a8", "/v1%0b", "/%ff%00%1b[2J"):
        assert requests.get(f"{server.url}{path}{FORGED}", timeout=20).status_code == 404
    requests.get(f"{server.url}/v1/wallets", headers={"User-Agent": FORGED, "Referer": FORGED}, timeout=20)
    lines = _lines_without_key(server, key)
    assert [line for line in lines if not TEXT_LINE.fullmatch(line) and line] == []
    assert not any(line.startswith(FORGED) for line in lines)
    assert "\x1b" not in server.log
    assert '"GET /v1/wallets?blockchain=solana&type=kol&limit=7 HTTP/1.1" 200 ' in server.log
    assert re.search(r'"GET /v1/wallets\?type=%22%0A HTTP/1.1" 403 .* -$', server.log, re.MULTILINE)
    assert re.search(r"ms alice & co$", server.log, re.MULTILINE)
    assert not any(told in server.log for told in (of_alice[3:], "secret"))
