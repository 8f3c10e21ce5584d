"""The requests of CabalSpy's MCP server (MCP_server.py, version 2.2) get responses from this service."""

from dataclasses import replace
from typing import Any

import requests

from tests.demo_service import DemoService
from tests.processes import StartGunicorn
from wallet_api.responses.examples import MINT

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


# Batches, bundles, past signals and a filter of signals are not served; a model gets these errors.
REFUSED: list[tuple[str, str, dict[str, Any], tuple[int, str]]] = [
    ("POST", "/v1/wallets/batch", {}, (404, "not_found")),
    ("POST", "/v1/tokens/batch", {}, (404, "not_found")),
    ("GET", "/v1/bundle", TOKEN, (404, "not_found")),
    ("GET", "/v1/signals/history", GROUP | {"days": "30", "limit": 25}, (404, "not_found")),
    ("GET", "/v1/signals", GROUP | {"mode": "exit", "min_win_rate": 50}, (400, "invalid_parameter")),
    ("GET", "/v1/wallets", GROUP | {"blockchain": "rh", "limit": 50}, (400, "invalid_parameter")),
]


def test_each_of_its_requests_gets_data_or_an_error_that_it_can_show(
    gunicorn: StartGunicorn, demo: DemoService
) -> None:
    # Its histories have no type.
    server = gunicorn(replace(demo.settings, history_type="detected"))
    headers = {"Accept": "application/json", "User-Agent": "cabalspy-mcp/2.2", "X-Real-IP": "203.0.113.7"}
    headers["Authorization"] = f"Bearer {demo.key}"
    for path, arguments in TOOLS:
        known = {"address": demo.wallet(**GROUP)} if "address" in arguments else {}
        response = requests.get(f"{server.url}{path}", arguments | known, headers=headers, timeout=30)
        assert response.status_code == 200, (path, response.text)
        # It passes on what is in `data`, or the whole body.
        assert isinstance(response.json().get("data", response.json()), dict)
    for method, path, arguments, expected in REFUSED:
        response = requests.request(
            method, f"{server.url}{path}", params=arguments, headers=headers, timeout=30
        )
        error = response.json()["error"]
        assert (response.status_code, error["code"]) == expected, (path, response.text)
        assert error["message"]
