"""CORS_ORIGINS: which web pages may read the responses."""

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.api.conftest import NewCaller
from tests.ledger.caller import LIST
from wallet_api.database import Connection

APP = "https://app.example.com"
OTHER = "https://other.example.com"
BOTH = f"{APP},https://admin.example.com:8443"
EXPOSED = {
    *("ETag", "Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"),
    *("X-Credits-Remaining", "X-Request-ID", "Link", "X-Next-Cursor", "X-Warnings"),
}
PREFLIGHT = {
    "Origin": APP,
    "Access-Control-Request-Method": "GET",
    "Access-Control-Request-Headers": "authorization,if-none-match",
}


def _is_allowed(response: TestResponse, origin: str, status: int) -> None:
    assert response.status_code == status
    headers = response.headers
    assert headers.getlist("Access-Control-Allow-Origin") == [origin]
    assert set(headers["Access-Control-Expose-Headers"].split(", ")) == EXPOSED
    assert headers.getlist("Cross-Origin-Resource-Policy") == ["cross-origin"]
    assert ("Origin" in response.vary) == (origin != "*")
    assert "Access-Control-Allow-Credentials" not in headers


def _is_closed(response: TestResponse) -> None:
    assert [name for name in dict(response.headers) if name.startswith("Access-Control")] == []
    assert response.headers.getlist("Cross-Origin-Resource-Policy") == ["same-origin"]


@pytest.mark.settings(cors_origins=BOTH, leaderboard_ttl_seconds=0)
def test_a_page_of_an_allowed_origin_can_read_every_response(
    client: FlaskClient, new_caller: NewCaller, connection: Connection
) -> None:
    caller, spent, slow = new_caller(), new_caller("spent", credits=0), new_caller("slow", rate="1/day")
    slow.send()
    etag = caller.send().headers["ETag"]
    for origin in BOTH.split(","):
        page = {"Origin": origin}
        for response, status in (
            (caller.send(headers=page), 200),
            (caller.send(headers=page | {"If-None-Match": etag}), 304),
            (caller.send("/wallets", headers=page), 400),
            (client.get(f"/v1{LIST}", headers=page), 401),
            (spent.send(headers=page), 403),
            (slow.send(headers=page), 429),
            (caller.send("/nothing", headers=page), 404),
            (caller.send(headers=page, method="POST"), 405),
            (client.get("/v1/openapi.json", headers=page), 200),
            (client.get("/v1/health", headers=page), 200),
        ):
            _is_allowed(response, origin, status)
    connection.execute("ALTER TABLE wallets RENAME COLUMN address TO moved")
    _is_allowed(caller.send(headers={"Origin": APP}), APP, 500)


@pytest.mark.settings(cors_origins=APP)
def test_a_preflight_needs_no_key_and_costs_and_counts_nothing(new_caller: NewCaller) -> None:
    caller = new_caller(credits=1, rate="1/day")
    for path in (LIST, "/wallets", "/nothing"):
        response = caller.send(path, headers=PREFLIGHT, method="OPTIONS")
        _is_allowed(response, APP, 204)
        assert response.data == b""
        assert response.headers["Access-Control-Allow-Methods"] == "GET, HEAD"
        assert response.headers["Access-Control-Allow-Headers"] == "authorization, if-none-match"
        assert int(response.headers["Access-Control-Max-Age"]) > 0
        assert not {"X-RateLimit-Limit", "X-Credits-Remaining", "Content-Type"} & {*response.headers.keys()}
    response = caller.send()
    assert (response.status_code, response.headers["X-Credits-Remaining"]) == (200, "0")
    preflight = PREFLIGHT | {"Access-Control-Request-Headers": "authorization,x-other"}
    response = caller.send(headers=preflight, method="OPTIONS")
    assert response.headers["Access-Control-Allow-Headers"] == "authorization"
    preflight = PREFLIGHT | {"Access-Control-Request-Method": "DELETE"}
    assert "Access-Control-Allow-Methods" not in caller.send(headers=preflight, method="OPTIONS").headers


@pytest.mark.settings(cors_origins=APP)
def test_no_other_origin_is_allowed(client: FlaskClient) -> None:
    for origin in (OTHER, "null", f"{APP}.evil.example", f"{APP}:8443", "http://app.example.com", "", None):
        response = client.get("/v1/health", headers={} if origin is None else {"Origin": origin})
        _is_closed(response)
        # A cache must not give this response to the page that may read it.
        assert "Origin" in response.vary
        _is_closed(client.options(f"/v1{LIST}", headers=PREFLIGHT | {"Origin": origin or ""}))


@pytest.mark.settings(cors_origins=BOTH)
def test_nothing_outside_of_v1_is_for_pages_of_other_origins(client: FlaskClient) -> None:
    for path in ("/", "/docs", "/docs/docs.js", "/healthz", "/readyz", "/metrics", "/v1x"):
        response = client.get(path, headers={"Origin": APP})
        _is_closed(response)
        assert "Origin" not in response.vary
        assert client.options(path, headers=PREFLIGHT).status_code in (404, 405)


@pytest.mark.settings(cors_origins="*")
def test_a_star_allows_all_origins_with_one_response_for_all(
    client: FlaskClient, new_caller: NewCaller
) -> None:
    caller = new_caller()
    for headers in ({"Origin": APP}, {"Origin": "null"}, {}):
        _is_allowed(caller.send(headers=headers), "*", 200)
    _is_allowed(caller.send(headers=PREFLIGHT, method="OPTIONS"), "*", 204)
    _is_closed(client.get("/docs", headers={"Origin": APP}))


def test_unset_no_page_of_another_origin_can_read_anything(new_caller: NewCaller) -> None:
    response = new_caller().send(headers={"Origin": APP})
    _is_closed(response)
    assert "Origin" not in response.vary
    refused = new_caller("other").send(headers=PREFLIGHT, method="OPTIONS")
    assert (refused.status_code, set(refused.headers["Allow"].split(", "))) == (405, {"GET", "HEAD"})
    _is_closed(refused)
