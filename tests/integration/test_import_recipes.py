"""The recipes of docs/import.md for files of other tools, run on files of exactly their forms."""

import os
import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from tests.ledger.in_process import Importer
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, BEN, SMART, price_row
from tests.lib.processes import run_program
from wallet_api.database import Connection

DOCS = Path(__file__).parents[2] / "docs"
DOCUMENT = (DOCS / "import.md").read_text(encoding="utf-8")
EXPLORER = (DOCS / "examples" / "explorer.py").read_text(encoding="utf-8")
EVM = "0xAbCdEf0123456789aBcDeF0123456789ABCDEF01"
ROUTER, OTHER = f"0x{'1':0>40}", f"0x{'2':0>40}"
TOKEN, SCAM = f"0x{'a':0>40}", f"0x{'b':0>40}"
WETH, USDC = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2", "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"
SOL, WSOL = "So11111111111111111111111111111111111111111", "So11111111111111111111111111111111111111112"
SOLANA_USDC = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
SECONDS = 1757203200

# The columns of the exports, as https://github.com/BittyTax/BittyTax and others read them.
TRANSACTIONS = (
    *("Transaction Hash", "Blockno", "UnixTimestamp", "DateTime (UTC)", "From", "To", "ContractAddress"),
    *("Value_IN(ETH)", "Value_OUT(ETH)", "CurrentValue @ $2084.3165498016/Eth", "TxnFee(ETH)", "TxnFee(USD)"),
    *("Historical $Price/Eth", "Status", "ErrCode", "Method"),
)
INTERNAL = (
    *("Transaction Hash", "Blockno", "UnixTimestamp", "DateTime (UTC)", "ParentTxFrom", "ParentTxTo"),
    *("ParentTxETH_Value", "From", "TxTo", "ContractAddress", "Value_IN(ETH)", "Value_OUT(ETH)"),
    *("CurrentValue @ $2084.3165498016/Eth", "Historical $Price/Eth", "Status", "ErrCode", "Type"),
)
ERC20 = (
    *("Transaction Hash", "Blockno", "UnixTimestamp", "DateTime (UTC)", "From", "To", "TokenValue"),
    *("USDValueDayOfTx", "ContractAddress", "TokenName", "TokenSymbol"),
)
SOLSCAN = "Signature,Block Time,Human Time,Action,From,To,Amount,Flow,Value,Decimals,Token Address,Multiplier"

Run = Callable[..., str]
Found = list[tuple[str, str, str, Decimal, Decimal, Decimal | None]]


def blocks(heading: str, language: str) -> list[str]:
    """Return the blocks of a section of the document."""
    section = DOCUMENT.split(f"### {heading}\n")[1].split("\n##")[0]
    return re.findall(rf"^```{language}\n(.*?)^```", section, re.MULTILINE | re.DOTALL)


@pytest.fixture
def run(database_url: str, tmp_path: Path) -> Run:
    """Runs a block of the document as a reader would, in the folder of the files; returns what it prints."""

    def run_block(commands: str, *, wallet: str = "") -> str:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = run_program(
            ["bash", "-euc", commands],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=os.environ | {"DATABASE_URL": database_url, "PATH": path, "WALLET": wallet},
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    return run_block


def export(columns: tuple[str, ...], *rows: dict[str, str]) -> str:
    """Return an export of Etherscan: a byte order mark, and all in quotes."""
    lines = [columns, *([row.get(column, "") for column in columns] for row in rows)]
    return "\ufeff" + "".join(",".join(f'"{value}"' for value in line) + "\r\n" for line in lines)


def transaction(signature: str, out: str = "0", **fields: str) -> dict[str, str]:
    """A transaction that the wallet has sent."""
    return {
        "Transaction Hash": signature,
        "Blockno": "23307000",
        "UnixTimestamp": str(SECONDS),
        "DateTime (UTC)": "2025-09-07 00:00:00",
        "From": EVM.lower(),
        "To": ROUTER,
        "Value_IN(ETH)": "0",
        "Value_OUT(ETH)": out,
        "TxnFee(ETH)": "0.00015288924231",
        "Method": "Execute",
    } | fields


def received(signature: str, amount: str, **fields: str) -> dict[str, str]:
    """An internal transaction to the wallet."""
    ours = {"From": ROUTER, "TxTo": EVM.lower(), "Value_IN(ETH)": amount, "Status": "0", "Type": "call"}
    return transaction(signature) | ours | fields


def transfer(signature: str, amount: str, token: str = TOKEN, *, out: bool = False) -> dict[str, str]:
    """A transfer of a token to the wallet, or from it."""
    ends = (EVM.lower(), ROUTER) if out else (ROUTER, EVM.lower())
    return transaction(signature) | {
        "From": ends[0],
        "To": ends[1],
        "TokenValue": amount,
        "USDValueDayOfTx": "$2,345.67",
        "ContractAddress": token,
        "TokenName": "A, B",
    }


def trades(connection: Connection) -> Found:
    """Return the trades of the ledger by signature."""
    rows = connection.execute(
        "SELECT tx_signature, mint, CASE WHEN is_sell THEN 'sell' ELSE 'buy' END AS side, token_amount,"
        " value, value_usd FROM trades JOIN tokens USING (token_id) ORDER BY tx_signature, event_index"
    )
    return [tuple(row.values()) for row in rows]


def test_exports_of_etherscan_become_the_trades_of_a_wallet(
    run: Run, database_url: str, connection: Connection, tmp_path: Path
) -> None:
    Importer(database_url).prices([price_row("4000", _moment()) | {"currency": "ETH"}])
    (tmp_path / "transactions.csv").write_text(
        export(
            TRANSACTIONS,
            *(transaction(name, out) for name, out in (("buy", "1.5"), ("refunded", "2"), ("two", "1"))),
            transaction("failed", "9", Status="Error(0)", ErrCode="execution reverted"),
            *(transaction(name) for name in ("sell", "usd", "swap", "approve", "weth")),
            transaction("airdrop", From=OTHER, To=EVM.lower()),
        )
    )
    (tmp_path / "internal.csv").write_text(
        export(
            INTERNAL,
            received("refunded", "0.25"),
            received("sell", "1,234.5"),
            # Somebody else's, with a log that names the wallet.
            received("forged", "0.000000000000000001"),
        )
    )
    (tmp_path / "erc20.csv").write_text(
        export(
            ERC20,
            transfer("buy", "1,234.5"),
            transfer("refunded", "0.000000000000000001"),
            transfer("two", "1"),
            transfer("two", "1", SCAM),
            transfer("failed", "9"),
            transfer("sell", "1,234,567,890,123.123456789012345678", out=True),
            transfer("usd", "2,000", USDC, out=True),
            transfer("usd", "5"),
            transfer("swap", "5", out=True),
            transfer("swap", "6", SCAM),
            transfer("weth", "0.5", WETH, out=True),
            transfer("weth", "7"),
            transfer("airdrop", "1000000", SCAM),
            transfer("forged", "1000", SCAM, out=True),
        )
    )
    (tmp_path / "explorer.py").write_text(EXPLORER)
    commands = blocks("An explorer's export", "sh")[0]
    printed = run(commands, wallet=EVM)
    left = re.findall(r"left out: (\w+)", printed)
    assert sorted(left) == ["airdrop", "approve", "failed", "forged", "swap", "two"]
    million = Decimal("1234567890123.123456789012345678")
    assert trades(connection) == [
        ("buy", TOKEN, "buy", Decimal("1234.5"), Decimal("1.5"), Decimal(6000)),
        ("refunded", TOKEN, "buy", Decimal("1e-18"), Decimal("1.75"), Decimal(7000)),
        ("sell", TOKEN, "sell", million, Decimal("1234.5"), Decimal(4938000)),
        ("usd", TOKEN, "buy", Decimal(5), Decimal("0.5"), Decimal(2000)),
        ("weth", TOKEN, "buy", Decimal(7), Decimal("0.5"), Decimal(2000)),
    ]
    # Again, it is no change.
    assert "(0 new or changed, 5 unchanged)" in run(commands, wallet=EVM)


def test_an_export_of_solscan_becomes_the_trades_of_a_wallet(
    run: Run, database_url: str, connection: Connection, tmp_path: Path
) -> None:
    Importer(database_url).prices([price_row("200", _moment())])
    mint = mint_of("mint")

    def row(signature: str, amount: int, token: str, decimals: int, action: str = "TRANSFER") -> str:
        ends = (ANN, BEN) if amount < 0 else (BEN, ANN)
        flow = "out" if amount < 0 else "in"
        return (
            f"{signature},{SECONDS},2025-09-07T00:00:00.000Z,{action},{','.join(ends)},{abs(amount)},{flow},"
            f"145.63,{decimals},{token},1.0"
        )

    rows = [
        row("buy", -1_500_000_000, SOL, 9),
        row("buy", 1_000_000, mint, 6),
        # Coin that is wrapped and spent, with a tip.
        row("wrapped", -2_000_000_000, SOL, 9),
        row("wrapped", -1_000_000, SOL, 9),
        row("wrapped", -2_000_000_000, WSOL, 9),
        row("wrapped", 1_000_000, mint, 6),
        row("sell", -500_000, mint, 6),
        row("sell", 3_000_000_000, WSOL, 9),
        row("usd", 500_000, mint, 6),
        row("usd", -100_000_000, SOLANA_USDC, 6),
        row("usd", -5000, SOL, 9),
        # Somebody's gift, for whose account the wallet pays.
        row("gift", 500_000, mint, 6),
        row("gift", -2_039_280, SOL, 9, "CREATE_ACCOUNT"),
        row("sent", -500_000, mint, 6),
    ]
    (tmp_path / "transfers.csv").write_text("\n".join([SOLSCAN, *rows]))
    (tmp_path / "explorer.py").write_text(EXPLORER)
    printed = run(blocks("An explorer's export", "sh")[1], wallet=ANN)
    assert sorted(re.findall(r"left out: (\w+)", printed)) == ["gift", "sent"]
    assert trades(connection) == [
        ("buy", mint, "buy", Decimal(1), Decimal("1.5"), Decimal(300)),
        ("sell", mint, "sell", Decimal("0.5"), Decimal(3), Decimal(600)),
        ("usd", mint, "buy", Decimal("0.5"), Decimal("0.5"), Decimal(100)),
        ("wrapped", mint, "buy", Decimal(1), Decimal("2.001"), Decimal("400.2")),
    ]


def test_the_result_of_a_query_is_imported_with_dollars_alone(
    run: Run, database_url: str, connection: Connection, tmp_path: Path
) -> None:
    Importer(database_url).wallets([{"blockchain": "solana", "type": "kol", "wallet_address": ANN}])
    mint = mint_of("mint")
    (tmp_path / "sol-usd-max.csv").write_text(
        "snapped_at,price,market_cap,total_volume\n2025-09-07 00:00:00 UTC,200.0,1.08e11,2800000000.5\n"
    )
    (tmp_path / "query.csv").write_text(
        "block_time,trader_id,tx_id,outer_instruction_index,side,token_mint,amount,amount_usd,project\n"
        f"2025-09-07 00:10:00.000 UTC,{ANN},s,4,buy,{mint},1.5E-7,300.5,pumpdotfun\n"
        f"2025-09-07 00:10:00.000 UTC,{ANN},s,6,buy,{mint},12,1e2,raydium\n"
    )
    (commands,) = blocks("A query's export", "sh")
    printed = run(commands)
    assert "Computed 2 values from dollars" in printed
    assert trades(connection) == [
        ("s", mint, "buy", Decimal("1.5e-7"), Decimal("1.5025"), Decimal("300.5")),
        ("s", mint, "buy", Decimal(12), Decimal("0.5"), Decimal(100)),
    ]


def test_lists_of_terminals_are_imported(run: Run, connection: Connection, tmp_path: Path) -> None:
    # As Axiom exports them.
    (tmp_path / "axiom.json").write_text(
        f'[\n  {{\n    "trackedWalletAddress": "{ANN}",\n    "name": "1.52x - KIMCHI",\n    "emoji": "🎯",\n'
        '    "alertsOnToast": false,\n    "alertsOnBubble": true,\n    "groups": ["Main"]\n  }\n]\n'
    )
    (tmp_path / "addresses.txt").write_text(f"{BEN}\n{SMART}\n")
    (commands,) = blocks("A terminal's list of wallets", "sh")
    assert 'Warning: the member "emoji" is unknown and ignored\n' in run(commands)
    found = connection.execute("SELECT type, address, name FROM wallets")
    assert {tuple(row.values()) for row in found} == {
        ("smart", ANN, "1.52x - KIMCHI"),
        ("smart", BEN, ""),
        ("smart", SMART, ""),
    }


def _moment() -> datetime:
    return datetime.fromtimestamp(SECONDS, UTC)
