"""Recorded transactions of Solana's mainnet: tests/data/solana/transactions.ndjson.

Each line has the signature, the file in which a public project recorded it, and the result of getTransaction
as `jsonParsed`, reduced to what is read. What was recorded in the encoding `json` was put into this form.
`wallets` are the trades by wallet: mint, side, amount, value in SOL (null: by the dollars), dollars, and what
the other side moved in SOL.
"""

import json
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from tests.stub.swaps import Row

_FILE = Path(__file__).parent.parent / "data" / "solana" / "transactions.ndjson"


@dataclass(frozen=True)
class Recorded:
    """A transaction, and its trades by wallet."""

    signature: str
    told: Row
    wallets: dict[str, list[tuple[str, str, str, str | None, str | None, str | None]]]

    def change(self, wallet: str, mint: str) -> Decimal:
        """Return how much more of a token the accounts of the wallet held afterwards."""
        change = Decimal(0)
        for balances, sign in (("preTokenBalances", -1), ("postTokenBalances", 1)):
            for balance in self.told["meta"][balances]:
                if (balance["owner"], balance["mint"]) == (wallet, mint):
                    amount = balance["uiTokenAmount"]
                    change += sign * Decimal(amount["amount"]).scaleb(-amount["decimals"])
        return change


def read_notifications() -> dict[str, Row]:
    """Return a recorded notification of each method: tests/data/solana/notifications.ndjson.

    Each line has the file in which a public project recorded it, and the whole message.
    """
    lines = (_FILE.parent / "notifications.ndjson").read_text().splitlines()
    messages = [json.loads(line)["message"] for line in lines]
    return {message["method"]: message for message in messages}


def read_recorded() -> list[Recorded]:
    """Return all recorded transactions."""
    rows = [json.loads(line) for line in _FILE.read_text().splitlines()]
    return [
        Recorded(
            row["signature"],
            row["result"],
            {wallet: [tuple(trade) for trade in trades] for wallet, trades in row["wallets"].items()},
        )
        for row in rows
    ]
