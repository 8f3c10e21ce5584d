"""The clients of CabalSpy, unchanged, with the running service: the package cabalspy, and the MCP server.

Of the MCP server (MCP_server.py, version 2.2) these are the requests.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
import requests
from cabalspy import (
    AuthenticationError,
    BadRequestError,
    CabalSpy,
    NotFoundError,
    PermissionError,
    RateLimitError,
    ServerError,
)
from flask import Flask

from tests.ledger.in_process import Importer
from tests.lib.demo_service import DemoService
from tests.lib.processes import Gunicorn
from tests.lib.serving import served
from wallet_api.api.keys import create_key
from wallet_api.api.responses.examples import MINT
from wallet_api.database import Connection
from wallet_api.settings import Settings

TRACKED = "So11111111111111111111111111111111111111112"
UNTRACKED = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"

Connect = Callable[..., CabalSpy]

GROUP = {"blockchain": "solana", "type": "kol"}
OF_CHAIN = {"blockchain": "solana"}
WALLET = OF_CHAIN | {"address": "ADDRESS"}
TOKEN = OF_CHAIN | {"mint": MINT}
# The path and the arguments of each tool, as it sends them by default.
TOOLS: list[tuple[str, dict[str, Any]]] = [
    ("/v1/health", {}),
    ("/v1/meta", {}),
    ("/v1/wallets/lookup", {"address": "ADDRESS"}),
    ("/v1/wallet/tracking", WALLET | {"period": "1d"}),
    ("/v1/wallet/leaderboard", GROUP | {"period": "1d", "limit": 20}),
    ("/v1/wallets", GROUP | {"limit": 50}),
    ("/v1/wallets/history", WALLET | {"limit": 50}),
    ("/v1/wallet/holdings", WALLET),
    ("/v1/wallet/pnl_calendar", WALLET),
    ("/v1/wallets/connections", WALLET | {"limit": 25}),
    ("/v1/tokens/stats", TOKEN),
    ("/v1/tokens/holders", TOKEN | {"limit": 25}),
    ("/v1/tokens/transactions", TOKEN | {"limit": 25}),
    ("/v1/transactions/timerange", GROUP | {"limit": 25, "minutes": 30}),
    ("/v1/transactions/latest", GROUP | {"limit": 25}),
    ("/v1/transactions/count", GROUP | {"hours": 1}),
    ("/v1/transactions/volume", GROUP | {"hours": 1, "mint": MINT}),
    ("/v1/signals", GROUP | {"mode": "cluster", "hours": 6, "limit": 15}),
    *(
        ("/v1/analytics", GROUP | {"mode": mode, "period": "7d", "limit": 20})
        for mode in ("volume_trend", "most_traded", "win_rate", "top_performers")
    ),
]


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch) -> Iterator[Connect]:
    """Makes clients, `connect(url, key)`, with the address of the service in an environment variable."""
    clients = []

    def connect(url: str, key: str | None, **options: Any) -> CabalSpy:
        monkeypatch.setenv("CABALSPY_BASE_URL", f"{url}/v1")
        clients.append(CabalSpy(key, max_retries=0, **options))
        return clients[-1]

    yield connect
    for client in clients:
        client.close()


def test_it_reads_and_pages_every_operation(connect: Connect, server: Gunicorn, demo: DemoService) -> None:
    client = connect(server.url, demo.key)
    address = demo.wallet(**GROUP)
    own = {"blockchain": "solana", "address": address}
    # The newest token may have one trade, which is one page, and the most traded may be held by nobody.
    most = client.analytics.get(**GROUP, mode="most_traded", period="7d")["tokens"]
    token = {"blockchain": "solana", "mint": most[0]["mint"]}
    balances = client.wallets.holdings(**own)["active_holdings"]["tokens"]
    held = {"blockchain": "solana", "mint": balances[-1]["token_address"]}
    # What each call returns, and a member that has something.
    for found, member in (
        (client.wallets.list(**GROUP), "wallets"),
        (client.wallets.lookup(address), "found"),
        (client.wallets.tracker(**own, period="30d"), "period_trades"),
        (client.wallets.pnl_calendar(**own), "months"),
        (client.wallets.connections(**own, limit=3), "connections"),
        (client.wallets.leaderboard(**GROUP, period="30d"), "leaderboard"),
        (client.transactions.volume(**GROUP, hours=24), "volume_usd"),
        (client.transactions.latest(**GROUP, mint=token["mint"]), "token"),
        (client.transactions.timerange(**GROUP, minutes=60), "transactions"),
        (client.transactions.count(**GROUP, hours=24), "wallet_count"),
        (client.tokens.transactions(**token, limit=5), "transactions"),
        (client.tokens.stats(**token, type="kol"), "traders"),
        (client.tokens.holders(**held, limit=2), "holders"),
        *(
            (client.analytics.get(**GROUP, mode=mode, period="7d"), member)
            for mode, member in (
                ("most_traded", "tokens"),
                ("volume_trend", "buckets"),
                ("top_performers", "leaderboard"),
                ("win_rate", "leaderboard"),
            )
        ),
        (client.get_raw("/analytics", GROUP | {"mode": "net_flow"}).data, "net_flows"),
        *(
            (client.signals.list(**GROUP, mode=mode, min_wallets=1, hours=168), "signals")
            for mode in ("cluster", "entry", "exit")
        ),
        (client.system.meta(), "wallet_counts"),
        (client.system.health(), "components"),
    ):
        assert found[member], (found, member)
    for path, arguments, rows, limit in (
        ("/wallets", GROUP, "wallets", 2),
        ("/wallets/history", GROUP | {"address": address}, "trades", 40),
        ("/wallets/leaderboard", GROUP | {"period": "30d"}, "leaderboard", 2),
        ("/transactions/latest", GROUP, "transactions", 200),
        ("/tokens/transactions", token, "transactions", 1),
    ):
        whole = client.get_raw(path, arguments | {"limit": 1000}).data[rows]
        pages = list(client.pages(path, arguments | {"limit": limit}, max_pages=1000))
        assert [row for page in pages for row in page.data[rows]][: len(whole)] == whole
        assert len(pages) > 1, path
    record = client.get_raw("/wallets/history", GROUP | {"address": address, "limit": 7})
    assert (record.meta["cached"], record.rate_limit.limit) == (False, 100_000)


def test_where_the_type_is_detected_its_history_and_each_request_of_the_mcp_server_work(
    connect: Connect, make_app: Callable[[Settings], Flask], demo: DemoService
) -> None:
    with served(make_app(replace(demo.settings, history_type="detected"))) as url:
        for path, arguments in TOOLS:
            known = {"address": demo.wallet(**GROUP)} if "address" in arguments else {}
            response = requests.get(f"{url}{path}", arguments | known, headers=demo.headers, timeout=60)
            assert response.status_code == 200, (path, response.text)
            # It passes on what is in `data`, or the whole body.
            assert isinstance(response.json().get("data", response.json()), dict)
        client = connect(url, demo.key)
        address = demo.wallet("solana", "kol")
        record = client.wallets.history(blockchain="solana", address=address)
        assert record["profile"]["type"] == "kol"
        assert record["lifetime_stats"]["total_tx_count"] >= len(record["trades"]) > 0
        typed = client.get_raw("/wallets/history", GROUP | {"address": address})
        assert typed.data["trades"] == record["trades"]
        with pytest.raises(NotFoundError):
            client.wallets.history(blockchain="solana", address=UNTRACKED)


def test_the_client_raises_its_documented_exceptions(
    connect: Connect, url: str, connection: Connection, database_url: str
) -> None:
    Importer(database_url).wallets([{"blockchain": "solana", "type": "kol", "wallet_address": TRACKED}])
    client = connect(url, create_key(connection, "client"))
    with pytest.raises(BadRequestError) as bad:
        client.get_raw("/wallets", {"blockchain": "tron", "type": "kol"})
    assert bad.value.allowed == ["solana", "bnb", "base", "eth", "rh"]
    assert str(bad.value.request_id).startswith("req_")
    for path, arguments, code, parameter in (
        ("/wallets/holdings", {"blockchain": "solana"}, "missing_parameter", "address"),
        # Its history has no type, which is required here.
        ("/wallets/history", {"blockchain": "solana", "address": TRACKED}, "invalid_parameter", "type"),
        ("/wallets/lookup", {"address": "nowhere"}, "invalid_parameter", "address"),
        ("/transactions/latest", GROUP | {"limit": 0}, "invalid_parameter", "limit"),
        ("/analytics", GROUP | {"mode": "best"}, "invalid_parameter", "mode"),
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
        (lambda: connect(url, "wk_wrong").get_raw("/wallets", GROUP), PermissionError, 403, "forbidden"),
    ):
        with pytest.raises(error) as refused:
            call()
        assert (refused.value.status, refused.value.code) == (status, code)
    # Of all that is left out: see test_error_table.py.
    with pytest.raises(NotFoundError, match="is not offered here"):
        client.wallets.batch(blockchain="solana", addresses=[TRACKED])
    assert client.wallets.lookup(UNTRACKED) == {"found": False, "wallet_address": UNTRACKED}
    # It goes without a key only with an HTTP client of the caller's, which may pay in another way.
    with httpx.Client() as keyless, pytest.raises(AuthenticationError) as nobody:
        connect(url, None, http_client=keyless).get_raw("/wallets", GROUP)
    assert (nobody.value.status, nobody.value.code) == (401, "unauthorized")

    slow = connect(url, create_key(connection, "slow", rate="1/minute"))
    slow.get_raw("/wallets", GROUP)
    with pytest.raises(RateLimitError) as limited:
        slow.get_raw("/wallets", GROUP)
    assert (limited.value.status, limited.value.code) == (429, "rate_limited")
    assert 0 < (limited.value.retry_after or 0) <= 60
    assert (limited.value.rate_limit.limit, limited.value.rate_limit.remaining) == (1, 0)
