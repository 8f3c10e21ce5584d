"""`wallet-api up` with sources of trades: the ledger keeps itself current in the background."""

import itertools
import tempfile
import threading
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import requests

from tests.processes import processes_of, wallet_api
from tests.running_up import free_port
from tests.stub import faults
from tests.stub.server import Stub
from tests.stub.swaps import Row, leg, swap
from tests.stub.transactions import Move, now, transaction
from tests.sync.solana import FART, WALLET
from tests.waiting import eventually
from wallet_api.settings import Settings

BNB_WALLET = "0xdce4550b1e46a88e7969000605be5cb1bbddc034"
WBNB = "0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c"
BNB_MINT = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"


def test_trades_of_now_are_answered_a_moment_later(stub: Stub) -> None:
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="wallet-api-tests-") as folder:
        Path(folder).chmod(0o711)
        own = Settings(
            wallet_api_home=str(Path(folder) / "home"),
            web_concurrency=1,
            moralis_api_key="stub",
            moralis_evm_url=f"{stub.url}/api/v2.2",
            solana_trades_provider="rpc",
            solana_rpc_url=stub.node_environment["SOLANA_RPC_URL"],
            coingecko_url=f"{stub.url}/api/v3",
            binance_url=f"{stub.url}/binance",
            sync_trades_seconds=1.0,
        )
        with wallet_api("up", "--no-demo", "--port", str(port), settings=own) as up:
            try:
                assert up.stdout is not None
                assert any("Ctrl-C stops everything" in line for line in up.stdout)
                key = _run(own, "keys", "create", "caller").split()[-1]
                wallets = Path(folder) / "wallets.csv"
                rows = f"solana,kol,{WALLET}\nbnb,kol,{BNB_WALLET}\n"
                wallets.write_text(f"blockchain,type,wallet_address\n{rows}")
                _run(own, "import", "wallets", str(wallets))
                at = now()
                stub.swaps.add("bnb", BNB_WALLET, swap("0xab", at, leg(BNB_MINT, "5"), leg(WBNB, "2"), 365.0))
                stub.transactions.add(WALLET, "s", _bought(at))
                # The round that asks again has landed what the one before it read.
                moralis_again, node_again = threading.Event(), threading.Event()
                stub.scenarios["moralis"] = faults.in_turn(None, moralis_again.set)
                # A node lists twice a round, to the end; one call may be of the round that is under way.
                lists = itertools.count(1)
                stub.scenarios["getSignaturesForAddress"] = lambda: (
                    node_again.set() if next(lists) == 4 else None
                )
                for again in (moralis_again, node_again):
                    assert again.wait(60)
                for chain, wallet, trade in (("bnb", BNB_WALLET, "0xab"), ("solana", WALLET, "s")):
                    url = f"http://127.0.0.1:{port}/v1/wallets/history"
                    question = {"blockchain": chain, "type": "kol", "address": wallet, "api_key": key}
                    trades = _answered(url, question)["data"]["trades"]
                    assert [(told["tx_signature"], told["value"]) for told in trades] == [(trade, 2)]
                # It stops without waiting for a round.
                prices = Path(folder) / "home" / "log" / "sync-prices.log"
                assert eventually(lambda: "new from coingecko" in prices.read_text(), 60)
            finally:
                up.terminate()
                up.wait()
        assert up.returncode == 0
        assert processes_of(Path(folder)) == []
        log = Path(folder) / "home" / "log"
        rounds = (log / "sync-trades.log").read_text()
        assert "trades of solana: 1 of 1 wallets" in rounds
        assert "trades of bnb, base, eth: 1 of 1 wallets" in rounds


def test_a_source_without_its_address_is_told_before_anything_starts(tmp_path: Path) -> None:
    own = Settings(wallet_api_home=str(tmp_path / "home"), solana_trades_provider="rpc")
    with wallet_api("up", settings=own) as up:
        assert up.stdout is not None
        assert up.stdout.read().startswith("Error: SOLANA_RPC_URL is not set")
    assert up.returncode == 1
    assert not (tmp_path / "home").exists()


def _bought(at: datetime) -> Row:
    moves = (Move(WALLET, FART, 5), Move(WALLET, None, -2 * 10**9))
    return transaction(at, WALLET, *moves, Move("pool", FART, -5), Move("pool", None, 2 * 10**9))


def _answered(url: str, question: dict[str, str]) -> Any:
    """Repeat the request while the service is too busy, and return the document."""
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
