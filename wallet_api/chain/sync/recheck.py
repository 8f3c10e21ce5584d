"""The second reading of blocks, once a day: a node may have left out logs for longer than a moment."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from wallet_api.chain.decoding.swaps import TrackedWallet
from wallet_api.chain.providers.trades.evm_rpc import EvmRpcTrades
from wallet_api.chain.sync.tasks import BEHIND, Range, Task
from wallet_api.database import Connection, Row, load_statements

_EVERY = timedelta(days=1)
# After a failure.
_PAUSE_SECONDS = 600.0

_RECHECK = load_statements(__package__, "recheck")


class Rechecks:
    """Reads the blocks of a chain again once a day, all but those of the last `overlap`."""

    def __init__(self, source: EvmRpcTrades, overlap: timedelta) -> None:
        self._source = source
        self._overlap = overlap
        self._not_before = 0.0
        self._task: Task | None = None

    def task(self, connection: Connection, blockchain: str, rows: Sequence[Row]) -> Task | None:
        """Return the task that reads what is due again, for the wallets that are read with their chain."""
        if self._task is not None and self._task.outcome == BEHIND:
            # It goes on where it was when others had their turn.
            self._task.outcome = self._task.began = None
            return self._task
        state = connection.execute(_RECHECK["due"], {"blockchain": blockchain}).fetchone()
        wallets = [TrackedWallet.from_row(row) for row in rows if row["is_with_chain"]]
        if state is None or not wallets or time.monotonic() < self._not_before:
            return None
        since, now = state["rechecked_until"], datetime.now(UTC)
        until = min(state["synced_until"], now - self._overlap)
        if now - since < _EVERY or until <= since:
            return None
        parameters = {"blockchain": blockchain, "since": since, "until": until}
        found = connection.execute(_RECHECK["read"], parameters).fetchall()
        read = {(row["tx_signature"], row["address"]) for row in found}
        # Whatever the ledger does not have is new.
        ranges = [Range(wallet, since, since, False, now, since) for wallet in wallets]
        chunks = self._source.recheck(wallets, since, until, read)
        self._task = Task(blockchain, ranges, lambda: chunks, self._save)
        return self._task

    def _save(
        self, connection: Connection, task: Task, until: datetime | None, failure: str | None
    ) -> set[int]:
        """Save until when the blocks are read again; after a failure leave the node alone for a while.

        How far the wallets are read stays the same.
        """
        if failure is not None:
            self._not_before = time.monotonic() + _PAUSE_SECONDS
        else:
            connection.execute(_RECHECK["move"], {"blockchain": task.chain, "until": until})
        return {wallet.wallet_id for wallet in task.wallets}
