"""`wallet-api up` with sources of trades: the ledger keeps itself current in the background."""

from pathlib import Path
from typing import Any

import requests

from tests.lib.folders import server_folder
from tests.lib.processes import wallet_api
from tests.lib.running_up import running_up
from tests.lib.waiting import eventually
from tests.stub.server import Stub
from tests.stub.swaps import leg, swap
from tests.stub.transactions import now
from tests.sync.solana import SOL, WALLET, buy
from wallet_api.settings import Settings

BNB_WALLET = "0xdce4550b1e46a88e7969000605be5cb1bbddc034"
WBNB = "0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c"
BNB_MINT = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"


def test_trades_of_now_are_answered_a_moment_later(stub: Stub) -> None:
    with server_folder() as folder:
        Path(folder).chmod(0o711)
        home = Path(folder) / "home"
        own: dict[str, Any] = {
            "moralis_api_key": "stub",
            "moralis_evm_url": f"{stub.url}/api/v2.2",
            "solana_trades_provider": "rpc",
            "solana_rpc_url": stub.node_environment["SOLANA_RPC_URL"],
            "coingecko_url": f"{stub.url}/api/v3",
            "binance_url": f"{stub.url}/binance",
            "sync_trades_seconds": 1.0,
        }
        with running_up(home, "--no-demo", **own) as up:
            assert "No wallets are tracked yet." in up.output
            assert "are then read by this command itself." in up.output
            commands = Settings(wallet_api_home=str(home), **own)
            key = _run(commands, "keys", "create", "caller").split()[-1]
            wallets = Path(folder) / "wallets.csv"
            rows = f"solana,kol,{WALLET}\nbnb,kol,{BNB_WALLET}\n"
            wallets.write_text(f"blockchain,type,wallet_address\n{rows}")
            _run(commands, "import", "wallets", str(wallets))
            at = now()
            stub.swaps.add("bnb", BNB_WALLET, swap("0xab", at, leg(BNB_MINT, "5"), leg(WBNB, "2"), 365.0))
            stub.transactions.add(WALLET, "s", buy(at, lamports=2 * SOL))
            for chain, wallet, trade in (("bnb", BNB_WALLET, "0xab"), ("solana", WALLET, "s")):
                query = {"blockchain": chain, "type": "kol", "address": wallet, "api_key": key}

                def found() -> list[tuple[str, int]]:
                    response = requests.get(f"{up.url}/v1/wallets/history", params=query, timeout=30)  # noqa: B023
                    trades = response.json()["data"]["trades"] if response.ok else []
                    return [(told["tx_signature"], told["value"]) for told in trades]

                assert eventually(lambda: found() == [(trade, 2)], 60)  # noqa: B023
            # It stops without waiting for a round.
            log = home / "log"
            assert eventually(lambda: "new from coingecko" in (log / "sync-prices.log").read_text(), 60)
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


def _run(settings: Settings, *command: str) -> str:
    with wallet_api(*command, settings=settings) as process:
        assert process.stdout is not None
        output = process.stdout.read()
    assert process.returncode == 0, output
    return output
