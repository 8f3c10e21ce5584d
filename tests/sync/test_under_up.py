"""`wallet-api up` with sources of trades: first wallets as in docs/first-wallets.md, then what trades now."""

import json
import re
from pathlib import Path
from typing import Any

import requests

from tests.lib.folders import server_folder
from tests.lib.processes import run_command, wallet_api
from tests.lib.running_up import running_up
from tests.lib.settings import changed
from tests.lib.waiting import eventually
from tests.stub.server import Stub
from tests.stub.swaps import leg, swap
from tests.stub.transactions import now
from tests.sync.launches import FED, LUCKY, SNIPER, STEADY, two_launches
from tests.sync.solana import BONK, FART, SOL, WALLET, buy
from wallet_api.settings import Settings

BNB_WALLET = "0xdce4550b1e46a88e7969000605be5cb1bbddc034"
WBNB = "0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c"
BNB_MINT = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"


def test_from_nothing_to_wallets_with_their_history_and_what_they_trade_now(stub: Stub) -> None:
    two_launches(stub)
    own: dict[str, Any] = {
        "moralis_api_key": "stub",
        "moralis_evm_url": f"{stub.url}/api/v2.2",
        "solana_trades_provider": "rpc",
        "solana_rpc_url": stub.node_environment["SOLANA_RPC_URL"],
        "sync_rpc_requests_per_second": 1000.0,
        "coingecko_url": f"{stub.url}/api/v3",
        "binance_url": f"{stub.url}/binance",
        "sync_trades_seconds": 1.0,
    }
    with server_folder() as folder:
        Path(folder).chmod(0o711)
        home = Path(folder) / "home"
        settings = changed(Settings(), wallet_api_home=str(home), **own)

        def run(*command: str) -> str:
            done = run_command(*command, settings=settings)
            assert done.exit_code == 0, done.output
            return done.output

        with running_up(home, "--no-demo", **own) as up:
            assert "No wallets are tracked yet." in up.output
            assert "are then read by this command itself." in up.output
            file = str(Path(folder) / "discovered-solana.ndjson")
            table = run("discover", FART, BONK, "--chain", "solana", "--yes", "--output", file)
            assert [line.split()[1] for line in table.splitlines() if re.match(r"[0-9]+ +\w{32,}", line)] == [
                *(SNIPER, STEADY, LUCKY, FED)
            ]
            assert '"landed":4' in run("import", "wallets", file, "--json")
            key = run("keys", "create", "me").split()[-1]

            def data(path: str, **query: str) -> dict[str, Any]:
                query |= {"api_key": key}
                response = requests.get(f"{up.url}/v1/wallets/{path}", params=query, timeout=60)
                assert response.ok, response.text
                found: dict[str, Any] = response.json()["data"]
                return found

            def realized() -> dict[str, float]:
                group = {"blockchain": "solana", "type": "smart"}
                found = {one: data("history", **group, address=one) for one in (SNIPER, STEADY, LUCKY, FED)}
                return {one: history["lifetime_stats"]["realized_pnl"] for one, history in found.items()}

            expected = {SNIPER: 1, STEADY: 0.75, LUCKY: 9, FED: 0.5}
            assert eventually(lambda: realized() == expected), json.dumps(realized())
            wallets = Path(folder) / "wallets.csv"
            rows = f"solana,kol,{WALLET}\nbnb,kol,{BNB_WALLET}\n"
            wallets.write_text(f"blockchain,type,wallet_address\n{rows}")
            run("import", "wallets", str(wallets))
            at = now()
            stub.swaps.add(
                "bnb", BNB_WALLET, swap(f"0x{'ab' * 32}", at, leg(BNB_MINT, "5"), leg(WBNB, "2"), 365.0)
            )
            stub.transactions.add(WALLET, "s", buy(at, lamports=2 * SOL))

            def values(chain: str, address: str) -> dict[str, int]:
                trades = data("history", blockchain=chain, type="kol", address=address)["trades"]
                return {row["tx_signature"]: row["value"] for row in trades}

            assert eventually(lambda: values("bnb", BNB_WALLET) == {f"0x{'ab' * 32}": 2})
            assert eventually(lambda: values("solana", WALLET) == {"s": 2})
            # It stops without waiting for a round.
            log = home / "log"
            assert eventually(lambda: "new from coingecko" in (log / "sync-prices.log").read_text())
        rounds = (log / "sync-trades.log").read_text()
        assert "trades of solana: 5 of 5 wallets" in rounds
        assert "trades of bnb, base, eth, rh: 1 of 1 wallets" in rounds


def test_a_source_without_its_address_is_told_before_anything_starts(tmp_path: Path) -> None:
    own = changed(Settings(), wallet_api_home=str(tmp_path / "home"), solana_trades_provider="rpc")
    with wallet_api("up", settings=own) as up:
        assert up.stdout is not None
        assert up.stdout.read().startswith("Error: SOLANA_RPC_URL is not set")
    assert up.returncode == 1
    assert not (tmp_path / "home").exists()
