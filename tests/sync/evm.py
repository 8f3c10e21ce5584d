"""Recorded transactions of Ethereum, BNB Chain and Base: tests/data/evm/transactions.ndjson.

Each line has the file in which a public project recorded it, the receipt, reduced to what is read, the value
of the transaction, how it changed the native balances of the wallets (with the fee of the sender), and the
decimals of tokens. `wallets` has for each wallet the trades (mint, side, amount, value in the native coin or
null, dollars, and what the other side moved), or why it is left out. `is_swap` is whether that project reads
it as a swap.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.stub.evm import EvmChain, Transaction
from tests.stub.server import Stub
from tests.stub.swaps import Row

_FILE = Path(__file__).parent.parent / "data" / "evm" / "transactions.ndjson"


@dataclass(frozen=True)
class Recorded:
    """A transaction, and its trades by wallet."""

    chain: str
    hash: str
    row: Row

    @property
    def is_swap(self) -> bool:
        return bool(self.row["is_swap"])

    def trades(self, wallet: str) -> list[list[Any]]:
        return list(self.row["wallets"][wallet].get("trades", ()))

    def left_out(self, wallet: str) -> str | None:
        reason: str | None = self.row["wallets"][wallet].get("left_out")
        return reason

    @property
    def wallets(self) -> list[str]:
        return list(self.row["wallets"])

    @property
    def created_at(self) -> datetime:
        return datetime.fromtimestamp(self.row["timestamp"], UTC)

    def transaction(self) -> Transaction:
        coins = {wallet: int(units) for wallet, units in self.row["coins"].items()}
        return Transaction(self.row["receipt"], self.row["value"], coins)


def read_recorded() -> list[Recorded]:
    """Return all recorded transactions, in the order of their times."""
    rows = [json.loads(line) for line in _FILE.read_text().splitlines()]
    return [
        Recorded(row["chain"], row["hash"], row) for row in sorted(rows, key=lambda row: row["timestamp"])
    ]


def serve(stub: Stub, recorded: list[Recorded]) -> None:
    """Let the nodes have the transactions, one in a block."""
    for one in recorded:
        chain = stub.nodes.blocks.setdefault(one.chain, EvmChain())
        chain.decimals |= one.row["decimals"]
        chain.add(one.created_at, one.transaction())
