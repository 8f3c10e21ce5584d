"""The official Python client, the package cabalspy, unchanged, with the running service."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
from cabalspy import (
    AuthenticationError,
    BadRequestError,
    CabalSpy,
    NotFoundError,
    PermissionError,
    RateLimitError,
    ServerError,
)

from tests.demo_service import DemoService
from tests.ledger.in_process import Importer
from tests.processes import Gunicorn, StartGunicorn
from wallet_api.database import Connection
from wallet_api.keys import create_key

TRACKED = "So11111111111111111111111111111111111111112"
UNTRACKED = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"

Connect = Callable[..., CabalSpy]


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch) -> Iterator[Connect]:
    """Makes clients, `connect(server, key)`, with the address of the service in an environment variable."""
    clients = []

    def connect(server: Gunicorn, key: str | None, **options: Any) -> CabalSpy:
        monkeypatch.setenv("CABALSPY_BASE_URL", f"{server.url}/v1")
        clients.append(CabalSpy(key, max_retries=0, **options))
        return clients[-1]

    yield connect
    for client in clients:
        client.close()


def test_it_lists_pages_and_reads_every_operation(
    connect: Connect, server: Gunicorn, demo: DemoService
) -> None:
    client = connect(server, demo.key)
    group = {"blockchain": "solana", "type": "kol"}
    tracked = sorted(
        row["wallet_address"] for row in demo.wallets if (row["blockchain"], row["type"]) == ("solana", "kol")
    )

    listed = client.wallets.list(blockchain="solana", type="kol")
    assert [wallet["wallet_address"] for wallet in listed["wallets"]] == tracked
    assert listed["pagination"]["total"] == len(tracked)
    pages = list(client.pages("/wallets", group | {"limit": 2}))
    assert [w["wallet_address"] for page in pages for w in page.data["wallets"]] == tracked

    address = demo.wallet("solana", "kol")
    found = client.wallets.lookup(address)
    assert (found["found"], found["wallet_address"]) == (True, address)
    question = group | {"address": address}
    record = client.get_raw("/wallets/history", question | {"limit": 7})
    count = record.data["lifetime_stats"]["total_tx_count"]
    assert record.data["profile"]["wallet_address"] == address
    paged = list(client.pages("/wallets/history", question | {"limit": 7}, max_pages=1000))
    assert sum(len(page.data["trades"]) for page in paged) == count > 7
    assert (record.meta["cached"], record.rate_limit.limit) == (False, 100_000)

    held = client.wallets.holdings(blockchain="solana", address=address)["active_holdings"]
    assert held["tokens"][0]["token_address"] == "native"
    assert held["count"] == len(held["tokens"])
    assert held["loading"] is False

    month = client.wallets.tracker(blockchain="solana", address=address, period="30d")
    assert month["period_stats"]["total_txn"] == len(month["period_trades"]) == count

    calendar = client.wallets.pnl_calendar(blockchain="solana", address=address)
    assert calendar["wallet"] == calendar["profile"]["wallet_address"] == address
    assert sum(part["month"]["txn_total"] for part in calendar["months"]) == count

    connected = client.wallets.connections(blockchain="solana", address=address, limit=3)
    assert len(connected["connections"]) <= 3 <= connected["total"]
    assert connected["connections"][0]["shared_tokens_count"] > 0

    volume = client.transactions.volume(blockchain="solana", type="kol", hours=24)
    assert volume["volume"] > 0
    assert volume["volume_usd"] > 0
    assert volume["time_window_seconds"] == 86_400

    latest = client.transactions.latest(blockchain="solana", type="kol", limit=5)
    assert latest["count"] == len(latest["transactions"]) == 5
    mint = latest["transactions"][0]["mint"]
    of_token = client.transactions.latest(blockchain="solana", type="kol", mint=mint)
    assert {row["mint"] for row in of_token["transactions"]} == {of_token["token"]["mint"]} == {mint}
    pages = list(client.pages("/transactions/latest", group | {"limit": 100}))
    assert sum(len(page.data["transactions"]) for page in pages) == pages[0].pagination["total"] > 100
    within = client.transactions.timerange(blockchain="solana", type="kol", minutes=60)
    counted = client.transactions.count(blockchain="solana", type="kol", hours=24)
    assert counted["count"] >= counted["wallet_count"] > 0
    assert within["total"] <= counted["count"]

    traded = client.tokens.transactions(blockchain="solana", mint=mint, limit=5)
    assert traded["token"]["mint"] == mint
    pages = list(client.pages("/tokens/transactions", {"blockchain": "solana", "mint": mint, "limit": 5}))
    assert sum(len(page.data["transactions"]) for page in pages) == traded["pagination"]["total"]
    stats = client.tokens.stats(blockchain="solana", mint=mint, type="kol")
    assert len(stats["traders"]) == stats["total_holders"]["kol_count"] > 0
    assert stats["traders"][0]["trader_stats"]["buy"] == stats["total_statistics"]["largest_position"]
    held = client.tokens.holders(blockchain="solana", mint=mint, limit=2)
    assert held["count"] == len(held["holders"]) <= held["total"]
    most = client.analytics.get(blockchain="solana", type="kol", mode="most_traded")
    assert 0 < len(most["tokens"]) <= 20
    for mode in ("top_performers", "win_rate"):
        best = client.analytics.get(blockchain="solana", type="kol", mode=mode, period="30d", limit=3)
        assert len(best["leaderboard"]) == 3
    trend = client.analytics.get(blockchain="solana", type="kol", mode="volume_trend", period="1d")
    assert len(trend["buckets"]) == 96
    assert sum(bucket["txn"] for bucket in trend["buckets"]) > 0
    flows = client.get_raw("/analytics", group | {"mode": "net_flow"}).data["net_flows"]
    assert 0 < len(flows) <= 20

    for mode in ("cluster", "entry", "exit"):
        found = client.signals.list(blockchain="solana", type="kol", mode=mode, min_wallets=1, hours=168)
        assert found["count"] == len(found["signals"]) > 0, mode
        assert found["signals"][0]["wallets"][0]["profile"]["wallet_address"] in tracked

    assert client.system.meta()["wallet_counts"]["solana"]["kol"] == len(tracked)
    assert client.system.health()["components"]["postgresql"] == "connected"

    board = client.wallets.leaderboard(blockchain="solana", type="kol", period="30d")
    assert {entry["wallet"] for entry in board["leaderboard"]} <= set(tracked)
    assert board["leaderboard"][0]["period_stats"]["total_volume"] > 0
    pages = list(client.pages("/wallets/leaderboard", group | {"period": "30d", "limit": 2}))
    assert [entry for page in pages for entry in page.data["leaderboard"]] == board["leaderboard"]


def test_its_history_works_where_the_type_is_detected(
    connect: Connect, gunicorn: StartGunicorn, demo: DemoService
) -> None:
    server = gunicorn(replace(demo.settings, history_type="detected"), workers=1)
    client = connect(server, demo.key)
    address = demo.wallet("solana", "kol")
    record = client.wallets.history(blockchain="solana", address=address)
    assert record["profile"]["type"] == "kol"
    assert record["lifetime_stats"]["total_tx_count"] >= len(record["trades"]) > 0
    typed = client.get_raw("/wallets/history", {"blockchain": "solana", "type": "kol", "address": address})
    assert typed.data["trades"] == record["trades"]
    with pytest.raises(NotFoundError):
        client.wallets.history(blockchain="solana", address=UNTRACKED)


def test_the_client_raises_its_documented_exceptions(
    connect: Connect, gunicorn: StartGunicorn, connection: Connection, database_url: str
) -> None:
    Importer(database_url).wallets([{"blockchain": "solana", "type": "kol", "wallet_address": TRACKED}])
    server = gunicorn(workers=1)
    client = connect(server, create_key(connection, "client"))
    group = {"blockchain": "solana", "type": "kol"}
    with pytest.raises(BadRequestError) as bad:
        # A chain that this client knows and the service does not.
        client.wallets.list(blockchain="rh", type="kol")
    assert bad.value.allowed == ["solana", "bnb", "base", "eth"]
    assert str(bad.value.request_id).startswith("req_")
    for path, arguments, code, parameter in (
        ("/wallets/holdings", {"blockchain": "solana"}, "missing_parameter", "address"),
        # Its history has no type, which is required here.
        ("/wallets/history", {"blockchain": "solana", "address": TRACKED}, "invalid_parameter", "type"),
        ("/wallets/lookup", {"address": "nowhere"}, "invalid_parameter", "address"),
        ("/transactions/latest", group | {"limit": 0}, "invalid_parameter", "limit"),
        ("/analytics", group | {"mode": "best"}, "invalid_parameter", "mode"),
    ):
        with pytest.raises(BadRequestError) as bad:
            client.get_raw(path, arguments)
        assert (bad.value.code, bad.value.parameter) == (code, parameter)
    for call, error, status, code in (
        # No provider of balances is configured.
        (
            lambda: client.wallets.holdings(blockchain="solana", address=TRACKED),
            ServerError,
            503,
            "service_unavailable",
        ),
        (
            lambda: client.wallets.holdings(blockchain="solana", address=UNTRACKED),
            NotFoundError,
            404,
            "not_found",
        ),
        (lambda: client.tokens.stats(blockchain="solana", mint=UNTRACKED), NotFoundError, 404, "not_found"),
        (lambda: client.get_raw("/wallets/nothing", {}), NotFoundError, 404, "not_found"),
        (lambda: connect(server, "wk_wrong").get_raw("/wallets", group), PermissionError, 403, "forbidden"),
    ):
        with pytest.raises(error) as refused:
            call()
        assert (refused.value.status, refused.value.code) == (status, code)
    for left_out in (
        lambda: client.wallets.batch(blockchain="solana", addresses=[TRACKED]),
        lambda: client.tokens.batch(blockchain="solana", type="kol", mints=[TRACKED]),
        lambda: client.signals.history(blockchain="solana", type="kol"),
        lambda: client.bundle.get(mint=TRACKED),
        lambda: client.calls.list(blockchain="solana"),
        lambda: client.calls.stats(blockchain="solana"),
    ):
        with pytest.raises(NotFoundError, match="is not offered here"):
            left_out()
    assert client.wallets.lookup(UNTRACKED) == {"found": False, "wallet_address": UNTRACKED}
    # It goes without a key only with an HTTP client of the caller's, which may pay in another way.
    with httpx.Client() as keyless, pytest.raises(AuthenticationError) as nobody:
        connect(server, None, http_client=keyless).get_raw("/wallets", group)
    assert (nobody.value.status, nobody.value.code) == (401, "unauthorized")

    slow = connect(server, create_key(connection, "slow", rate="1/minute"))
    slow.get_raw("/wallets", group)
    with pytest.raises(RateLimitError) as limited:
        slow.get_raw("/wallets", group)
    assert (limited.value.status, limited.value.code) == (429, "rate_limited")
    assert 0 < (limited.value.retry_after or 0) <= 60
    assert (limited.value.rate_limit.limit, limited.value.rate_limit.remaining) == (1, 0)
