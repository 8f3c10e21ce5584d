"""Every error of every operation, provoked over HTTP at gunicorn: its status, its code, and the one shape."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from tests.demo_service import demo_service
from tests.described import Described
from tests.outages import no_connections
from tests.processes import StartGunicorn
from tests.service import Answer, Service
from tests.waiting import eventually
from wallet_api.database import Connection
from wallet_api.keys import create_key, revoke_key
from wallet_api.responses.examples import MINT
from wallet_api.settings import Settings

SOLANA = "So11111111111111111111111111111111111111112"
LIST = "/v1/wallets?blockchain=solana&type=kol"
VOLUME = "/v1/transactions/volume?blockchain=solana&type=kol"
EVM = "0xabcdef0123456789abcdef0123456789abcdef01"
NOT_TEXT = ("\0", b"\xff", "\N{PILE OF POO}")
NO_NUMBER = (
    *("-1", "1.5", "1e3", "ten", "+1", " 1", "1 ", "\0", "\u0663", "0x10", "1_0"),
    # Too long for a number, though it is 0.
    "0" * 5000,
)
INJECTED = (
    *(
        "'",
        "''",
        "' OR '1'='1",
        "'; DROP TABLE wallets; --",
        '"; DROP TABLE wallets; --',
        "\\",
        "{0}",
        "${7*7}",
    ),
    *(
        "1; VALUES (pg_sleep(9))",
        "1' UNION TABLE api_keys --",
        "$1",
        "%s",
        "%(blockchain)s",
    ),
    *(
        "%%",
        "E'\\x27'",
        "kol/**/OR/**/1=1",
        "solana') OR true --",
        "NULL",
        "0x27",
        "\u02bc OR 1=1",
        "\uff07 OR 1=1",
    ),
)
# By parameter: values that no operation takes. A mint may be any text of up to 128 characters.
WRONG: dict[str, tuple[str | bytes, ...]] = {
    "blockchain": ("bitcoin", "SOLANA", *NOT_TEXT, *INJECTED),
    "type": ("dolphin", "KOL", *NOT_TEXT, *INJECTED),
    "address": ("x", SOLANA[:-1], SOLANA + "1", SOLANA.replace("S", "0"), f" {SOLANA}", *NOT_TEXT, *INJECTED),
    "mint": ("\0", "x" * 129),
    "limit": ("0", *NO_NUMBER, *INJECTED),
    "cursor": ("x", "AAAA", "\u00e9", "A" * 5000, "null", "0", "==", *NOT_TEXT, *INJECTED),
    "period": ("1h", "1D", "1d ", "30", "all", "\0", *INJECTED),
    "sort": ("rank", "\0", *INJECTED),
    "min_txn": ("0", *NO_NUMBER, *INJECTED),
    "mode": ("win_rate", "\0", *INJECTED),
    "seconds": ("0", *NO_NUMBER, *INJECTED),
    "minutes": ("0", *NO_NUMBER, *INJECTED),
    "hours": ("0", *NO_NUMBER, *INJECTED),
    "overview": ("no", "\0", *INJECTED),
    "since": ("yesterday", "1700000000", "0001-01-01T00:00:00+23:59", "\0", *INJECTED),
    "until": ("yesterday", "1700000000", "0001-01-01T00:00:00+23:59", "\0", *INJECTED),
}
ALLOWED = {"blockchain": ["solana", "bnb", "base", "eth"], "period": ["6h", "1d", "7d", "30d"]}


class Table:
    """A service with data, and each of its operations with a key as it should be requested."""

    def __init__(self, service: Service, address: str) -> None:
        self.service = service
        self.described = Described(service.ask("/v1/openapi.json").body)
        known = {"blockchain": "solana", "type": "kol", "address": address, "period": "7d"}
        known |= {"mint": MINT, "mode": "most_traded"}
        self.requests = {
            path: {name: known[name] for name in self.described.required(path)}
            for path in self.described.keyed_paths
        }

    def ask(self, path: str, query: dict[str, Any], key: str | None = "") -> Answer:
        """Send a request, and assert that the response is as it is described."""
        answer = self.service.ask(f"{path}?{urlencode(query, quote_via=quote)}", key=key)
        self.described.check(path, answer.status, answer.body, set(answer.headers))
        return answer

    def refused(
        self, path: str, query: dict[str, Any], status: int, code: str, key: str | None = "", **error: Any
    ) -> Answer:
        """Send a request and assert that the response is this error."""
        answer = self.service.refused(f"{path}?{urlencode(query, quote_via=quote)}", status, code, key=key)
        self.described.check(path, answer.status, answer.body, set(answer.headers))
        assert answer.error | error == answer.error, (path, query, answer.text)
        return answer


@pytest.fixture
def table(gunicorn: StartGunicorn, settings: Settings, connection: Connection) -> Iterator[Table]:
    with demo_service(settings) as demo:
        key = create_key(connection, "all may be done", rate="1000000/minute")
        server = gunicorn(replace(demo.settings, statement_timeout_seconds=1.0), workers=1, threads=4)
        yield Table(Service(server, key), demo.wallet("solana", "kol"))


def test_every_operation_responds_as_described_and_with_304_to_its_etag(table: Table) -> None:
    of_keys = {"X-Request-ID", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"}
    for path, query in table.requests.items():
        answer = table.ask(path, query)
        assert (answer.status, answer.body["success"]) == (200, True), answer.text
        assert of_keys | {"Cache-Control", "ETag"} <= set(answer.headers)
        request = f"{path}?{urlencode(query)}"
        same = table.service.ask(request, **{"If-None-Match": answer.headers["ETag"]})
        assert (same.status, same.text) == (304, "")
        # A HEAD is a GET without a body.
        head = table.service.ask(request, method="HEAD")
        assert (head.status, head.text) == (200, "")
        assert head.headers["Content-Type"] == "application/json"


def test_every_operation_refuses_every_key_that_may_not(table: Table, connection: Connection) -> None:
    spent = create_key(connection, "spent", credits=0)
    revoked, expired = (create_key(connection, name) for name in ("revoked", "expired"))
    revoke_key(connection, "revoked")
    connection.execute("UPDATE api_keys SET expires_at = now() WHERE name = 'expired'")
    of_keys = {"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"}
    for path, query in table.requests.items():
        answer = table.refused(path, query, 401, "unauthorized", key=None, reason="missing_api_key")
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        for key, reason in (
            ("wk_wrong", "invalid_api_key"),
            (revoked, "revoked_api_key"),
            (expired, "expired_api_key"),
            (spent, "insufficient_credits"),
        ):
            answer = table.refused(path, query, 403, "forbidden", key=key, reason=reason)
            assert of_keys & set(answer.headers) == (of_keys if key == spent else set())
        slow = create_key(connection, f"slow on {path}", rate="1/hour")
        assert table.ask(path, query, key=slow).status == 200
        answer = table.refused(path, query, 429, "rate_limited", key=slow)
        assert int(answer.headers["Retry-After"]) > 0
        assert answer.headers["X-RateLimit-Remaining"] == "0"


def test_every_operation_refuses_every_argument_that_is_wrong(table: Table) -> None:
    for path, query in table.requests.items():
        names = table.described.parameters(path)
        for name in names:
            for value in WRONG[name]:
                changed = query | {name: value}
                if name in ("seconds", "minutes", "hours") and value == "0":
                    changed |= dict.fromkeys(("seconds", "minutes", "hours"), value)
                answer = table.refused(path, changed, 400, "invalid_parameter")
                assert answer.error["parameter"] in (name, "seconds"), (path, changed)
                if name in ALLOWED:
                    assert answer.error["allowed"] == ALLOWED[name]
            twice = query | {name: ["1", "1"]}
            answer = table.service.refused(f"{path}?{urlencode(twice, doseq=True)}", 400, "invalid_parameter")
            assert answer.error["parameter"] == name
        for name in query:
            code = "missing_parameter" if name in ("address", "mint") else "invalid_parameter"
            table.refused(path, query | {name: ""}, 400, code, parameter=name)
            left = {other: value for other, value in query.items() if other != name}
            table.refused(path, left, 400, code, parameter=name)
        # What other operations take, and what none does.
        for name in {*WRONG, "limitt", "\0", "", "x" * 7000, *INJECTED} - names:
            answer = table.refused(path, query | {name: "1"}, 400, "invalid_parameter")
            assert set(answer.error["allowed"]) == names


def test_arguments_that_do_not_fit_each_other(table: Table) -> None:
    for path, query in table.requests.items():
        if {"blockchain", "type"} <= table.described.parameters(path):
            for chain, kind, allowed in (("eth", "whale", ["kol"]), ("bnb", "whale", ["kol", "smart"])):
                changed = query | {"blockchain": chain, "type": kind}
                changed |= {"address": EVM} if "address" in query else {}
                table.refused(path, changed, 400, "invalid_parameter", parameter="type", allowed=allowed)
        if "address" in query:
            missing = query | {"address": SOLANA}
            if "blockchain" in query:
                table.refused(path, missing, 404, "not_found", reason="wallet_not_found")
                changed = query | {"address": EVM}
                table.refused(path, changed, 400, "invalid_parameter", parameter="address")
            else:
                assert table.ask(path, missing).body["data"]["found"] is False
    path = "/v1/wallets/history"
    query = table.requests[path]
    table.refused(path, query | {"type": "smart"}, 404, "not_found", reason="wallet_not_found")
    for since in ("2026-01-01", "2026-01-02"):
        bounds = {"since": since, "until": "2026-01-01"}
        table.refused(path, query | bounds, 400, "invalid_parameter", parameter="since")


def test_numbers_beyond_all_measure_and_malformed_escapes_crash_nothing(table: Table) -> None:
    service = table.service
    # A number larger than any is as good as a large one.
    for number in ("9" * 18, "9" * 30, "9" * 5000, "0" * 3000 + "1"):
        for path, query in table.requests.items():
            if "limit" in table.described.parameters(path):
                assert table.ask(path, query | {"limit": number}).status == 200
        answer = service.ask(f"{VOLUME}&hours={number}")
        assert answer.body["data"]["time_window_seconds"] in (3600, 86_400)
    # What is no percent-escape is taken as it is.
    for escape in ("%", "%z", "%zz", "%f", "%u0041", "%ff%fe", "%ed%a0%80", "%00"):
        service.refused(f"/v1/wallets?blockchain={escape}&type=kol", 400, "invalid_parameter")
        service.refused(f"/v1/wallets?{escape}=solana", 400, "invalid_parameter")
    assert service.ask(f"{VOLUME}&mint=%").body["data"]["mint"] == "%"
    # Not even a key may hold them.
    service.refused(f"{LIST}&api_key=%00%ff", 403, "forbidden", key=None)


def test_unknown_routes_and_wrong_methods_are_reported_with_and_without_a_key(table: Table) -> None:
    service = table.service
    for key in ("", None, "wk_wrong"):
        for path in (
            *("/v0", "/v1", "/v1/", "/v2/wallets", "/v1/wallets/", "/v1/wallets/nobody", "/v1//wallets"),
            *("/V1/wallets", "/v1/wallets%00", "/v1/%2e%2e/wallets", "/v1/wallets/../wallets", "/%ff", "/%"),
            *("/v1/wallets%", "/%3Cscript%3E", "/" + "x" * 2000, "/favicon.ico", "/v1/wallets;a=b"),
        ):
            service.refused(path, 404, "not_found", key=key)
        for path in table.requests:
            for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"):
                answer = service.refused(path, 405, "method_not_allowed", key=key, method=method)
                assert set(answer.headers["Allow"].split(", ")) == {"GET", "HEAD"}


def test_operations_of_the_public_api_that_are_missing_are_reported_with_and_without_a_key(
    table: Table,
) -> None:
    service = table.service
    for key in ("", None, "wk_wrong"):
        for name in ("signals", "signals/history", "bundle", "calls", "calls/stats"):
            answer = service.refused(f"/v1/{name}?blockchain=solana", 404, "not_found", key=key)
            assert answer.error["message"].startswith(f"The operation '/v1/{name}' is not offered here.")
        for name in ("wallets/batch", "tokens/batch"):
            answer = service.refused(f"/v1/{name}", 404, "not_found", key=key, method="POST")
            assert answer.error["message"].startswith(f"The operation '/v1/{name}' is not offered here.")
        for path in ("/?apiKey=wk_any", "/", "/v1/?apiKey=wk_any"):
            upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
            answer = service.refused(path, 404, "not_found", key=key, **upgrade)
            assert answer.error["message"].startswith("A websocket is not offered here.")
    assert service.ask("/").status == 200


@pytest.mark.settings(answer_ttl_seconds=0, leaderboard_ttl_seconds=0)
def test_a_crash_of_a_view_reveals_nothing_of_its_cause(table: Table, connection: Connection) -> None:
    connection.execute(
        "ALTER TABLE wallets RENAME TO moved_wallets; ALTER TABLE tokens RENAME TO moved_tokens"
    )
    connection.execute("ALTER TABLE volume_rollup RENAME TO moved_rollup")
    for path, query in table.requests.items():
        answer = table.refused(path, query, 500, "internal_error")
        assert answer.headers["X-RateLimit-Limit"] == "1000000"
        # The operator finds the cause in the log, under the caller's request_id.
        assert answer.error["request_id"] in table.service.server.log
    assert "UndefinedTable" in table.service.server.log


@pytest.mark.settings(answer_ttl_seconds=0, leaderboard_ttl_seconds=0)
def test_a_query_that_takes_too_long_is_503_with_the_time_to_wait(
    table: Table, connection: Connection
) -> None:
    table.service.ask(LIST)
    with connection.transaction():
        connection.execute("LOCK wallets, trades, volume_rollup IN ACCESS EXCLUSIVE MODE")
        for path in ("/v1/wallets/history", "/v1/transactions/volume", "/v1/wallet/leaderboard"):
            answer = table.refused(path, table.requests[path], 503, "service_unavailable")
            assert int(answer.headers["Retry-After"]) >= 1
    assert table.service.ask(LIST).status == 200


@pytest.mark.settings(answer_ttl_seconds=0, leaderboard_ttl_seconds=0)
def test_a_database_that_is_away_is_503_and_its_return_is_noticed(
    table: Table, servers: Settings, connection: Connection
) -> None:
    table.service.ask(LIST)
    with no_connections(servers, connection):
        for path, query in table.requests.items():
            answer = table.refused(path, query, 503, "service_unavailable")
            assert int(answer.headers["Retry-After"]) >= 1
    # Within two seconds of its return, whatever the pause between two tries to connect.
    assert eventually(lambda: table.service.ask(LIST).status == 200, 2)
