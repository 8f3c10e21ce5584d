"""CORS_ORIGINS: which web pages may read the responses, over HTTP and in a real browser."""

import http.server
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.browser import browser, chromium
from tests.processes import StartGunicorn
from wallet_api.database import Connection
from wallet_api.keys import create_key
from wallet_api.settings import Settings, SettingsError

APP = "https://app.example.com"
OTHER = "https://other.example.com"
BOTH = f"{APP},https://admin.example.com:8443"
GROUP = "/v1/wallets?blockchain=solana&type=kol"
EXPOSED = {
    *("ETag", "Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"),
    *("X-Credits-Remaining", "X-Request-ID"),
}
PREFLIGHT = {
    "Origin": APP,
    "Access-Control-Request-Method": "GET",
    "Access-Control-Request-Headers": "authorization,if-none-match",
}


def _is_allowed(response: TestResponse, origin: str) -> None:
    headers = response.headers
    assert headers.getlist("Access-Control-Allow-Origin") == [origin]
    assert set(headers["Access-Control-Expose-Headers"].split(", ")) == EXPOSED
    assert headers.getlist("Cross-Origin-Resource-Policy") == ["cross-origin"]
    assert ("Origin" in response.vary) == (origin != "*")
    assert "Access-Control-Allow-Credentials" not in headers


def _is_closed(response: TestResponse) -> None:
    assert [name for name in dict(response.headers) if name.startswith("Access-Control")] == []
    assert response.headers.getlist("Cross-Origin-Resource-Policy") == ["same-origin"]


@pytest.mark.settings(cors_origins=BOTH)
def test_a_page_of_an_allowed_origin_can_read_every_response(
    client: FlaskClient, connection: Connection
) -> None:
    key = {"Authorization": f"Bearer {create_key(connection, 'page')}"}
    spent = {"Authorization": f"Bearer {create_key(connection, 'spent', credits=0)}"}
    slow = {"Authorization": f"Bearer {create_key(connection, 'slow', rate='1/day')}"}
    client.get(GROUP, headers=slow)
    etag = client.get(GROUP, headers=key).headers["ETag"]
    for origin in BOTH.split(","):
        for path, headers, status in (
            (GROUP, key, 200),
            (GROUP, key | {"If-None-Match": etag}, 304),
            ("/v1/wallets", key, 400),
            (GROUP, {}, 401),
            (GROUP, spent, 403),
            (GROUP, slow, 429),
            ("/v1/nothing", {}, 404),
            ("/v1/openapi.json", {}, 200),
            ("/v1/health", {}, 200),
        ):
            response = client.get(path, headers=headers | {"Origin": origin})
            assert response.status_code == status
            _is_allowed(response, origin)
        refused = client.post(GROUP, headers={"Origin": origin})
        assert refused.status_code == 405
        _is_allowed(refused, origin)


@pytest.mark.settings(cors_origins=APP)
def test_a_page_can_read_that_the_service_fails(client: FlaskClient, connection: Connection) -> None:
    headers = {"Authorization": f"Bearer {create_key(connection, 'page')}", "Origin": APP}
    connection.execute("ALTER TABLE wallets RENAME COLUMN address TO moved")
    response = client.get(GROUP, headers=headers)
    assert response.status_code == 500
    _is_allowed(response, APP)


@pytest.mark.settings(cors_origins=APP)
def test_a_preflight_needs_no_key_and_costs_and_counts_nothing(
    client: FlaskClient, connection: Connection
) -> None:
    key = {"Authorization": f"Bearer {create_key(connection, 'page', credits=1, rate='1/day')}"}
    for path in (GROUP, "/v1/wallets", "/v1/nothing"):
        response = client.options(path, headers=PREFLIGHT | key)
        assert (response.status_code, response.data) == (204, b"")
        _is_allowed(response, APP)
        assert response.headers["Access-Control-Allow-Methods"] == "GET, HEAD"
        assert response.headers["Access-Control-Allow-Headers"] == "authorization, if-none-match"
        assert int(response.headers["Access-Control-Max-Age"]) > 0
        assert not {"X-RateLimit-Limit", "X-Credits-Remaining", "Content-Type"} & {*response.headers.keys()}
    response = client.get(GROUP, headers=key)
    assert (response.status_code, response.headers["X-Credits-Remaining"]) == (200, "0")


@pytest.mark.settings(cors_origins=APP)
def test_only_these_two_headers_and_methods_are_allowed(client: FlaskClient) -> None:
    asked = PREFLIGHT | {"Access-Control-Request-Headers": "authorization,x-other"}
    assert client.options(GROUP, headers=asked).headers["Access-Control-Allow-Headers"] == "authorization"
    response = client.options(GROUP, headers=PREFLIGHT | {"Access-Control-Request-Method": "DELETE"})
    assert "Access-Control-Allow-Methods" not in response.headers


@pytest.mark.settings(cors_origins=APP)
@pytest.mark.parametrize(
    "origin", [OTHER, "null", f"{APP}.evil.example", f"{APP}:8443", "http://app.example.com", "", None]
)
def test_no_other_origin_is_allowed(client: FlaskClient, origin: str | None) -> None:
    headers = {} if origin is None else {"Origin": origin}
    response = client.get("/v1/health", headers=headers)
    _is_closed(response)
    # A cache must not give this response to the page that may read it.
    assert "Origin" in response.vary
    _is_closed(client.options(GROUP, headers=PREFLIGHT | {"Origin": origin or ""}))


@pytest.mark.settings(cors_origins=BOTH)
@pytest.mark.parametrize("path", ["/", "/docs", "/docs/docs.js", "/healthz", "/readyz", "/metrics", "/v1x"])
def test_nothing_outside_of_v1_is_for_pages_of_other_origins(client: FlaskClient, path: str) -> None:
    response = client.get(path, headers={"Origin": APP})
    _is_closed(response)
    assert "Origin" not in response.vary
    assert client.options(path, headers=PREFLIGHT).status_code in (404, 405)


@pytest.mark.settings(cors_origins="*")
def test_a_star_allows_all_origins_with_one_response_for_all(
    client: FlaskClient, connection: Connection
) -> None:
    key = {"Authorization": f"Bearer {create_key(connection, 'page')}"}
    for headers in ({"Origin": APP}, {"Origin": "null"}, {}):
        _is_allowed(client.get(GROUP, headers=key | headers), "*")
    _is_allowed(client.options(GROUP, headers=PREFLIGHT), "*")
    _is_closed(client.get("/docs", headers={"Origin": APP}))


def test_unset_no_page_of_another_origin_can_read_anything(client: FlaskClient) -> None:
    response = client.get(GROUP, headers={"Origin": APP})
    _is_closed(response)
    assert "Origin" not in response.vary
    refused = client.options(GROUP, headers=PREFLIGHT)
    assert (refused.status_code, set(refused.headers["Allow"].split(", "))) == (405, {"GET", "HEAD"})
    _is_closed(refused)


def test_origins_are_read_as_browsers_send_them() -> None:
    settings = Settings.from_environment({"CORS_ORIGINS": "https://App.example.com/, http://localhost:3000"})
    assert settings.cors_origins == "https://app.example.com,http://localhost:3000"
    assert Settings.from_environment({"CORS_ORIGINS": "*"}).cors_origins == "*"


@pytest.mark.parametrize(
    "text", ["app.example.com", "https://a.example/path", f"*,{APP}", "https://*.example.com", "null", ","]
)
def test_what_is_no_origin_is_refused_at_the_start(text: str) -> None:
    with pytest.raises(SettingsError, match="CORS_ORIGINS must be"):
        Settings.from_environment({"CORS_ORIGINS": text})


@pytest.fixture
def elsewhere() -> Iterator[str]:
    """The origin of an empty page on another port."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()

        def log_message(self, *arguments: Any) -> None:
            """Print nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


_FETCH = """
fetch(%s, {headers: %s}).then(
  async (r) => ({status: r.status, headers: Object.fromEntries(r.headers), body: await r.text()}),
  (error) => ({blocked: error.name}))
"""


@pytest.mark.skipif(chromium() is None, reason="needs chromium: apt-get install chromium")
def test_a_real_browser_lets_a_page_of_an_allowed_origin_read_and_no_other(
    gunicorn: StartGunicorn, settings: Settings, connection: Connection, elsewhere: str, tmp_path: Path
) -> None:
    key = {"Authorization": f"Bearer {create_key(connection, 'page', credits=2, rate='3/day')}"}
    url = gunicorn(replace(settings, cors_origins=elsewhere), workers=1).url
    closed = gunicorn(settings, workers=1).url
    with browser(tmp_path / "profile") as page:
        page.open(elsewhere)
        page.await_true(f"location.origin === '{elsewhere}' && document.readyState === 'complete'")

        def ask(server: str, path: str, headers: dict[str, str]) -> dict[str, Any]:
            answer: dict[str, Any] = page.value(_FETCH % (json.dumps(server + path), json.dumps(headers)))
            return answer

        first = ask(url, GROUP, key)
        assert first["status"] == 200
        assert json.loads(first["body"])["success"] is True
        assert {name.lower() for name in EXPOSED} - {"retry-after"} <= set(first["headers"])
        assert first["headers"]["x-credits-remaining"] == "1"
        assert ask(url, GROUP, key | {"If-None-Match": first["headers"]["etag"]})["status"] == 304
        assert ask(url, "/v1/nothing", key)["status"] == 404
        assert ask(url, GROUP, {})["status"] == 401
        assert ask(url, GROUP, key)["status"] == 200
        limited = ask(url, GROUP, key)
        assert (limited["status"], int(limited["headers"]["retry-after"]) > 0) == (429, True)
        for server, path, headers in (
            (closed, GROUP, key),
            (closed, "/v1/health", {}),
            (url, "/docs", {}),
            (url, "/healthz", {}),
            (url, GROUP, {"X-Other": "1"}),
        ):
            assert ask(server, path, headers) == {"blocked": "TypeError"}
