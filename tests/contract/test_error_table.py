"""Every error, provoked over HTTP at gunicorn: its status, its code, and the one shape."""

import time
from dataclasses import replace
from urllib.parse import urlsplit

import pytest
from psycopg.sql import SQL, Identifier

from tests.ledger.in_process import Importer
from tests.processes import StartGunicorn
from tests.service import Service
from wallet_api.database import Connection, connect
from wallet_api.keys import create_key, revoke_key
from wallet_api.settings import Settings

SOLANA = "So11111111111111111111111111111111111111112"
UNTRACKED = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"
EVM = "0xabcdef0123456789abcdef0123456789abcdef01"

# Each operation, called as it should be.
GOOD = {
    "list": "/v1/wallets?blockchain=solana&type=kol",
    "history": f"/v1/wallets/history?blockchain=solana&type=kol&address={SOLANA}",
    "lookup": f"/v1/wallets/lookup?address={SOLANA}",
    "holdings": f"/v1/wallets/holdings?blockchain=solana&address={SOLANA}",
    "calendar": f"/v1/wallet/pnl_calendar?blockchain=solana&address={SOLANA}",
    "connections": f"/v1/wallets/connections?blockchain=solana&address={SOLANA}",
    "tracker": f"/v1/wallets/tracker?blockchain=solana&address={SOLANA}",
    "tracker alias": f"/v1/wallet/tracking?blockchain=solana&address={SOLANA}&period=6h",
    "volume": "/v1/transactions/volume?blockchain=solana&type=kol",
    "leaderboard": "/v1/wallet/leaderboard?blockchain=solana&type=kol&period=1d",
    "holdings alias": f"/v1/wallet/holdings?blockchain=solana&address={SOLANA}",
    "leaderboard alias": "/v1/wallets/leaderboard?blockchain=solana&type=kol&period=1d",
}
CHAINED = [name for name, path in GOOD.items() if "blockchain=" in path]
GROUPED = [name for name, path in GOOD.items() if "type=" in path]
ADDRESSED = [name for name, path in GOOD.items() if "address=" in path]
LISTS = ["list", "history", "leaderboard", "leaderboard alias"]


@pytest.fixture
def service(
    gunicorn: StartGunicorn, settings: Settings, connection: Connection, database_url: str
) -> Service:
    """A service that tracks one wallet."""
    Importer(database_url).wallets([{"blockchain": "solana", "type": "kol", "wallet_address": SOLANA}])
    key = create_key(connection, "all may be done", rate="1000000/minute")
    quick = replace(settings, statement_timeout_seconds=1.0)
    return Service(gunicorn(quick, workers=1, threads=4), key)


def test_every_operation_responds_to_a_valid_request(service: Service) -> None:
    for name in (name for name in GOOD if "holdings" not in name):
        answer = service.ask(GOOD[name])
        assert (answer.status, answer.body["success"]) == (200, True), answer.text
        assert set(answer.body) == {"success", "data", "meta"}
    # A HEAD is a GET without a body.
    answer = service.ask(GOOD["list"], method="HEAD")
    assert (answer.status, answer.text) == (200, "")
    assert answer.headers["Content-Type"] == "application/json"


def test_every_cell_of_the_error_table(service: Service, connection: Connection) -> None:
    spent = create_key(connection, "spent", credits=0)
    revoked = create_key(connection, "revoked")
    revoke_key(connection, "revoked")
    for name, path in GOOD.items():
        # 401 unauthorized
        answer = service.refused(path, 401, "unauthorized", key=None)
        assert answer.error["reason"] == "missing_api_key"
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        # 403 forbidden
        for key, reason in (("wk_wrong", "invalid_api_key"), (revoked, "revoked_api_key")):
            assert service.refused(path, 403, "forbidden", key=key).error["reason"] == reason
        if "holdings" not in name:
            # With nothing to answer yet, holdings are free.
            answer = service.refused(path, 403, "forbidden", key=spent)
            assert answer.error["reason"] == "insufficient_credits"
        # 429 rate_limited
        slow = create_key(connection, f"slow on {name}", rate="1/minute")
        assert service.ask(path, key=slow).status != 429
        answer = service.refused(path, 429, "rate_limited", key=slow)
        assert int(answer.headers["Retry-After"]) > 0
        assert answer.headers["X-RateLimit-Remaining"] == "0"
    # 400 invalid_parameter
    for name in CHAINED:
        for other in ("", "&blockchain=", "&blockchain=bitcoin", "&blockchain=SOLANA", "&blockchain=%00"):
            changed = GOOD[name].replace("blockchain=solana", other.lstrip("&"))
            answer = service.refused(changed, 400, "invalid_parameter")
            assert answer.error["parameter"] == "blockchain"
            assert answer.error["allowed"] == ["solana", "bnb", "base", "eth"]
    for name in GROUPED:
        for other in ("", "type=", "type=dolphin", "type=KOL"):
            answer = service.refused(GOOD[name].replace("type=kol", other), 400, "invalid_parameter")
            assert answer.error["parameter"] == "type"
        for chain, kind, allowed in (("eth", "whale", ["kol"]), ("bnb", "whale", ["kol", "smart"])):
            path = GOOD[name].replace("blockchain=solana&type=kol", f"blockchain={chain}&type={kind}")
            answer = service.refused(path.replace(SOLANA, EVM), 400, "invalid_parameter")
            assert (answer.error["parameter"], answer.error["allowed"]) == ("type", allowed)
    for name in ADDRESSED:
        for other in ("", "address="):
            answer = service.refused(GOOD[name].replace(f"address={SOLANA}", other), 400, "missing_parameter")
            assert answer.error["parameter"] == "address"
        for other in (
            *([EVM] if name in CHAINED else []),
            SOLANA[:-1],
            SOLANA + "1",
            "x",
            SOLANA.replace("S", "0"),
            "%00",
            "%ff",
            "%F0%9F%92%A9",
        ):
            answer = service.refused(GOOD[name].replace(SOLANA, other), 400, "invalid_parameter")
            assert answer.error["parameter"] == "address"
        # 404 not_found
        if name == "lookup":
            continue
        answer = service.refused(GOOD[name].replace(SOLANA, UNTRACKED), 404, "not_found")
        assert answer.error["reason"] == "wallet_not_found"
    answer = service.refused(GOOD["history"].replace("type=kol", "type=smart"), 404, "not_found")
    assert answer.error["reason"] == "wallet_not_found"


def test_arguments_that_are_not_what_they_should_be(service: Service) -> None:
    for path in GOOD.values():
        answer = service.refused(f"{path}&limitt=1", 400, "invalid_parameter")
        assert answer.error["parameter"] == "limitt"
        known = path.partition("?")[2].partition("=")[0]
        assert known in answer.error["allowed"]
        answer = service.refused(f"{path}&{known}=solana", 400, "invalid_parameter")
        assert answer.error["parameter"] == known
        service.refused(f"{path}&%00=1", 400, "invalid_parameter")
        service.refused(f"{path}&=1", 400, "invalid_parameter")
        service.refused(f"{path}&{'x' * 5000}=1", 400, "invalid_parameter")
    for name in LISTS:
        for limit in (
            "0",
            "-1",
            "1.5",
            "1e3",
            "ten",
            "+1",
            "%201",
            "1%20",
            "%00",
            "%D9%A3",
            "0" * 5000,
            "0x10",
            "1_0",
        ):
            answer = service.refused(f"{GOOD[name]}&limit={limit}", 400, "invalid_parameter")
            assert answer.error["parameter"] == "limit"
        for cursor in ("x", "AAAA", "%00", "%ff", "%C3%A9", "A" * 5000, "null", "0", "=="):
            answer = service.refused(f"{GOOD[name]}&cursor={cursor}", 400, "invalid_parameter")
            assert answer.error["parameter"] == "cursor"
    for period in ("1h", "1D", "1d%20", "30", "all", "%00"):
        path = GOOD["leaderboard"].replace("period=1d", f"period={period}")
        answer = service.refused(path, 400, "invalid_parameter")
        assert (answer.error["parameter"], answer.error["allowed"]) == ("period", ["6h", "1d", "7d", "30d"])
    answer = service.refused(GOOD["leaderboard"].replace("&period=1d", ""), 400, "invalid_parameter")
    assert (answer.error["parameter"], answer.error["allowed"]) == ("period", ["6h", "1d", "7d", "30d"])
    for window in (
        "seconds=0",
        "minutes=0&hours=0",
        "seconds=-1",
        "hours=1.5",
        "minutes=x",
        "seconds=" + "0" * 5000,
    ):
        answer = service.refused(f"{GOOD['volume']}&{window}", 400, "invalid_parameter")
        assert answer.error["parameter"] == window.split("=")[0]
    for mint in ("%00", "x" * 129):
        answer = service.refused(f"{GOOD['volume']}&mint={mint}", 400, "invalid_parameter")
        assert answer.error["parameter"] == "mint"


def test_texts_beyond_all_measure_and_malformed_escapes_crash_nothing(service: Service) -> None:
    # A parameter of ten kilobytes.
    for path in GOOD.values():
        service.refused(f"{path}&{'x' * 7_000}=1", 400, "invalid_parameter")
    # A number larger than any is as good as a large one.
    for number in ("9" * 18, "9" * 30, "9" * 5000, "0" * 3000 + "1"):
        for name in LISTS:
            assert service.ask(f"{GOOD[name]}&limit={number}").status == 200
        answer = service.ask(f"{GOOD['volume']}&hours={number}")
        assert answer.body["data"]["time_window_seconds"] in (3600, 86_400)
    # What is no percent-escape is taken as it is.
    for escape in ("%", "%z", "%zz", "%f", "%u0041", "%ff%fe", "%ed%a0%80", "%00"):
        service.refused(f"/v1/wallets?blockchain={escape}&type=kol", 400, "invalid_parameter")
        service.refused(f"/v1/wallets?blockchain=solana&type={escape}", 400, "invalid_parameter")
        service.refused(f"/v1/wallets?{escape}=solana", 400, "invalid_parameter")
    assert service.ask(f"{GOOD['volume']}&mint=%").body["data"]["mint"] == "%"
    # Not even a key may hold them.
    service.refused(f"{GOOD['list']}&api_key=%00%ff", 403, "forbidden", key=None)


def test_unknown_routes_and_wrong_methods_are_reported_with_and_without_a_key(service: Service) -> None:
    for key in ("", None, "wk_wrong"):
        for path in (
            *("/v0", "/v1", "/v1/", "/v2/wallets", "/v1/wallets/", "/v1/wallets/nobody"),
            *(
                "/v1//wallets",
                "/V1/wallets",
                "/v1/wallets%00",
                "/v1/%2e%2e/wallets",
                "/v1/wallets/../wallets",
            ),
            *(
                "/%ff",
                "/%",
                "/v1/wallets%",
                "/%3Cscript%3E",
                "/" + "x" * 2000,
                "/favicon.ico",
                "/v1/wallets;a=b",
            ),
        ):
            service.refused(path, 404, "not_found", key=key)
        for path in GOOD.values():
            for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"):
                answer = service.refused(path, 405, "method_not_allowed", key=key, method=method)
                assert set(answer.headers["Allow"].split(", ")) == {"GET", "HEAD"}


def test_operations_of_the_public_api_that_are_missing_are_reported_with_and_without_a_key(
    service: Service,
) -> None:
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


def test_a_crash_of_a_view_reveals_nothing_of_its_cause(service: Service, connection: Connection) -> None:
    connection.execute("ALTER TABLE wallets RENAME COLUMN address TO moved")
    for name in ("list", "history", "leaderboard", "holdings"):
        answer = service.refused(GOOD[name], 500, "internal_error")
        assert answer.headers["X-RateLimit-Limit"] == "1000000"
        # The operator finds the cause in the log, under the caller's request_id.
        assert answer.error["request_id"] in service.server.log
    connection.execute("ALTER TABLE volume_rollup RENAME TO moved")
    service.refused(GOOD["volume"], 500, "internal_error")
    assert "UndefinedColumn" in service.server.log


def test_a_query_that_takes_too_long_is_503_with_the_time_to_wait(
    service: Service, connection: Connection
) -> None:
    service.ask(GOOD["list"])
    with connection.transaction():
        connection.execute("LOCK wallets, volume_rollup IN ACCESS EXCLUSIVE MODE")
        for name in ("history", "volume", "leaderboard"):
            answer = service.refused(GOOD[name], 503, "service_unavailable")
            assert int(answer.headers["Retry-After"]) >= 1
    assert service.ask(GOOD["list"]).status == 200


def test_a_database_that_is_away_is_503_and_its_return_is_noticed(
    service: Service, connection: Connection, database_url: str
) -> None:
    service.ask(GOOD["list"])
    allow = SQL("ALTER DATABASE {} ALLOW_CONNECTIONS {}")
    database = Identifier(connection.info.dbname)
    others = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND application_name = %s"
    )
    with connect(urlsplit(database_url)._replace(path="/postgres").geturl()) as administrator:
        administrator.execute(allow.format(database, SQL("false")))
        administrator.execute(others, [connection.info.dbname, "wallet-api"])
        try:
            for name in ("history", "leaderboard"):
                answer = service.refused(GOOD[name], 503, "service_unavailable")
                assert int(answer.headers["Retry-After"]) >= 1
        finally:
            administrator.execute(allow.format(database, SQL("true")))
    # Within two seconds of its return, whatever the pause between two tries to connect.
    deadline = time.monotonic() + 2
    while (status := service.ask(GOOD["history"]).status) == 503 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert status == 200
