"""What attackers send: bytes that are no HTTP, SQL and headers in parameters, and guesses of keys."""

import json
import random
import re
import secrets
import socket
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlsplit

import pytest
import requests
from flask import Flask
from flask.testing import FlaskClient

from tests.processes import Gunicorn, StartGunicorn
from wallet_api.access.keys import create_key
from wallet_api.database import Connection
from wallet_api.settings import Settings

GROUP = {"blockchain": "solana", "type": "kol"}
MUTATIONS = 300
SEED = 20_260_130

VALID = (
    b"GET /v1/wallets?blockchain=solana&type=kol HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n"
    b"Authorization: Bearer wk_fuzz\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody"
)
TOKENS = (
    *(b"\r\n", b"\n", b"\r", b"\0", b" ", b"\t", b":", b"?", b"#", b"%", b"%00", b"%ff", b"\xff\xfe"),
    *(b"GET ", b"POST ", b"PRI * HTTP/2.0\r\n\r\n", b"HTTP/1.1", b"HTTP/1.0", b"HTTP/0.9", b"Host: a\r\n"),
    *(b"Transfer-Encoding: chunked\r\n", b"Content-Length: -1\r\n", b"Content-Length: 99999999999\r\n"),
    *(b"Expect: 100-continue\r\n", b"Upgrade: h2c\r\n", b"0\r\n\r\n", b"FFFFFFFF\r\n", b"A" * 9000),
)


def _mutated(chance: random.Random) -> bytes:
    request = bytearray(VALID)
    for _ in range(chance.randint(1, 6)):
        place = chance.randrange(len(request) + 1)
        match chance.randrange(4):
            case 0:
                request[place:place] = chance.choice(TOKENS)
            case 1:
                del request[place : place + chance.randint(1, 20)]
            case 2:
                request[place : place + 1] = bytes([chance.randrange(256)])
            case _:
                request = request[:place] or bytearray(b"\0")
    return bytes(request)


def _send(server: Gunicorn, request: bytes) -> bytes:
    address = urlsplit(server.url)
    with socket.create_connection((str(address.hostname), int(address.port or 0)), timeout=20) as connection:
        try:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: connection.recv(65536), b""))
        except (ConnectionResetError, BrokenPipeError):
            # Refused before all was read.
            return b""


def test_mangled_requests_get_our_error_or_nothing_and_harm_nobody(gunicorn: StartGunicorn) -> None:
    server = gunicorn(workers=1, threads=4)
    chance = random.Random(SEED)
    statuses = set()
    for _ in range(MUTATIONS):
        request = _mutated(chance)
        answer = _send(server, request)
        while answer:
            head, _, rest = answer.partition(b"\r\n\r\n")
            statuses.add(int(head.split()[1]))
            length = re.search(rb"(?i)content-length: (\d+)", head)
            body, answer = (rest[: int(length[1])], rest[int(length[1]) :]) if length else (b"", rest)
            if body:
                document = json.loads(body)
                assert document["success"] is False, request
                assert document["error"]["code"]
    assert statuses <= {100, 400, 401, 403, 404, 405, 413, 414, 417, 431, 501}, statuses
    assert {400, 403} <= statuses
    assert requests.get(f"{server.url}/healthz", timeout=20).status_code == 200
    assert "Traceback" not in server.log


SQL = (
    *(
        "'",
        "''",
        "' OR '1'='1",
        "'; DROP TABLE wallets; --",
        '"; DROP TABLE wallets; --',
        "1; SELECT pg_sleep(9)",
    ),
    *(
        "1' UNION SELECT key_hash, name FROM api_keys --",
        "$1",
        "%s",
        "%(blockchain)s",
        "%%",
        "\\",
        "{0}",
        "${7*7}",
    ),
    *("E'\\x27'", "kol/**/OR/**/1=1", "solana') OR true --", "NULL", "0x27", "\u02bc OR 1=1", "＇ OR 1=1"),
)


@pytest.mark.parametrize(
    ("path", "arguments"),
    [
        ("/v1/wallets", GROUP | {"limit": "1", "cursor": ""}),
        ("/v1/wallets/history", GROUP | {"address": "a", "limit": "1", "cursor": ""}),
        ("/v1/wallets/holdings", {"blockchain": "solana", "address": "a"}),
        ("/v1/transactions/volume", GROUP | {"seconds": "1", "mint": "a"}),
        ("/v1/wallet/leaderboard", GROUP | {"period": "1d", "limit": "1", "cursor": ""}),
    ],
)
def test_sql_in_any_parameter_is_only_text(
    client: FlaskClient, connection: Connection, path: str, arguments: dict[str, str]
) -> None:
    key = create_key(connection, "caller", rate="100000/second")
    for parameter in (*arguments, "api_key"):
        for text in SQL:
            headers = {} if parameter == "api_key" else {"Authorization": f"Bearer {key}"}
            started = time.monotonic()
            answer = client.get(path, query_string=arguments | {parameter: text}, headers=headers)
            assert time.monotonic() - started < 5, text
            # A mint may be any text: then nothing was traded of it.
            allowed = {200} if parameter == "mint" else {400, 403, 404}
            assert answer.status_code in allowed, (parameter, text, answer.text)
            if parameter == "mint":
                assert answer.json["data"]["volume"] == 0
            for leaked in ("psycopg", "syntax error at", 'relation "', "Traceback", "wallet_api/"):
                assert leaked not in answer.text.replace(text, "").replace(repr(text), ""), answer.text
    assert connection.execute("SELECT count(*) AS wallets FROM wallets").fetchone() == {"wallets": 0}


def test_nothing_of_a_callers_gets_into_the_headers_of_an_answer(client: FlaskClient) -> None:
    forged = "a\r\nSet-Cookie: forged=1\r\n\r\n<script>"
    for query in (GROUP | {"cursor": forged}, {forged: "1"}, {"api_key": forged}, {"blockchain": forged}):
        answer = client.get("/v1/wallets", query_string=query, headers={"X-Request-ID": "req_forged"})
        assert "Set-Cookie" not in answer.headers
        assert all("forged" not in value for value in answer.headers.values())
        assert answer.content_type == "application/json"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert client.get("/%0d%0aSet-Cookie:forged=1").headers.get("Set-Cookie") is None


def test_every_answer_carries_the_security_headers(gunicorn: StartGunicorn) -> None:
    server = gunicorn(workers=1)
    for path in (
        "/v1/wallets",
        "/nowhere",
        "/healthz",
        "/docs",
        "/docs/docs.js",
        "/v1/openapi.json",
        "/metrics",
    ):
        answer = requests.get(f"{server.url}{path}", timeout=20)
        assert answer.headers["X-Content-Type-Options"] == "nosniff", path
        assert answer.headers["X-Frame-Options"] == "DENY", path
        assert answer.headers["Referrer-Policy"] == "no-referrer", path
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"], path
        assert answer.headers["Cache-Control"] in ("no-store", "public, no-cache"), path
        assert "Set-Cookie" not in answer.headers
        # requests joins what is sent twice.
        assert "," not in answer.headers["X-Frame-Options"], path


def test_the_time_of_a_refusal_tells_nothing_about_keys(
    settings: Settings, make_app: Callable[[Settings], Flask], connection: Connection
) -> None:
    client = make_app(replace(settings, key_cache_seconds=0.0)).test_client()
    key = create_key(connection, "secret")

    def seconds(guess: str) -> float:
        started = time.perf_counter()
        answer = client.get("/v1/wallets", headers={"Authorization": f"Bearer {guess}"})
        taken = time.perf_counter() - started
        assert answer.status_code == 403
        return taken

    near, far = [], []
    for _ in range(300):
        # By turns, so that whatever else slows the machine down slows both.
        near.append(seconds(key[:-4] + secrets.token_urlsafe(3)))
        far.append(seconds(f"wk_{secrets.token_urlsafe(32)}"))
    ratio = statistics.median(near) / statistics.median(far)
    assert 0.8 < ratio < 1.25, ratio


def test_a_key_is_nowhere_in_the_database(connection: Connection) -> None:
    key = create_key(connection, "secret")
    rows = connection.execute("SELECT row_to_json(api_keys)::text AS row FROM api_keys").fetchall()
    assert key not in str(rows)
    assert key[3:] not in str(rows)
    assert key.encode().hex() not in str(rows)
