"""Rows of files, in which only what a test is about is given."""

from datetime import datetime
from typing import Any

from tests.ledger.mints import mint_of

Row = dict[str, Any]


def trade_row(address: str, signature: str, at: datetime, **fields: Any) -> Row:
    """A buy on Solana, of one token for one SOL; `fields` replace any of it."""
    return {
        "blockchain": "solana",
        "wallet_address": address,
        "tx_signature": signature,
        "mint": mint_of("mint"),
        "transaction_type": "buy",
        "token_amount": "1",
        "value": "1",
        "created_at": at.isoformat(),
        **fields,
    }
