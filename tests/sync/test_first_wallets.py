"""docs/first-wallets.md, as a new user goes through it, with a local node."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import requests

from tests.lib.folders import server_folder
from tests.lib.processes import wallet_api
from tests.lib.running_up import running_up
from tests.lib.waiting import eventually
from tests.stub.server import Stub
from tests.sync.launches import FED, LUCKY, SNIPER, STEADY, two_launches
from tests.sync.solana import BONK, FART
from wallet_api.settings import Settings


def test_from_nothing_to_wallets_with_their_history(stub: Stub) -> None:
    two_launches(stub)
    with server_folder() as folder:
        Path(folder).chmod(0o711)
        home = Path(folder) / "home"
        own: dict[str, Any] = {
            "solana_trades_provider": "rpc",
            "solana_rpc_url": stub.node_environment["SOLANA_RPC_URL"],
            "sync_rpc_requests_per_second": 1000.0,
            "coingecko_url": f"{stub.url}/api/v3",
            "binance_url": f"{stub.url}/binance",
            "sync_trades_seconds": 1.0,
        }
        settings = Settings(wallet_api_home=str(home), **own)
        with running_up(home, "--no-demo", **own) as up:
            file = str(Path(folder) / "discovered-solana.ndjson")
            table = _run(settings, "discover", FART, BONK, "--chain", "solana", "--yes", "--output", file)
            assert [line.split()[1] for line in table.splitlines() if re.match(r"[0-9]+ +\w{32,}", line)] == [
                *(SNIPER, STEADY, LUCKY, FED)
            ]
            assert '"landed":4' in _run(settings, "import", "wallets", file, "--json")
            key = _run(settings, "keys", "create", "me").split()[-1]

            def realized() -> dict[str, float]:
                profits = {}
                for address in (SNIPER, STEADY, LUCKY, FED):
                    query = {"blockchain": "solana", "type": "smart", "address": address, "api_key": key}
                    response = requests.get(f"{up.url}/v1/wallets/history", params=query, timeout=30)
                    assert response.ok, response.text
                    profits[address] = response.json()["data"]["lifetime_stats"]["realized_pnl"]
                return profits

            expected = {SNIPER: 1, STEADY: 0.75, LUCKY: 9, FED: 0.5}
            assert eventually(lambda: realized() == expected, 60), json.dumps(realized())
            # Its figures hold for the 30 days that were read.
            query = {"address": LUCKY, "api_key": key}
            found = requests.get(f"{up.url}/v1/wallets/lookup", params=query, timeout=30).json()["data"]
            since = datetime.fromisoformat(found["history_since"])
            assert timedelta(days=30) <= datetime.now(UTC) - since < timedelta(days=30, minutes=10)
            assert found["matches"][0]["history_since"] == found["history_since"]


def _run(settings: Settings, *command: str) -> str:
    with wallet_api(*command, settings=settings) as process:
        assert process.stdout is not None
        output = process.stdout.read()
    assert process.returncode == 0, output
    return output
