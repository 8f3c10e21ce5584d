"""How far each wallet has been synced, and from when it has to be fetched next."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, LiteralString

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, MissingReference, Row, load_sql, translated
from wallet_api.providers.trades.swaps import Listed, TrackedWallet
from wallet_api.sync.reader_threads import Piece, Task

# The interval of the longer fetches, since a provider's index may be late by hours.
RECHECK = timedelta(days=1)

_DUE = load_sql(__package__, "due")
_FIND_UNTRACKED = load_sql(__package__, "find_untracked")
_SAVE_SYNCED = load_sql(__package__, "save_synced")
_SAVE_FAILED = load_sql(__package__, "save_failed")


def tasks_due(
    connection: Connection,
    chains: Sequence[str],
    since: datetime,
    overlap: timedelta,
    again: Mapping[int, Sequence[Listed]],
    now: datetime,
) -> list[Task]:
    """Return all tracked wallets of the chains: new ones first, then those tried longest ago.

    `again` are by wallet the transactions to read again.
    """
    return [
        replace(
            _task(row, since, overlap, now),
            again=again.get(row["wallet_id"], ()),
            has_left_out=row["has_left_out"],
            synced_until=row["synced_until"],
        )
        for row in connection.execute(_DUE, {"blockchains": list(chains)})
    ]


def untracked(connection: Connection, wallet_ids: Iterable[int]) -> set[int]:
    """Return those of the wallets that are no longer tracked."""
    rows = connection.execute(_FIND_UNTRACKED, {"wallet_ids": list(wallet_ids)})
    return {row["wallet_id"] for row in rows}


def save_synced(connection: Connection, pieces: Iterable[Piece]) -> None:
    """Save that the trades of these pieces are imported."""
    for piece in pieces:
        _save(
            connection,
            _SAVE_SYNCED,
            {
                "wallet_id": piece.task.wallet.wallet_id,
                "synced_from": piece.task.complete_from,
                "synced_until": piece.chunk.until or piece.began,
                # After an interruption the next fetch continues from here.
                "rechecked_at": (piece.chunk.until or piece.began) if piece.task.recheck else None,
                "tried_at": piece.began,
            },
        )


def save_failed(connection: Connection, task: Task, outcome: str) -> None:
    """Save that the wallet of this task failed, and how."""
    parameters = {"wallet_id": task.wallet.wallet_id, "tried_at": datetime.now(UTC), "failure": outcome}
    _save(connection, _SAVE_FAILED, parameters)


def _save(connection: Connection, statement: LiteralString, parameters: dict[str, Any]) -> None:
    # Each in its own transaction, which locks one wallet only, so that it cannot deadlock with a command that
    # removes several. A wallet that is removed at the same time has no state.
    with suppress(MissingReference), translated():
        connection.execute(statement, parameters)


def _task(row: Row, since: datetime, overlap: timedelta, now: datetime) -> Task:
    wallet = TrackedWallet(row["wallet_id"], CHAINS[row["blockchain"]], row["address"])
    synced_from, synced_until, rechecked_at = row["synced_from"], row["synced_until"], row["rechecked_at"]
    if synced_from is None or since < synced_from:
        return Task(wallet, since, since, recheck=True)
    recheck = rechecked_at is None or now - rechecked_at >= RECHECK
    start = (rechecked_at or synced_from) if recheck else synced_until
    # Not earlier than the first fetch, or the second one would find trades that the first did not.
    return Task(wallet, max(start - overlap, synced_from), synced_from, recheck)
