"""The nginx configuration that operators get, on a real nginx, in front of real gunicorns."""

import json
import re
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests

from tests.ledger import random_trades
from tests.ledger.in_process import Importer
from tests.ledger.rows import GROUP
from tests.lib.callers import callers, get
from tests.lib.nginx import UNLIMITED, Nginx, nginx, running_nginx
from tests.lib.processes import Gunicorn, StartGunicorn, reload
from tests.lib.waiting import calm_seconds, eventually
from wallet_api import __version__
from wallet_api.settings import Settings

pytestmark = pytest.mark.skipif(nginx() is None, reason="needs nginx: apt-get install nginx")

NOBODY = "http://127.0.0.1:9"


@pytest.fixture
def behind_nginx(settings: Settings) -> Settings:
    return replace(settings, proxy_hops=1)


@pytest.fixture
def start_nginx(tmp_path: Path) -> Iterator[Any]:
    with ExitStack() as stack:

        def start(nodes: list[str], changes: dict[str, str] | None = None) -> Nginx:
            folder = tmp_path / "nginx"
            folder.mkdir()
            return stack.enter_context(running_nginx(folder, nodes, changes))

        yield start


def _get(server: Nginx, path: str, **options: Any) -> requests.Response:
    return requests.get(f"{server.url}{path}", verify=str(server.certificate), timeout=60, **options)


def _is_our_error(answer: requests.Response, status: int, code: str) -> None:
    assert answer.status_code == status
    assert answer.headers["Content-Type"] == "application/json"
    body = answer.json()
    assert (body["success"], body["error"]["code"]) == (False, code)
    assert body["error"]["message"]
    assert body["meta"]["version"] == __version__
    assert body["meta"]["request_id"] == body["error"]["request_id"]
    assert body["meta"]["timestamp"].endswith(("Z", "+00:00"))
    assert ("Retry-After" in answer.headers) == (status in (429, 503))
    assert str(body["error"].get("retry_after_seconds")) == str(answer.headers.get("Retry-After"))


def _raw(server: Nginx, *parts: bytes) -> bytes:
    address = urlsplit(server.url)
    context = ssl.create_default_context(cafile=str(server.certificate))
    with (
        socket.create_connection(("127.0.0.1", int(address.port or 0)), timeout=60) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as connection,
    ):
        for part in parts:
            connection.sendall(part)
        answer = b""
        while chunk := connection.recv(65536):
            answer += chunk
        return answer


def test_calls_pass_as_they_are_with_the_callers_own_address(
    gunicorn: StartGunicorn, start_nginx: Any, behind_nginx: Settings, key: str, database_url: str
) -> None:
    Importer(database_url).wallets([{**wallet, "type": "kol"} for wallet in random_trades.wallets(40)])
    node = gunicorn(behind_nginx, workers=1)
    server = start_nginx([node.url])
    # A 503 without a time to wait gets none from nginx.
    wallet = next(row for row in random_trades.wallets(40) if row["blockchain"] == "solana")
    holdings = {"blockchain": "solana", "address": wallet["wallet_address"]}
    away = _get(server, "/v1/wallets/holdings", params=holdings, headers={"Authorization": f"Bearer {key}"})
    assert (away.status_code, away.json()["error"]["reason"]) == (503, "provider_not_configured")
    assert "Retry-After" not in away.headers
    forged = {"X-Forwarded-For": "192.0.2.7", "Forwarded": "for=192.0.2.7", "Authorization": f"Bearer {key}"}
    answer = _get(server, "/v1/wallets", params=GROUP, headers=forged | {"Accept-Encoding": "gzip"})
    assert answer.status_code == 200
    assert answer.json()["data"]["pagination"]["total"] == 40
    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.headers["X-Request-ID"] == answer.json()["meta"]["request_id"]
    assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"
    assert _get(server, "/docs").headers["Content-Type"].startswith("text/html")
    assert _get(server, "/", headers={"Accept": "text/html"}).headers["Content-Type"].startswith("text/html")
    _is_our_error(_get(server, "/metrics"), 404, "not_found")
    refused = _get(server, "/v1/wallets", params=GROUP)
    assert (refused.status_code, refused.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert _get(server, "/v1/wallets", params=GROUP | {"api_key": key}).status_code == 200
    node.stop()
    assert key not in server.logs
    assert "192.0.2.7" not in node.log
    assert re.search(r'127\.0\.0\.1 "GET /v1/wallets\?\S+ HTTP/1\.1" 200', node.log)
    assert f'"request_id":"{answer.headers["X-Request-ID"]}"' in server.logs


def test_what_nginx_itself_refuses_looks_like_a_refusal_of_ours(start_nginx: Any) -> None:
    server = start_nginx(
        [NOBODY], {"client_header_timeout 10s": "client_header_timeout 1s", "burst=200": "burst=20"}
    )
    _is_our_error(_get(server, "/v1/wallets", params=GROUP), 503, "service_unavailable")
    _is_our_error(_get(server, f"/v1/wallets?a={'x' * 9000}"), 414, "invalid_request")
    _is_our_error(_get(server, "/v1/wallets", headers={"A": "x" * 9000}), 414, "invalid_request")
    _is_our_error(_get(server, "/v1/wallets", data=b"x" * 2000), 413, "request_too_large")
    assert b'"code":"invalid_request"' in _raw(server, b"no http at all\r\n\r\n")
    started = calm_seconds()
    # Ended it is, with an answer or a reset.
    with suppress(ConnectionResetError):
        _raw(server, b"GET / HTTP/1.1\r\nHost: localhost\r\n")
    assert calm_seconds() - started < 5
    answers = [_get(server, "/v1/wallets") for _ in range(60)]
    limited = [answer for answer in answers if answer.status_code == 429]
    if not limited:
        # A machine this slow stays below the rate one call after the other.
        with callers(get(f"{server.url}/v1/wallets", verify=str(server.certificate)), threads=16) as met:
            time.sleep(1)
        limited = [answer for answer in met.refusals if answer.status_code == 429]
    _is_our_error(limited[0], 429, "rate_limited")


_ORIGIN = "https://app.example.com"
_PREFLIGHT = {
    "Origin": _ORIGIN,
    "Access-Control-Request-Method": "GET",
    "Access-Control-Request-Headers": "Authorization, If-None-Match",
}
_LISTED = {'# "https://app.example.com" $http_origin;': '"https://app.example.com" $http_origin;'}
_MAP = "map $http_origin $wallet_api_origin {\n    default "
_STAR = {f'{_MAP}"";': f'{_MAP}"*";'}


def _cors(answer: requests.Response) -> dict[str, str]:
    """Return the headers by which a browser decides what a page may read."""
    # Other values may be response for in another order or case.
    own = {
        name: ", ".join(sorted(value.lower().split(", ")))
        for name, value in answer.headers.items()
        if name.startswith(("Access-Control", "Cross-Origin-Resource"))
    }
    return own | {"Vary": "Origin" if "Origin" in answer.headers.get("Vary", "") else ""}


def _preflight(server: Nginx | Gunicorn, path: str, **headers: str) -> requests.Response:
    verify = str(server.certificate) if isinstance(server, Nginx) else None
    return requests.options(f"{server.url}{path}", headers=_PREFLIGHT | headers, verify=verify, timeout=60)


@pytest.mark.parametrize(("origins", "changes"), [(_ORIGIN, _LISTED), ("*", _STAR)])
def test_pages_of_the_origins_can_read_what_nginx_and_what_the_service_refuse(
    gunicorn: StartGunicorn, start_nginx: Any, behind_nginx: Settings, origins: str, changes: dict[str, str]
) -> None:
    node = gunicorn(replace(behind_nginx, cors_origins=origins), workers=1)
    server = start_nginx([node.url], changes | {"burst=200": "burst=20", "rate=100r/s": "rate=1r/s"})
    page = {"Origin": _ORIGIN}
    refused = _get(server, "/v1/wallets", headers=page)
    assert (refused.status_code, refused.headers["Access-Control-Allow-Origin"]) == (401, origins)
    assert _cors(refused)["Cross-Origin-Resource-Policy"] == "cross-origin"
    # nginx and the service answer a preflight alike.
    response = _preflight(server, "/v1/wallets")
    assert response.status_code == 204
    other = _cors(_preflight(node, "/v1/wallets"))
    assert _cors(response).items() <= other.items()
    assert other.keys() - _cors(response).keys() == {
        "Access-Control-Expose-Headers",
        "Cross-Origin-Resource-Policy",
    }
    too_large = _get(server, "/v1/wallets", data=b"x" * 2000, headers=page)
    assert too_large.status_code == 413
    node.stop()
    away = _get(server, "/v1/wallets", headers=page)
    _is_our_error(away, 503, "service_unavailable")
    with callers(get(f"{server.url}/v1/wallets", verify=str(server.certificate)), threads=4) as met:
        while 429 not in met.statuses and not met.failures:
            time.sleep(0.05)
        limited = _get(server, "/v1/wallets", headers=page)
        # A preflight passes before the limits.
        assert _preflight(server, "/v1/wallets").status_code == 204
    _is_our_error(limited, 429, "rate_limited")
    without_tls = requests.get(f"{server.plain_url}/v1/wallets", headers=page, timeout=60)
    assert without_tls.status_code == 403
    for answer in (away, limited, without_tls, too_large):
        assert _cors(answer) == _cors(refused)
    for path in ("/metrics", "/docs"):
        assert not [name for name in _get(server, path, headers=page).headers if "Access" in name]


@pytest.mark.parametrize(
    ("changes", "origins"),
    [
        ({}, [_ORIGIN]),
        (_LISTED, ["https://other.example.com", f"{_ORIGIN}.evil.example", "null"]),
    ],
    ids=["none", "one"],
)
def test_pages_of_origins_that_are_not_listed_can_read_nothing_of_nginx(
    start_nginx: Any, changes: dict[str, str], origins: list[str]
) -> None:
    server = start_nginx([NOBODY], changes)
    for origin in origins:
        for path in ("/v1/wallets", "/metrics"):
            assert _cors(_get(server, path, headers={"Origin": origin})) == {"Vary": ""}
        assert _preflight(server, "/v1/wallets", Origin=origin).status_code == 503


def test_assistants_send_bodies_of_64_kb_and_nobody_else_does(
    gunicorn: StartGunicorn, start_nginx: Any, behind_nginx: Settings, key: str
) -> None:
    node = gunicorn(replace(behind_nginx, cors_origins=_ORIGIN), workers=1)
    server = start_nginx([node.url], _LISTED)
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    body = json.dumps(call | {"params": {"name": "list_wallets", "arguments": GROUP}}).encode()
    headers = {"Authorization": f"Bearer {key}", "X-Forwarded-For": "192.0.2.7"}

    def post(body: bytes, path: str = "/mcp", **more: str) -> requests.Response:
        url, verify = f"{server.url}{path}", str(server.certificate)
        return requests.post(url, data=body, headers=headers | more, verify=verify, timeout=60)

    answer = post(body.ljust(65_536))
    assert (answer.status_code, answer.json()["result"]["isError"]) == (200, False)
    assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"
    _is_our_error(post(body.ljust(65_537)), 413, "request_too_large")
    _is_our_error(post(body.ljust(2_000), "/v1/wallets"), 413, "request_too_large")
    _is_our_error(_get(server, "/mcp"), 405, "method_not_allowed")
    # Chunked, without a length.
    chunks = requests.post(
        f"{server.url}/mcp",
        data=iter([body, b" " * 65_536]),
        headers=headers,
        verify=str(server.certificate),
        timeout=60,
    )
    _is_our_error(chunks, 413, "request_too_large")
    page = post(body, Origin=_ORIGIN)
    assert (page.status_code, page.headers["Access-Control-Allow-Origin"]) == (200, _ORIGIN)
    _is_our_error(post(body, Origin="https://other.example.com"), 403, "forbidden")
    response = _preflight(server, "/mcp", **{"Access-Control-Request-Method": "POST"})
    assert (response.status_code, response.headers["Access-Control-Allow-Methods"]) == (204, "POST")
    too_large = post(body.ljust(65_537), Origin=_ORIGIN)
    assert too_large.headers["Access-Control-Allow-Origin"] == _ORIGIN
    node.stop()
    assert "192.0.2.7" not in node.log
    lines = [line for line in node.log.splitlines() if '"POST /mcp' in line]
    # One for each message, with what was response for.
    called = "POST /mcp?tool=list_wallets&blockchain=solana&type=kol HTTP/1.1"
    assert sum(called in line and line.endswith(" caller") for line in lines) == 2
    assert len(lines) == 3


def test_what_nginx_itself_refuses_also_without_tls_is_in_its_log_by_path_and_request_id_without_a_key(
    start_nginx: Any,
) -> None:
    server = start_nginx([NOBODY], {"burst=200": "burst=5", "rate=100r/s": "rate=1r/s"})
    secret = "wk_no_log_may_show_this"
    hidden = {"params": {"api_key": secret}, "headers": {"Referer": f"https://a/?api_key={secret}"}}
    answers = [
        _get(server, "/v1/wallets", **hidden),
        _get(server, "/metrics", **hidden),
        _get(server, "/v1/meta", data=b"x" * 2000),
        requests.get(f"{server.plain_url}/v1/health", timeout=60, **hidden),
    ]
    # Without TLS no request is answered, and pages are elsewhere.
    _is_our_error(answers[-1], 403, "forbidden")
    assert answers[-1].headers["Server"] == "nginx"
    for path in ("/", "/docs"):
        page = requests.get(server.plain_url + path, allow_redirects=False, timeout=60)
        assert (page.status_code, page.headers["Location"]) == (301, f"https://localhost{path}")
    lines = (server.folder / "wallet-api.access.log").read_text().splitlines()
    logged = {line["request_id"]: (line["path"], line["status"]) for line in map(json.loads, lines)}
    assert [logged[answer.json()["error"]["request_id"]] for answer in answers] == [
        ("/v1/wallets", "503"),
        ("/metrics", "404"),
        ("/v1/meta", "413"),
        ("/v1/health", "403"),
    ]
    # Nor is it shown by what is no request, of a line that is too long, or over the rate.
    _raw(server, f"GET /v1/wallets?api_key={secret} HTTP/1.1\r\nbad header\r\n\r\n".encode())
    _raw(server, f"GET /v1/wallets?api_key={secret} HTTP/9.1\r\n\r\n".encode())
    _get(server, f"/v1/wallets?api_key={secret}{'x' * 9000}")
    for _ in range(10):
        _get(server, "/v1/wallets", **hidden)
    logs = server.logs
    assert {'"status":"503"', '"status":"429"', '"status":"403"'} <= set(logs.split(","))
    assert secret not in logs


def test_a_reload_and_a_node_that_leaves_drop_no_call(
    gunicorn: StartGunicorn, start_nginx: Any, behind_nginx: Settings, key: str
) -> None:
    first, second = gunicorn(behind_nginx, workers=2), gunicorn(behind_nginx, workers=1)
    server = start_nginx([first.url, second.url], UNLIMITED)
    call = get(
        f"{server.url}/v1/wallets",
        params=GROUP,
        headers={"Authorization": f"Bearer {key}"},
        verify=str(server.certificate),
    )
    with callers(call, threads=4, pause_seconds=0.02) as met:
        assert eventually(lambda: met.statuses[200] > 50)
        reload(first)
        reload(first)
        second.stop()
        counted = sum(met.statuses.values())
        while sum(met.statuses.values()) < counted + 50 and not met.failures:
            time.sleep(0.05)
    assert met.failures == []
    assert set(met.statuses) == {200}, met.statuses
    assert met.statuses[200] > 100
