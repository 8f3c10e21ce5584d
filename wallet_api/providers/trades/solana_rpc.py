"""Trades from a Solana node: the transactions of a wallet, listed and then requested, or in whole pages."""

import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from cachetools import LRUCache

from wallet_api import forms
from wallet_api.decoding.amounts import UnusableRow
from wallet_api.decoding.exchanges import UnclearSwap, swaps_of
from wallet_api.decoding.solana import Transaction
from wallet_api.decoding.solana_moves import read_moves
from wallet_api.decoding.swaps import NO_TRADE, LeftOut, Reason, Swap, TrackedWallet
from wallet_api.providers.faults import Broken
from wallet_api.providers.jsonrpc import Node
from wallet_api.providers.replies import time_of
from wallet_api.providers.trades.solana_node import UNKNOWN_FORM, SolanaNode, UnknownFormError
from wallet_api.providers.trades.source import NOT_AVAILABLE, Block, Chunk, Listed, Notice, Unfinal

CHUNK_TRANSACTIONS = 50

# A fetch of more than this is read in whole pages: a first one, the daily one, one after an outage. For less,
# a list costs fewer of a vendor's credits, since most of its transactions are known.
_LONG = timedelta(hours=12)
# A node may list a transaction before it can return it. An older one is lost.
_YOUNG = timedelta(hours=1)
_CACHED_OUTCOMES = 20_000


@dataclass(frozen=True, slots=True)
class _Outcome:
    swaps: Sequence[Swap] = ()
    left_out: LeftOut | None = None
    is_cached: bool = False


class SolanaRpcTrades:
    """Whole pages of transactions if much is to be read; else signatures, then each transaction."""

    reads_blocks = False

    def __init__(self, node: Node) -> None:
        self._node = SolanaNode(node)
        self._lock = threading.Lock()
        # A finalized transaction never changes, so each round requests only new ones.
        self._outcomes: LRUCache[tuple[str, str], _Outcome] = LRUCache(_CACHED_OUTCOMES)

    def chunks(
        self,
        wallets: Sequence[TrackedWallet],
        since: datetime,
        again: Sequence[Listed] = (),
        known: Sequence[Block] = (),
    ) -> Iterator[Chunk]:
        """Implement TradeSource.chunks. Each request is a fetch with its own deadline and retries."""
        (wallet,) = wallets
        before = {row.tx_signature: row for row in again}
        if since < datetime.now(UTC) - _LONG:
            for page in self._node.pages(wallet, since):
                outcomes = {row: self._outcome(row, transaction) for row, transaction in page.rows}
                chunk = self._chunk(outcomes, again, before)
                chunk.is_last = page.is_last
                chunk.until = None if page.is_last else page.until
                yield chunk
                if page.is_last:
                    return
                since, again = page.until, ()
        listed = self._node.listed(wallet, since)
        for start in range(0, max(1, len(listed)), CHUNK_TRANSACTIONS):
            end = start + CHUNK_TRANSACTIONS
            chunk = self._chunk(self._fetch(listed[start:end]), again, before)
            if end < len(listed):
                chunk.until, chunk.is_last = listed[end].created_at, False
            yield chunk
            again = ()

    def read_notice(self, wallet: TrackedWallet, notice: Notice) -> Chunk:
        """Return the swaps of a wallet in a transaction that is not final yet. Raise ProviderFault."""
        transaction = notice.transaction or self._node.confirmed(notice.signature)
        seconds = transaction.block_time
        moment = self._node.time_of_slot(notice.slot) if seconds is None else time_of(seconds)
        outcome = _outcome(Listed(wallet, moment, notice.signature), transaction)
        chunk = Chunk(list(outcome.swaps), counts=Counter({NO_TRADE: not outcome.swaps}))
        if outcome.left_out is not None:
            chunk = Chunk(left_out=[outcome.left_out])
        if chunk.swaps or chunk.left_out:
            seen_at = datetime.now(UTC)
            chunk.unfinal.append(Unfinal(wallet, notice.signature, moment, notice.slot, seen_at))
        return chunk

    def decide(self, unfinal: Sequence[Unfinal], lost_before: datetime) -> Chunk:
        """Return which of at most 256 transactions are final, or orphaned if not final and seen before then.

        Raise ProviderFault.
        """
        statuses = self._node.statuses(list(dict.fromkeys(row.tx_signature for row in unfinal)))
        chunk = Chunk()
        for row in unfinal:
            status = statuses[row.tx_signature]
            if status is not None and status.confirmation_status == "finalized":
                is_same = status.slot == row.number and status.err is None
            elif row.seen_at < lost_before:
                is_same = False
            else:
                continue
            chunk.decided.append(row)
            if not is_same:
                chunk.orphans.append(Block(row.number, "", row.created_at, (row.tx_signature,)))
        return chunk

    def _chunk(
        self,
        outcomes: Mapping[Listed, _Outcome | None],
        again: Sequence[Listed],
        before: Mapping[str, Listed],
    ) -> Chunk:
        """Return a chunk of these transactions and those of `again`; `before` are those left out before."""
        signatures = {row.tx_signature for row in outcomes}
        more = self._fetch([row for row in again if row.tx_signature not in signatures])
        chunk = Chunk()
        for row, outcome in (*outcomes.items(), *more.items()):
            if outcome is None:
                chunk.left_out.append(_left_out(row, Reason.LOST, NOT_AVAILABLE))
            elif outcome.left_out is not None:
                chunk.left_out.append(outcome.left_out)
            else:
                chunk.swaps += outcome.swaps
                chunk.counts[NO_TRADE] += not outcome.swaps and not outcome.is_cached
                if row.tx_signature in before:
                    chunk.settled.append(row)
        return chunk

    def _fetch(self, rows: Sequence[Listed]) -> dict[Listed, _Outcome | None]:
        """Return the swaps of transactions; None for one that is old and that the node does not return."""
        outcomes = {row: self._fetch_one(row) for row in rows}
        for row in [row for row, outcome in outcomes.items() if outcome is None]:
            # The node may have it now.
            outcomes[row] = self._fetch_one(row)
            if outcomes[row] is None and row.created_at > datetime.now(UTC) - _YOUNG:
                raise Broken("a listed transaction is not available")
        return outcomes

    def _fetch_one(self, row: Listed) -> _Outcome | None:
        known = self._known(row)
        if known is not None:
            return known
        try:
            transaction = self._node.transaction(row.tx_signature)
        except UnknownFormError as error:
            return _Outcome(left_out=_left_out(row, Reason.UNREADABLE, str(error)))
        return None if transaction is None else self._outcome(row, transaction)

    def _outcome(self, row: Listed, transaction: Transaction | None) -> _Outcome:
        """Return the swaps of a finalized transaction, and keep them."""
        known = self._known(row)
        if known is not None:
            return known
        if transaction is None:
            return _Outcome(left_out=_left_out(row, Reason.UNREADABLE, UNKNOWN_FORM))
        outcome = _outcome(row, transaction)
        with self._lock:
            self._outcomes[row.wallet.address, row.tx_signature] = outcome
        return outcome

    def _known(self, row: Listed) -> _Outcome | None:
        with self._lock:
            known = self._outcomes.get((row.wallet.address, row.tx_signature))
        return None if known is None else replace(known, is_cached=True)


def _outcome(row: Listed, transaction: Transaction) -> _Outcome:
    try:
        forms.check_text("the signature", row.tx_signature, forms.MAX_SIGNATURE, required=True)
        moment = row.created_at if transaction.block_time is None else time_of(transaction.block_time)
        forms.check_time("the time", moment, datetime.now(UTC))
        if transaction.meta.err is not None:
            return _Outcome()
        moves = read_moves(row.wallet, transaction)
        return _Outcome(swaps_of(row.wallet, row.tx_signature, moment, moves))
    except UnclearSwap as error:
        return _Outcome(left_out=_left_out(row, Reason.UNCLEAR, str(error)))
    except UnusableRow as error:
        return _Outcome(left_out=_left_out(row, Reason.UNREADABLE, str(error)))
    except forms.BadRow as error:
        return _Outcome(left_out=_left_out(row, Reason.INVALID, error.rule))


def _left_out(row: Listed, reason: Reason, detail: str) -> LeftOut:
    return LeftOut(row.wallet, row.tx_signature, reason, detail, row.created_at)
