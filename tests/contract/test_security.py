"""Attacks: invalid HTTP, SQL and headers in parameters, and guessed keys."""

import json
import random
import re
import secrets
import socket
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import FrameType
from urllib.parse import urlsplit

import requests
from flask import Flask

from tests.contract.test_error_table import INJECTED
from tests.lib.demo_service import DemoService
from tests.lib.processes import Gunicorn, StartGunicorn, workers
from tests.lib.waiting import eventually
from wallet_api.api.keys import create_key
from wallet_api.database import Connection, connect
from wallet_api.settings import Settings

GROUP = {"blockchain": "solana", "type": "kol"}
MUTATIONS = 2_000
SEED = 20_260_130

# Those with a key get as far as a view; the rest is refused before, or needs no key.
PATHS = (
    *("/v1/wallets?blockchain=solana&type=kol&limit=3&cursor=", "/v1/wallets?blockchain=eth&api_key=KEY"),
    "/v1/wallets/history?blockchain=eth&type=kol&address=0x00000000219ab540356cbb839cbe05303d7705fa",
    "/v1/wallet/holdings?blockchain=solana&address=DemoWaLLetFzsF7J34jmExZvQko6UnzpEQxn6DLPAAMr",
    *(
        "/v1/transactions/volume?blockchain=bnb&type=smart&hours=25&mint=%27",
        "/v1/wallet/leaderboard?period=1d",
        "/v1/transactions/latest?blockchain=bnb&type=smart&mint=a",
        "/v1/health?api_key=KEY",
    ),
    *("/healthz", "/readyz", "/metrics", "/docs", "/docs/docs.css", "/v1/openapi.json", "/nowhere"),
)
HEADERS = (
    b"Host: localhost\r\nAccept: */*\r\nAuthorization: Bearer KEY\r\n"
    b"If-None-Match: *\r\nAccept-Encoding: gzip;q=0.5, identity\r\nContent-Length: 4\r\n\r\nbody"
)
TOKENS = (
    *(b"\r\n", b"\n", b"\r", b"\0", b" ", b"\t", b":", b"?", b"#", b"%", b"%00", b"%ff", b"\xff\xfe"),
    *(b"&", b"=", b"%0d%0a", b"\x1b[2J", b"\xe2\x80\xa8", b"//", b"/../", b"/%2e%2e/", b"http://other/"),
    *(b"GET ", b"POST ", b"PRI * HTTP/2.0\r\n\r\n", b"HTTP/1.1", b"HTTP/1.0", b"HTTP/0.9", b"Host: a\r\n"),
    *(b"Transfer-Encoding: chunked\r\n", b"Content-Length: -1\r\n", b"Content-Length: 99999999999\r\n"),
    *(b"Expect: 100-continue\r\n", b"Upgrade: h2c\r\n", b"0\r\n\r\n", b"FFFFFFFF\r\n", b"A" * 9000),
    *(b"Authorization: Bearer \xff\r\n", b"X-Forwarded-For: 1.2.3.4\r\n", b"If-Match: \xe9\r\n"),
    *(b"Range: bytes=1-2\r\n", b"If-Modified-Since: x\r\n", b"If-Range: 0\r\n", b"*", b"'"),
)
# A line's own beginning, or a further line of a traceback.
LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z \[\d+\] [A-Z]+ .*|    .*|")


def _mutated(chance: random.Random, key: str) -> bytes:
    path = chance.choice(PATHS)
    request = bytearray(f"GET {path} HTTP/1.1\r\n".encode() + HEADERS)
    for _ in range(chance.randint(1, 3)):
        # Where a request begins is where most is made of it.
        place = chance.randrange(chance.choice((len(path), len(request))) + 1)
        match chance.randrange(4):
            case 0 | 1:
                request[place:place] = chance.choice(TOKENS)
            case 2:
                del request[place : place + chance.randint(1, 20)]
            case _:
                request[place : place + 1] = bytes([chance.randrange(256)])
    if chance.random() < 0.1:
        request = request[: chance.randrange(len(request))] or bytearray(b"\0")
    return bytes(request).replace(b"KEY", key.encode())


def _send(server: Gunicorn, request: bytes) -> bytes:
    address = urlsplit(server.url)
    with socket.create_connection((str(address.hostname), int(address.port or 0)), timeout=60) as connection:
        try:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: connection.recv(65536), b""))
        except (ConnectionResetError, BrokenPipeError):
            # Refused before all was read.
            return b""


def _answers(received: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """The status, the head and the body of each response; nothing may be left over."""
    while received:
        head, _, rest = received.partition(b"\r\n\r\n")
        status = int(head.split()[1])
        length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
        size = int(length[1]) if length else 0
        assert status in (100, 304) or length, head
        assert len(rest) >= size
        yield status, head, rest[:size]
        received = rest[size:]


def test_mangled_requests_get_the_json_error_or_nothing_and_affect_no_others(
    gunicorn: StartGunicorn, settings: Settings, connection: Connection
) -> None:
    key = create_key(connection, "fuzz", rate="100000/second")
    server = gunicorn(replace(settings, log_level="debug"), workers=2, threads=4)
    assert eventually(lambda: len(workers(server)) == 2)
    before = {worker.pid for worker in workers(server)}
    chance = random.Random(SEED)
    statuses: Counter[int] = Counter()
    for _ in range(MUTATIONS):
        request = _mutated(chance, key)
        for status, head, body in _answers(_send(server, request)):
            statuses[status] += 1
            assert b"\r\nSet-Cookie" not in head
            # What is no HTTP gets gunicorn's own page; behind nginx it does not arrive.
            if status >= 400 and b"application/json" in head:
                document = json.loads(body)
                assert document["success"] is False, request
                assert document["error"]["code"]
                assert document["meta"]["request_id"]
    assert set(statuses) <= {100, 200, 304, 400, 401, 403, 404, 405, 413, 414, 417, 431, 501}, statuses
    assert {200, 304, 400, 401, 403, 404, 405, 414, 431} <= set(statuses), statuses
    assert requests.get(f"{server.url}/healthz", timeout=60).status_code == 200
    assert {worker.pid for worker in workers(server)} == before
    server.stop()
    assert "Traceback" not in server.log
    assert key[3:20] not in server.log
    # Whatever was sent, it began no line, and moved no terminal's cursor.
    lines = re.split(r"[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", server.log)
    assert [line for line in lines if not LINE.fullmatch(line)] == []
    assert not re.search(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]", server.log)


def test_bytes_that_become_no_request_are_refused_and_in_no_log(
    gunicorn: StartGunicorn, settings: Settings
) -> None:
    server = gunicorn(replace(settings, log_level="debug"), workers=1)
    secret = secrets.token_urlsafe(24)
    for refused in (
        f"GET /v1/wallets?api_key=wk_{secret} HTTP/9.9\r\n\r\n",
        f"GET /v1/wallets?api_key=wk_{secret}&a=\0 HTTP/1.1\r\n\r\n",
        f"GET / HTTP/1.1\r\nAuthorization Bearer wk_{secret}\r\n\r\n",
        f"{secret} / HTTP/1.1\r\n\r\n",
    ):
        assert _send(server, refused.encode()).startswith(b"HTTP/1.1 400 Bad Request")
    for begun in (f"GET /{secret} HTTP/1.1\r\nHost", f"GET /?{secret}=wk_{secret}"):
        _send(server, begun.encode())
    assert requests.get(f"{server.url}/healthz", timeout=60).status_code == 200
    server.stop()
    assert "Invalid request from ip=127.0.0.1" in server.log
    assert secret not in server.log


def test_sql_where_any_text_is_allowed_is_only_text(server: Gunicorn, demo: DemoService) -> None:
    begin = len(server.log)
    with requests.Session() as session, connect(str(demo.settings.database_url)) as connection:
        before = connection.execute("SELECT * FROM api_keys ORDER BY name").fetchall()
        for text in INJECTED:
            # A mint is an address, which is refused before a statement gets it.
            for path in (
                *(f"/v1/transactions/{mode}" for mode in ("volume", "latest", "timerange", "count")),
                *(f"/v1/tokens/{name}" for name in ("transactions", "stats", "holders")),
            ):
                answer = session.get(
                    f"{server.url}{path}", params=GROUP | {"mint": text}, headers=demo.headers, timeout=60
                )
                assert answer.status_code == 400, answer.text
            answer = session.get(
                f"{server.url}/v1/search", params={"q": text}, headers=demo.headers, timeout=60
            )
            assert answer.status_code == 200, answer.text
            data = answer.json()["data"]
            # The beginning of an address is one, whatever else it looks like.
            assert (data["q"], data["wallets"]) == (text.strip(), [])
            assert all(token["mint"].startswith(text) for token in data["tokens"]), text
            url = f"{server.url}/v1/wallets"
            quoted = demo.headers | {"If-None-Match": text.encode()}
            assert session.get(url, params=GROUP, headers=quoted, timeout=60).status_code == 200
            guess = session.get(url, params=GROUP | {"api_key": text}, timeout=60)
            assert (guess.status_code, guess.json()["error"]["reason"]) == (403, "invalid_api_key")
        assert connection.execute("SELECT * FROM api_keys ORDER BY name").fetchall() == before
    assert " ERROR " not in server.log[begin:]


def test_no_text_of_a_caller_gets_into_the_headers_of_a_response(server: Gunicorn, demo: DemoService) -> None:
    forged = "a\r\nSet-Cookie: forged=1\r\n\r\n<script>"
    named = {"X-Request-ID": "req_forged", "Origin": "https://forged.example", "If-None-Match": 'W/"forged"'}
    for headers in (named, named | demo.headers):
        for query in (
            GROUP | {"cursor": forged},
            {forged: "1"},
            {"api_key": forged},
            {"blockchain": forged},
            GROUP,
        ):
            answer = requests.get(f"{server.url}/v1/wallets", params=query, headers=headers, timeout=60)
            assert "Set-Cookie" not in answer.headers
            assert all("forged" not in value for value in answer.headers.values())
            assert answer.headers["Content-Type"] == "application/json"
    answer = requests.get(f"{server.url}/%0d%0aSet-Cookie:forged=1", timeout=60)
    assert answer.headers.get("Set-Cookie") is None


def test_every_response_has_the_security_headers(server: Gunicorn) -> None:
    pages = ("/healthz", "/docs", "/docs/docs.js", "/v1/openapi.json", "/llms.txt", "/metrics")
    for path in ("/v1/wallets", "/nowhere", *pages):
        answer = requests.get(f"{server.url}{path}", timeout=60)
        assert answer.headers["X-Content-Type-Options"] == "nosniff", path
        # requests joins what is sent twice.
        assert answer.headers["X-Frame-Options"] == "DENY", path
        assert answer.headers["Referrer-Policy"] == "no-referrer", path
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"], path
        assert answer.headers["Cache-Control"] in ("no-store", "public, no-cache"), path
        assert "Set-Cookie" not in answer.headers


def test_the_work_of_a_refusal_reveals_nothing_about_keys(
    settings: Settings, make_app: Callable[[Settings], Flask], connection: Connection
) -> None:
    client = make_app(replace(settings, key_cache_seconds=0.0)).test_client()
    key = create_key(connection, "secret")

    def calls(guess: str, status: int = 403) -> int:
        """Return how many functions a response calls, which is its time without that of all else."""
        counted = 0

        def count(frame: FrameType, event: str, argument: object) -> None:
            nonlocal counted
            counted += event in ("call", "c_call")

        sys.setprofile(count)
        try:
            answer = client.get("/v1/wallets", headers={"Authorization": f"Bearer {guess}"})
        finally:
            sys.setprofile(None)
        assert answer.status_code == status
        return counted

    assert calls(key, 400) > 500
    # Some responses have more to do, as to connect again.
    near, far = (
        statistics.mode(calls(guess()) for _ in range(30))
        for guess in (
            lambda: key[:-4] + secrets.token_urlsafe(3),
            lambda: f"wk_{secrets.token_urlsafe(32)}",
        )
    )
    assert near == far
