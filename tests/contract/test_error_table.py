"""Each operation with each fault, over HTTP at gunicorn: status, code, and the one shape of errors."""

import http.client
import json
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import pytest

from tests.documents.described import Described
from tests.lib.demo_service import DemoService
from tests.lib.outages import no_connections
from tests.lib.processes import Gunicorn, start_gunicorn
from tests.lib.waiting import eventually
from wallet_api.api.keys import create_key, revoke_key
from wallet_api.database import Connection, connect
from wallet_api.settings import Settings

SOLANA = "So11111111111111111111111111111111111111112"
EVM = "0xabcdef0123456789abcdef0123456789abcdef01"
GROUP = {"blockchain": "solana", "type": "kol"}
LIST = "/v1/wallets?blockchain=solana&type=kol"
VOLUME = "/v1/transactions/volume?blockchain=solana&type=kol"
NOT_TEXT = ("\0", b"\xff", "\N{PILE OF POO}")
# The last is too long for a number, though it is 0.
NO_NUMBER = ("-1", "1.5", "1e3", "ten", "+1", " 1", "1 ", "\0", "\u0663", "0x10", "1_0", "0" * 5000)
INJECTED = """'
''
' OR '1'='1
'; DROP TABLE wallets; --
"; DROP TABLE wallets; --
\\
{0}
${7*7}
1; VALUES (pg_sleep(99))
1' UNION TABLE api_keys --
$1
%s
%(blockchain)s
%%
E'\\x27'
kol/**/OR/**/1=1
solana') OR true --
NULL
0x27
\u02bc OR 1=1
\uff07 OR 1=1""".splitlines()
# All of them are sent where any text is valid.
_SOME = INJECTED[::4]
_NO_CURSOR = ("x", "AAAA", "\u00e9", "A" * 5000, "null", "0", "==", *NOT_TEXT, *_SOME)
_NO_DECIMAL = ("-1", "1e3", "ten", "+1", " 1", "NaN", "Infinity", ".5", "\u0663", "1" * 200, "\0", *_SOME)
_NO_TIME = ("yesterday", "1700000000", "1712121512345", "2026-W01", "0001-01-01T00:00:00+23:59", "\0", *_SOME)
# By parameter: values that no operation takes.
WRONG: dict[str, tuple[str | bytes, ...]] = {
    "blockchain": ("bitcoin", "SOLANA", *NOT_TEXT, *_SOME),
    "type": ("dolphin", "KOL", *NOT_TEXT, *_SOME),
    "address": ("x", SOLANA[:-1], SOLANA + "1", SOLANA.replace("S", "0"), f" {SOLANA}", *NOT_TEXT, *_SOME),
    "mint": ("x", SOLANA[:-1], "0x" + "1" * 40, *NOT_TEXT, *_SOME),
    "q": (" ", "x" * 65, "\0", "a\0"),
    "timezone": ("Nowhere/Land", "+2", "utc+1", "posix/UTC", "\0", *_SOME),
    "cursor": ("now", "start", *_NO_CURSOR),
    "after": _NO_CURSOR,
    "transaction_type": ("both", "BUY", "\0", *_SOME),
    "period": ("2h", "1D", "1d ", "30", "ever", "\0", *_SOME),
    **dict.fromkeys(("sort", "order"), ("rank", "\0", *_SOME)),
    "format": ("xml", "CSV", "\0", *_SOME),
    "bom": ("yes", "True", "\0", *_SOME),
    "amounts": ("text", "Number", "\0", *_SOME),
    **dict.fromkeys(("mode", "signal"), ("best", "\0", *_SOME)),
    **dict.fromkeys(
        ("overview", "include_wallets", "still_holding", "chart", "copied", "tokens", "trades", "dates"),
        ("no", "\0", *_SOME),
    ),
    **dict.fromkeys(
        (
            "limit",
            "min_txn",
            "min_closed",
            "min_active_days",
            "min_wallets",
            "min_transactions",
            "seconds",
            "minutes",
            "hours",
        ),
        ("0", *NO_NUMBER, *_SOME),
    ),
    **dict.fromkeys(
        (
            *("min_value", "min_value_usd", "min_volume", "min_win_rate", "max_without_cost"),
            *("min_win_rate_low", "min_profit_factor", "max_open_cost", "max_fast_share", "max_drawdown"),
        ),
        _NO_DECIMAL,
    ),
    # 0 is one, in as many digits as it may have.
    "delay": ("3601", *NO_NUMBER[:-1], *_SOME),
    "fee_percent": ("100.01", *_NO_DECIMAL),
    "size": ("0", *_NO_DECIMAL),
    **dict.fromkeys(("since", "until", "as_of"), _NO_TIME),
}
ALLOWED = {"blockchain": ["solana", "bnb", "base", "eth", "rh"], "period": ["6h", "1d", "7d", "30d"]}
# No body may contain markup or internal details.
FORBIDDEN = (
    *("<!doctype", "<html", "</", "psycopg", "postgres", "relation", "column", "traceback", "select "),
    *("line 1", "werkzeug"),
)
# Threads of the service; three quarters of them may wait.
THREADS, AT_ONCE = 16, 12
# Reads nothing but the key, and is free.
KEY = "/v1/key"
OF_KEYS = {"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"}


class _AnyPath(http.client.HTTPConnection):
    """A connection that also sends paths with invalid characters."""

    def _validate_path(self, url: str) -> None:
        pass


@dataclass
class Answer:
    """A response, with its body read."""

    status: int
    headers: http.client.HTTPMessage
    text: str
    body: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.body = json.loads(self.text) if self.text else {}

    @property
    def error(self) -> dict[str, Any]:
        """The error object."""
        error: dict[str, Any] = self.body["error"]
        return error


@dataclass(frozen=True)
class Table:
    """A running service, an unlimited key, and each operation that needs one, with valid arguments."""

    server: Gunicorn
    key: str
    connection: Connection
    described: Described
    requests: dict[str, dict[str, Any]]
    # Of which nothing is cached before the service fails.
    other_address: str

    def failing(self, status: int, code: str) -> Iterator[Answer]:
        """Send each request for data at once, and yield the responses, which must be this error."""

        def send(path: str) -> Answer:
            query = self.requests[path]
            own = {"address": self.other_address} if "address" in query else {}
            return self.refused(path, query | own, status, code)

        with ThreadPoolExecutor(AT_ONCE) as pool:
            yield from pool.map(send, self.requests.keys() - {KEY})

    def send(
        self,
        path: str,
        query: dict[str, Any] | None = None,
        key: str | None = "",
        method: str = "GET",
        **h: str,
    ) -> Answer:
        """Send a request with this exact path. An empty `key` is the unlimited one; None sends none."""
        sent = h if key is None else {"Authorization": f"Bearer {key or self.key}", **h}
        target = f"{path}?{urlencode(query, quote_via=quote, doseq=True)}" if query is not None else path
        address = urlsplit(self.server.url)
        with closing(_AnyPath(str(address.hostname), address.port, timeout=60)) as connection:
            connection.request(method, target, headers=sent)
            response = connection.getresponse()
            answer = Answer(response.status, response.headers, response.read().decode())
        if path in self.requests and method == "GET" and answer.status != 304:
            self.described.check(path, answer.status, answer.body, set(answer.headers))
        return answer

    def refused(
        self,
        path: str,
        query: dict[str, Any] | None,
        status: int,
        code: str,
        *,
        error: Any = (),
        **options: Any,
    ) -> Answer:
        """Send a request, and assert that the response is this error, in the shape of all errors."""
        answer = self.send(path, query, **options)
        assert (answer.status, answer.error["code"]) == (status, code), (path, query, answer.text)
        assert answer.headers["Content-Type"] == "application/json"
        assert answer.body.keys() == {"success", "error", "meta"}
        assert answer.body["success"] is False
        optional = {"parameter", "allowed", "reason", "retry_after_seconds"}
        assert answer.error.keys() - optional == {"code", "message", "request_id"}
        wait = answer.error.get("retry_after_seconds")
        assert answer.headers["Retry-After"] == (wait if wait is None else str(wait))
        assert answer.error["message"]
        assert None not in answer.error.values()
        meta = answer.body["meta"]
        assert meta.keys() == {"request_id", "cached", "cache_age_seconds", "version", "timestamp"}
        assert (meta["cached"], meta["cache_age_seconds"]) == (False, 0)
        assert answer.error["request_id"] == meta["request_id"] == answer.headers["X-Request-ID"]
        assert meta["request_id"].startswith("req_")
        assert not [word for word in FORBIDDEN if word in answer.text.lower()], answer.text
        assert answer.error | dict(error) == answer.error, (path, query, answer.text)
        return answer


@pytest.fixture(scope="module")
def table(demo: DemoService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    """A service that caches nothing, so that each request meets its fault."""
    settings = replace(
        demo.settings, statement_timeout_seconds=1.0, answer_ttl_seconds=0.0, leaderboard_ttl_seconds=0.0
    )
    log = tmp_path_factory.mktemp("table") / "gunicorn.log"
    server = start_gunicorn(settings, log, workers=1, threads=THREADS)
    known = demo.arguments
    with connect(str(settings.database_url)) as connection:
        other = [row["wallet_address"] for row in demo.wallets if GROUP.items() <= row.items()][1]
        table = Table(server, demo.key, connection, Described({"components": {}}), {}, other)
        described = Described(table.send("/v1/openapi.json").body)
        requests = {
            path: {name: known.get(name) or example for name, example in described.required(path).items()}
            for path in described.keyed_paths
        }
        yield replace(table, described=described, requests=requests)
    server.stop()


def test_every_operation_responds_as_described_and_with_304_to_its_etag(table: Table) -> None:
    for path, required in table.requests.items():
        # Signals of now are of each second anew.
        query = required | ({"as_of": "2026-01-30"} if path == "/v1/signals" else {})
        answer = table.send(path, query)
        assert (answer.status, answer.body["success"]) == (200, True), answer.text
        assert OF_KEYS | {"X-Request-ID", "Cache-Control"} <= set(answer.headers)
        assert ("ETag" in answer.headers) == (path != KEY)
        if path != KEY:
            # A trade may leave the period between two requests, but not always.
            assert eventually(partial(_is_unchanged, table, path, query)), path
        # A HEAD is a GET without a body.
        head = table.send(path, query, method="HEAD")
        assert (head.status, head.text) == (200, "")
        assert head.headers["Content-Type"] == "application/json"


def _is_unchanged(table: Table, path: str, query: Any) -> bool:
    etag = table.send(path, query).headers["ETag"]
    same = table.send(path, query, **{"If-None-Match": etag})
    return (same.status, same.text) == (304, "")


def test_a_key_that_may_not_is_refused_as_described(table: Table) -> None:
    """That every operation has the same gate is in tests/api/test_gate.py."""
    spent = create_key(table.connection, "spent", credits=0)
    revoked, expired = (create_key(table.connection, name) for name in ("revoked", "expired"))
    revoke_key(table.connection, "revoked")
    table.connection.execute("UPDATE api_keys SET expires_at = now() WHERE name = 'expired'")
    path, query = "/v1/wallets", table.requests["/v1/wallets"]
    answer = table.refused(path, query, 401, "unauthorized", key=None, error={"reason": "missing_api_key"})
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    for key, reason in (
        ("wk_wrong", "invalid_api_key"),
        (revoked, "revoked_api_key"),
        (expired, "expired_api_key"),
        (spent, "insufficient_credits"),
    ):
        answer = table.refused(path, query, 403, "forbidden", key=key, error={"reason": reason})
        assert OF_KEYS & set(answer.headers) == (OF_KEYS if key == spent else set())
    slow = create_key(table.connection, "slow", rate="1/hour")
    assert table.send(path, query, key=slow).status == 200
    answer = table.refused(path, query, 429, "rate_limited", key=slow)
    assert int(answer.headers["Retry-After"]) > 0
    assert answer.headers["X-RateLimit-Remaining"] == "0"


def test_every_operation_refuses_every_argument_that_is_wrong(table: Table) -> None:
    operations = Counter(chain.from_iterable(map(table.described.parameters, table.requests)))
    sent: Counter[str] = Counter()
    for place, (path, query) in enumerate(table.requests.items()):
        names = table.described.parameters(path)
        for name in names:
            # Where many operations have an argument, each of its values is sent to a third of them.
            shares = 3 if operations[name] >= 6 else 1
            for value in WRONG[name][sent[name] % shares :: shares]:
                changed = query | {name: value}
                if name in ("seconds", "minutes", "hours") and value == "0":
                    changed |= dict.fromkeys(("seconds", "minutes", "hours"), value)
                answer = table.refused(path, changed, 400, "invalid_parameter")
                assert answer.error["parameter"] in (name, "seconds"), (path, changed)
                if (path, name) == ("/v1/analytics", "period"):
                    # A period of another mode is refused with those of this one.
                    assert answer.error["allowed"] in (ALLOWED[name], ["1h", *ALLOWED[name]])
                elif name in ALLOWED:
                    more = ["90d", "all"] if name == "period" else []
                    assert answer.error["allowed"] == [*ALLOWED[name], *more]
            sent[name] += 1
            twice = query | {name: ["1", "1"]}
            table.refused(path, twice, 400, "invalid_parameter", error={"parameter": name})
        for name in query:
            code = "missing_parameter" if name in ("address", "mint") else "invalid_parameter"
            left = {other: value for other, value in query.items() if other != name}
            for changed in (left, query | {name: ""}):
                table.refused(path, changed, 400, code, error={"parameter": name})
        # What other operations take, and what none does.
        for name in sorted({*WRONG, "limitt", "\0", "", "x" * 7000, *_SOME} - names)[place % 3 :: 3]:
            answer = table.refused(path, query | {name: "1"}, 400, "invalid_parameter")
            assert set(answer.error["allowed"]) == names
            listed = ", ".join(answer.error["allowed"]) or "none"
            assert answer.error["message"].endswith(f" Allowed: {listed}.")


def test_arguments_that_do_not_fit_each_other(table: Table) -> None:
    untracked = {"reason": "wallet_not_found"}
    for path, query in table.requests.items():
        if {"blockchain", "type"} <= table.described.parameters(path):
            for blockchain, allowed in (("eth", ["kol"]), ("bnb", ["kol", "smart"])):
                changed = query | {"blockchain": blockchain}
                changed |= {"address": EVM} if "address" in query else {}
                merged = [type for type in table.described.words(path, "type") if type == "all"]
                error = {"parameter": "type", "allowed": [*allowed, *merged]}
                for type in ("whale", "dolphin", *([""] if "type" in query else [])):
                    table.refused(path, changed | {"type": type}, 400, "invalid_parameter", error=error)
        if "address" in query:
            missing = query | {"address": SOLANA}
            if "blockchain" in query:
                table.refused(path, missing, 404, "not_found", error=untracked)
                error = {"parameter": "address"}
                table.refused(path, query | {"address": EVM}, 400, "invalid_parameter", error=error)
            else:
                assert table.send(path, missing).body["data"]["found"] is False
    path = "/v1/wallets/history"
    query = table.requests[path]
    table.refused(path, query | {"type": "smart"}, 404, "not_found", error=untracked)
    for since in ("2026-01-01", "2026-01-02"):
        bounds = {"since": since, "until": "2026-01-01"}
        table.refused(path, query | bounds, 400, "invalid_parameter", error={"parameter": "since"})


def test_numbers_beyond_all_measure_and_malformed_escapes_crash_nothing(table: Table) -> None:
    # A number larger than any is as good as a large one.
    limited = [path for path in table.requests if "limit" in table.described.parameters(path)]
    for place, number in enumerate(("9" * 18, "9" * 30, "9" * 5000, "0" * 3000 + "1")):
        for path in limited[place % 2 :: 2]:
            assert table.send(path, table.requests[path] | {"limit": number}).status == 200
        answer = table.send(f"{VOLUME}&hours={number}")
        assert answer.body["data"]["time_window_seconds"] in (3600, 86_400)
    # What is no percent-escape is taken as it is.
    for escape in ("%", "%z", "%zz", "%f", "%u0041", "%ff%fe", "%ed%a0%80", "%00"):
        table.refused(f"/v1/wallets?blockchain={escape}&type=kol", None, 400, "invalid_parameter")
        table.refused(f"/v1/wallets?{escape}=solana", None, 400, "invalid_parameter")
    assert table.send("/v1/search?q=%").body["data"]["q"] == "%"
    # Not even a key may hold them.
    table.refused(f"{LIST}&api_key=%00%ff", None, 403, "forbidden", key=None)


@pytest.mark.parametrize("key", ["", None, "wk_wrong"])
def test_what_is_not_offered_is_reported_with_and_without_a_key(table: Table, key: str | None) -> None:
    for path in (
        *("/v0", "/v1", "/v1/", "/v2/wallets", "/v1/wallets/", "/v1/wallets/nobody", "/v1//wallets"),
        *("/V1/wallets", "/v1/wallets%00", "/v1/%2e%2e/wallets", "/v1/wallets/../wallets", "/%ff", "/%"),
        *("/v1/wallets%", "/%3Cscript%3E", "/" + "x" * 2000, "/favicon.ico", "/v1/wallets;a=b"),
    ):
        table.refused(path, None, 404, "not_found", key=key)
    for path in table.requests:
        for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"):
            answer = table.refused(path, None, 405, "method_not_allowed", key=key, method=method)
            assert set(answer.headers["Allow"].split(", ")) == {"GET", "HEAD"}
            assert answer.error["allowed"] == ["GET", "HEAD"]
    for name, method in (
        *((name, "GET") for name in ("signals/history", "bundle", "calls", "calls/stats")),
        *((name, "POST") for name in ("wallets/batch", "tokens/batch")),
    ):
        answer = table.refused(f"/v1/{name}", None, 404, "not_found", key=key, method=method)
        assert answer.error["message"].startswith(f"The operation '/v1/{name}' is not offered here.")
        assert ("as_of" in answer.error["message"]) is (name == "signals/history")
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    for path in ("/?apiKey=wk_any", "/", "/v1/?apiKey=wk_any"):
        answer = table.refused(path, None, 404, "not_found", key=key, **upgrade)
        assert answer.error["message"].startswith("A websocket is not offered here.")
    assert table.send("/").status == 200


def test_a_crash_of_a_view_reveals_nothing_of_its_cause(table: Table) -> None:
    names = ("wallets", "tokens", "volume_rollup")
    for name in names:
        table.connection.execute(f"ALTER TABLE {name} RENAME TO moved_{name}".encode())
    try:
        for answer in table.failing(500, "internal_error"):
            assert set(answer.headers) >= OF_KEYS
            # The operator finds the cause in the log, under the caller's request_id.
            assert answer.error["request_id"] in table.server.log
    finally:
        for name in names:
            table.connection.execute(f"ALTER TABLE moved_{name} RENAME TO {name}".encode())
    assert "UndefinedTable" in table.server.log


def test_a_database_that_is_away_is_503_and_its_return_is_noticed(table: Table, servers: Settings) -> None:
    with no_connections(servers, table.connection):
        for answer in table.failing(503, "service_unavailable"):
            assert int(answer.headers["Retry-After"]) >= 1
    # Within two seconds of its return, whatever the pause between two tries to connect.
    assert eventually(lambda: table.send(LIST).status == 200)
