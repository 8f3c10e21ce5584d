"""Recorded transactions of the mainnets: transactions.ndjson in tests/data/solana and tests/data/evm.

Each line has the file in which a public project recorded it, and what is read of the node's response: of
Solana the result of getTransaction as `jsonParsed` (what was recorded in the encoding `json` was put into
this form); of EVM chains the receipt, the value of the transaction, how it changed the native balances of the
wallets (with the fee of the sender), and the decimals of tokens.

`wallets` has for each wallet the trades (mint, side, amount, value in the native coin or null: by the
dollars, dollars, and what the other side moved), or why it is left out, or that it is unsigned.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.stub.evm import EvmChain, Transaction
from tests.stub.server import Stub
from tests.stub.swaps import Row

# Orders in native coin that a settlement filled, one of each chain.
IN_COIN = ("0xe2d6aa63", "0x2c8cac57")
_DATA = Path(__file__).parent.parent / "data"

Trade = tuple[str, str, str, str | None, str | None, str | None]


@dataclass(frozen=True)
class Recorded:
    """A transaction, its trades by wallet, and why wallets are left out."""

    chain: str
    signature: str
    row: Row
    wallets: dict[str, list[Trade]]
    left_out: dict[str, str]
    unsigned: frozenset[str] = frozenset()


def read_recorded() -> list[Recorded]:
    """Return all recorded transactions, those of EVM chains in the order of their times."""
    of_solana = [
        Recorded(
            "solana",
            row["signature"],
            row,
            {wallet: _trades(trades) for wallet, trades in row["wallets"].items()},
            left_out={},
        )
        for row in _lines("solana/transactions")
    ]
    of_evm = [
        Recorded(
            row["chain"],
            row["hash"],
            row,
            {wallet: _trades(of.get("trades", ())) for wallet, of in row["wallets"].items()},
            {wallet: of["left_out"] for wallet, of in row["wallets"].items() if "left_out" in of},
            frozenset(wallet for wallet, of in row["wallets"].items() if "unsigned" in of),
        )
        for row in sorted(_lines("evm/transactions"), key=lambda row: row["timestamp"])
    ]
    return of_solana + of_evm


def read_notifications() -> dict[str, Row]:
    """Return a recorded notification of each method: tests/data/solana/notifications.ndjson.

    Each line has the file in which a public project recorded it, and the whole message.
    """
    messages = [line["message"] for line in _lines("solana/notifications")]
    return {message["method"]: message for message in messages}


def serve(stub: Stub, recorded: list[Recorded]) -> None:
    """Let the nodes have the transactions: on EVM chains one in a block, of Solana a third as version 1."""
    for number, one in enumerate(recorded):
        if one.chain == "solana":
            result = one.row["result"] if number % 3 else one.row["result"] | {"version": 1}
            for wallet in one.wallets:
                stub.transactions.add(wallet, one.signature, result)
        else:
            chain = stub.nodes.blocks.setdefault(one.chain, EvmChain())
            chain.decimals |= one.row["decimals"]
            coins = {wallet: int(units) for wallet, units in one.row["coins"].items()}
            # Each order in native coin that was recorded is of the only wallet of its chain with one.
            if one.signature.startswith(IN_COIN):
                (chain.placed_by,) = one.wallets
            transaction = Transaction(one.row["receipt"], one.row["value"], coins)
            chain.add(datetime.fromtimestamp(one.row["timestamp"], UTC), transaction)


def _lines(name: str) -> list[Row]:
    return [json.loads(line) for line in (_DATA / f"{name}.ndjson").read_text().splitlines()]


def _trades(rows: Any) -> list[Trade]:
    return [tuple(row) for row in rows]
