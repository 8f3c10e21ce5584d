"""Import the results of a round into the ledger, and count them."""

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal

from wallet_api.chains import CHAINS
from wallet_api.database import Connection
from wallet_api.ledger.fields import BadRow
from wallet_api.ledger.imports import import_trades
from wallet_api.ledger.lines import Record
from wallet_api.ledger.merge import WalletRemoved
from wallet_api.ledger.rows import TradeRow
from wallet_api.providers.trades.swaps import LeftOut, Reason, TrackedWallet
from wallet_api.sync.drafts import Draft
from wallet_api.sync.heartbeats import Round, save_heartbeats
from wallet_api.sync.left_out import Owned
from wallet_api.sync.prices import Prices
from wallet_api.sync.reader_threads import Failure, Piece, Result, Task
from wallet_api.sync.refusals import DOWN, refusal_of
from wallet_api.sync.state import save_failed, save_synced, untracked
from wallet_api.sync.tally import Counts, Tally
from wallet_api.sync.values import value_drafts

log = logging.getLogger(__name__)

# After this many consecutive wallets that failed because of the provider, it counts as down.
_STRIKES = 20
NO_PRICE = "no native price of its hour is known"
_PRICE_MISSING = "price_missing"
_REMOVED = "removed"
_CRASHED = "crashed"


@dataclass
class TradesSummary:
    """The outcome of a round.

    `counts` is what it left out; `behind` counts wallets that the next round continues, `left` those not
    tried; `stopped` is why the round stopped, `pause_seconds` for how long.
    """

    wallets: int = 0
    synced: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    behind: int = 0
    left: int = 0
    swaps: int = 0
    trades: int = 0
    changed: int = 0
    wraps: int = 0
    counts: Counts = field(default_factory=Counts)
    stopped: str | None = None
    pause_seconds: float = 0.0


class Importer:
    """Imports the fetched trades into the ledger, and counts them."""

    def __init__(
        self, connection: Connection, prices: Prices, chains: Sequence[str], tasks: Sequence[Task]
    ) -> None:
        self._connection = connection
        self._prices = prices
        self._tasks = tasks
        self._tally = Tally(connection, chains)
        self._synced: set[int] = set()
        self._behind: set[int] = set()
        self._failed: dict[int, str] = {}
        self._strikes = 0
        self.summary = TradesSummary(wallets=len(tasks))

    @property
    def done(self) -> int:
        return len(self._synced) + len(self._behind) + len(self._failed)

    def add(self, group: Sequence[Result]) -> None:
        """Import the trades, then save how far they reach, so that a crash in between repeats the fetch."""
        # Once a chunk of a wallet has failed, importing a later one would leave a gap.
        pieces = [p for p in group if isinstance(p, Piece) and p.task.wallet.wallet_id not in self._failed]
        imported = self._import_pieces(pieces)
        save_synced(self._connection, imported)
        self._synced |= {piece.task.wallet.wallet_id for piece in imported if piece.chunk.until is None}
        self._behind |= {piece.task.wallet.wallet_id for piece in imported if piece.gives_way}
        if imported:
            self._strikes = 0
        for result in group:
            if isinstance(result, Failure):
                self._fail(result)

    def finish(self) -> TradesSummary:
        """Return the counts of the round, and save the heartbeats.

        A chain gets one if every wallet was tried and at least one succeeded.
        """
        summary = self.summary
        summary.synced = len(self._synced)
        summary.failed = Counter(self._failed.values())
        summary.behind = len(self._behind)
        summary.left = len(self._tasks) - self.done
        summary.counts = self._tally.finish()
        heartbeats = {}
        through = self._synced | self._behind
        for chain in CHAINS:
            wallets = [task.wallet.wallet_id for task in self._tasks if task.wallet.chain.name == chain]
            failed = sum(wallet in self._failed for wallet in wallets)
            synced = sum(wallet in through for wallet in wallets)
            if synced and synced + failed == len(wallets):
                heartbeats[chain] = Round(len(wallets), failed, self._tally.delay_seconds(chain))
        save_heartbeats(self._connection, "trades", heartbeats, datetime.now(UTC))
        return summary

    def _import_pieces(self, pieces: Sequence[Piece]) -> list[Piece]:
        drafts: list[tuple[TrackedWallet, Draft]] = []
        left_out: list[Owned] = []
        for piece in pieces:
            drafts += [(piece.task.wallet, draft) for draft in piece.drafted.drafts]
            self.summary.swaps += len(piece.chunk.swaps)
            self.summary.wraps += piece.drafted.wraps
            left_out += [
                (piece.task.wallet, each) for each in (*piece.chunk.left_out, *piece.drafted.left_out)
            ]
        values = value_drafts(self._connection, self._prices, drafts)
        valued = list(zip(drafts, values, strict=True))
        waiting = {wallet.wallet_id for (wallet, _), value in valued if value.is_pending}
        rows = []
        for (wallet, draft), value in valued:
            if wallet.wallet_id in waiting:
                continue
            if value.native is None:
                left_out.append((wallet, _left_out(draft, Reason.NO_VALUE, NO_PRICE)))
            else:
                rows.append((wallet, draft, _row(wallet, draft, value.native)))
        removed = self._import_tracked({piece.task.wallet.wallet_id for piece in pieces}, rows, left_out)
        imported = []
        for piece in pieces:
            if piece.task.wallet.wallet_id in removed:
                self._note(piece.task, _REMOVED)
            elif piece.task.wallet.wallet_id in waiting:
                self._note(piece.task, _PRICE_MISSING)
            else:
                imported.append(piece)
        self._tally.add(imported, left_out)
        return imported

    def _import_tracked(
        self,
        wallet_ids: set[int],
        rows: Sequence[tuple[TrackedWallet, Draft, TradeRow]],
        left_out: list[Owned],
    ) -> set[int]:
        """Import the rows, and return the wallets that have been removed since the round began.

        Add to `left_out` what the ledger does not accept.
        """
        removed = untracked(self._connection, wallet_ids)
        while True:
            try:
                left_out += self._import([row for row in rows if row[0].wallet_id not in removed])
            except WalletRemoved as error:
                removed |= error.wallet_ids
            else:
                return removed

    def _import(self, rows: Sequence[tuple[TrackedWallet, Draft, TradeRow]]) -> list[Owned]:
        rejected: list[Owned] = []

        def records() -> Iterator[Record[TradeRow]]:
            yield from ((number, b"", row) for number, (_, _, row) in enumerate(rows))

        def reject(number: int, line: bytes, fault: BadRow) -> None:
            wallet, draft, _ = rows[number]
            rejected.append((wallet, _left_out(draft, Reason.INVALID, fault.rule)))

        if rows:
            imported = import_trades(self._connection, records(), reject)
            self.summary.trades += imported.landed
            self.summary.changed += imported.changed
        return rejected

    def _fail(self, failure: Failure) -> None:
        stop = refusal_of(failure.fault)
        if stop is not None:
            # The fault does not concern the wallet, which therefore keeps its place in the order.
            if stop[1] > self.summary.pause_seconds:
                self.summary.stopped, self.summary.pause_seconds = stop
            return
        if failure.fault is None:
            self._note(failure.task, _CRASHED)
            return
        self._note(failure.task, failure.fault.outcome, failure.fault.detail)
        if failure.fault.provider_works is False:
            self._strikes += 1
            if self._strikes >= _STRIKES and self.summary.stopped is None:
                self.summary.stopped, self.summary.pause_seconds = DOWN

    def _note(self, task: Task, outcome: str, detail: str = "") -> None:
        wallet = task.wallet
        log.warning("%s on %s was not synced: %s %s", wallet.address, wallet.chain.name, outcome, detail)
        self._failed[wallet.wallet_id] = outcome
        save_failed(self._connection, task, outcome)


def _left_out(draft: Draft, reason: Reason, detail: str) -> LeftOut:
    return LeftOut(draft.tx_signature, reason, detail, draft.created_at)


def _row(wallet: TrackedWallet, draft: Draft, native: Decimal) -> TradeRow:
    return TradeRow(
        blockchain=wallet.chain.name,  # type: ignore[arg-type]
        wallet_address=wallet.address,
        tx_signature=draft.tx_signature,
        mint=draft.mint,
        transaction_type="sell" if draft.is_sell else "buy",
        token_amount=draft.token_amount,
        value=native,
        created_at=draft.created_at,
        token_name=draft.name,
        value_usd=draft.value_usd,
        exchanged_value=native - draft.extra if draft.extra else None,
    )
