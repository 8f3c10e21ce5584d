"""Decode a transaction of Solana for a wallet."""

from datetime import UTC, datetime
from typing import Any

import msgspec

from tests.stub.swaps import Row
from tests.sync.operator import plain
from tests.sync.solana import WALLET
from wallet_api.base.chains import CHAINS
from wallet_api.chain.decoding.solana.decode import decode_solana
from wallet_api.chain.decoding.solana.transactions import SolanaEvidence, Transaction
from wallet_api.chain.decoding.swaps import TrackedWallet
from wallet_api.chain.decoding.trades import Decoded

AT = datetime(2026, 11, 20, 12, tzinfo=UTC)


def read(result: Row) -> Transaction:
    """Return what is read of a node's response."""
    return msgspec.convert(result, Transaction)


def decode_for(transaction: Transaction, wallet: str = WALLET) -> Decoded:
    """Return what is decoded of a transaction for a wallet."""
    return decode_solana(
        SolanaEvidence(TrackedWallet(1, CHAINS["solana"], wallet), "signature", AT, transaction)
    )


def trades_of(decoded: Decoded) -> list[list[Any]]:
    """Return the trades: mint, side, amount, coin or None, dollars, and what was exchanged if it differs."""
    return sorted(
        [
            draft.mint,
            "sell" if draft.is_sell else "buy",
            plain(draft.token_amount),
            None if draft.usd_to_convert else plain(draft.native),
            None if draft.value_usd is None else plain(draft.value_usd),
            plain(draft.native - draft.extra) if draft.extra else None,
        ]
        for draft in decoded.drafts
    )
