"""`wallet-api up` with a provider's key: the ledger keeps itself current in the background."""

import socket
import tempfile
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import requests

from tests.processes import processes_of, wallet_api
from tests.sync.outside import Outside, in_turn, leg, swap
from wallet_api.settings import Settings

WALLET = "9Mt5Z4k49NYa1va4i91nziJURWS1KmkVMxSd6BiLhESL"
SOL = "So11111111111111111111111111111111111111112"
MINT = "9BB6NFEcjBCtnNLFko2FqVQBq8HHM13kCyYcdQbgpump"


def test_a_trade_of_now_is_answered_a_moment_later(outside: Outside) -> None:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="wallet-api-tests-") as folder:
        own = Settings(
            wallet_api_home=str(Path(folder) / "home"),
            web_concurrency=1,
            moralis_api_key="stub",
            moralis_solana_url=outside.url,
            coingecko_url=f"{outside.url}/api/v3",
            binance_url=f"{outside.url}/binance",
            sync_trades_seconds=1.0,
            sync_prices_seconds=1.0,
        )
        with wallet_api("up", "--no-demo", "--port", str(port), settings=own) as up:
            try:
                assert up.stdout is not None
                assert any("Ctrl-C stops everything" in line for line in up.stdout)
                key = _run(own, "keys", "create", "caller").split()[-1]
                wallets = Path(folder) / "wallets.csv"
                wallets.write_text(f"blockchain,type,wallet_address\nsolana,kol,{WALLET}\n")
                _run(own, "import", "wallets", str(wallets))
                now = datetime.now(UTC).replace(microsecond=0)
                outside.add("solana", WALLET, swap("s", now, leg(MINT, "5"), leg(SOL, "2"), 365.0))
                second_call = threading.Event()
                outside.everywhere = in_turn(None, second_call.set)
                # The round that asks again has landed what the one before it read.
                assert second_call.wait(60)
                url = f"http://127.0.0.1:{port}/v1/wallets/history"
                question = {"blockchain": "solana", "type": "kol", "address": WALLET, "api_key": key}
                trades = _answered(url, question)["data"]["trades"]
                assert [(trade["tx_signature"], trade["value"]) for trade in trades] == [("s", 2)]
            finally:
                up.terminate()
                up.wait()
        assert up.returncode == 0
        assert processes_of(Path(folder)) == []
        log = Path(folder) / "home" / "log"
        assert "1 of 1 wallets" in (log / "sync-trades.log").read_text()
        assert "new from coingecko" in (log / "sync-prices.log").read_text()


def _answered(url: str, question: dict[str, str]) -> Any:
    """The answer, asked for again as long as a busy machine has the service say that it shall be."""
    for _ in range(30):
        response = requests.get(url, params=question, timeout=30)
        if response.status_code != 503:
            break
        time.sleep(float(response.headers["Retry-After"]))
    return response.json()


def _run(settings: Settings, *command: str) -> str:
    with wallet_api(*command, settings=settings) as process:
        assert process.stdout is not None
        output = process.stdout.read()
    assert process.returncode == 0, output
    return output
