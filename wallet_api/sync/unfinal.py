"""Transactions whose trades were imported before their blocks are final."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from wallet_api.database import Connection, MissingReference, load_statements, translated
from wallet_api.decoding.swaps import TrackedWallet
from wallet_api.providers.trades.source import Unfinal

_UNFINAL = load_statements(__package__, "unfinal")


def save_unfinal(connection: Connection, unfinal: Sequence[Unfinal]) -> None:
    """Keep transactions until it is decided what becomes of them. A removed wallet keeps nothing."""
    if unfinal:
        with suppress(MissingReference), translated():
            times = {
                "moments": [row.created_at for row in unfinal],
                "seen": [row.seen_at for row in unfinal],
            }
            connection.execute(_UNFINAL["keep"], _keys(unfinal) | times)


def forget_decided(connection: Connection, decided: Sequence[Unfinal]) -> None:
    """Forget transactions that are final or orphaned."""
    if decided:
        connection.execute(_UNFINAL["forget"], _keys(decided))


def read_unfinal(connection: Connection, blockchain: str, before: datetime, most: int) -> list[Unfinal]:
    """Return transactions of a chain that were seen before a time, the oldest first, `most` of them."""
    rows = connection.execute(_UNFINAL["due"], {"blockchain": blockchain, "before": before, "most": most})
    return [
        Unfinal(TrackedWallet.of(row), row["tx_signature"], row["created_at"], row["number"], row["seen_at"])
        for row in rows
    ]


def _keys(unfinal: Sequence[Unfinal]) -> dict[str, Any]:
    return {
        "wallet_ids": [row.wallet.wallet_id for row in unfinal],
        "signatures": [row.tx_signature for row in unfinal],
        "numbers": [row.number for row in unfinal],
    }
