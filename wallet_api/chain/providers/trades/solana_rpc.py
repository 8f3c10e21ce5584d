"""Trades from a Solana node: the transactions of a wallet, listed and then requested, or in whole pages."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from cachetools import LRUCache

from wallet_api.base import forms
from wallet_api.chain.decoding.amounts import UnusableRow, time_of
from wallet_api.chain.decoding.solana.transactions import SolanaEvidence, Transaction
from wallet_api.chain.decoding.swaps import OTHERS, Reason, TrackedWallet
from wallet_api.chain.decoding.trades import Decoded
from wallet_api.chain.providers import replies
from wallet_api.chain.providers.faults import Broken
from wallet_api.chain.providers.jsonrpc import Node
from wallet_api.chain.providers.trades.solana_node import UNKNOWN_FORM, SolanaNode
from wallet_api.chain.providers.trades.source import (
    NOT_AVAILABLE,
    Block,
    Chunk,
    Listed,
    Notice,
    decode_one,
)

CHUNK_TRANSACTIONS = 50

# A fetch of more than this is read in whole pages: a first one, the daily one, one after an outage. For less,
# a list costs fewer of a vendor's credits, since most of its transactions are known.
_LONG = timedelta(hours=12)
# A node may list a transaction before it can return it. An older one is lost.
_YOUNG = timedelta(hours=1)
_CACHED = 20_000

# What was decoded of a transaction, and whether it was decoded for the first time.
_Outcome = tuple[Decoded, bool]


class SolanaRpcTrades:
    """Whole pages of transactions if much is to be read; else signatures, then each transaction."""

    reads_blocks = False
    states_final = True

    def __init__(self, node: Node) -> None:
        self._node = SolanaNode(node)
        self._lock = threading.Lock()
        # A finalized transaction never changes, so each round requests only new ones.
        self._decoded: LRUCache[tuple[str, str], Decoded] = LRUCache(_CACHED)

    def chunks(
        self,
        wallets: Sequence[TrackedWallet],
        since: datetime,
        again: Sequence[Listed] = (),
        known: Sequence[Block] = (),
    ) -> Iterator[Chunk]:
        """Implement TradeSource.chunks. Each request is a fetch with its own deadline and retries."""
        (wallet,) = wallets
        final = self._node.final_slot()
        for chunk in self._chunks(wallet, since, again):
            chunk.final = final
            yield chunk

    def _chunks(self, wallet: TrackedWallet, since: datetime, again: Sequence[Listed]) -> Iterator[Chunk]:
        before = {row.tx_signature: row for row in again}
        if since < datetime.now(UTC) - _LONG:
            for rows, until, is_last in self._node.pages(wallet, since):
                outcomes = {row: self._outcome(row, transaction) for row, transaction in rows}
                chunk = self._chunk(outcomes, again, before)
                chunk.until, chunk.is_last = None if is_last else until, is_last
                yield chunk
                if is_last:
                    return
                since, again = until, ()
        listed = self._node.listed(wallet, since)
        for start in range(0, max(1, len(listed)), CHUNK_TRANSACTIONS):
            end = start + CHUNK_TRANSACTIONS
            chunk = self._chunk(self._fetch(listed[start:end]), again, before)
            if end < len(listed):
                chunk.until, chunk.is_last = listed[end].created_at, False
            yield chunk
            again = ()

    def read_notice(self, wallet: TrackedWallet, notice: Notice) -> Chunk:
        """Return the trades of a wallet in a transaction that was notified. Raise ProviderFault."""
        transaction = notice.transaction or self._node.notified(notice.signature)
        seconds = transaction.block_time
        moment = self._node.time_of_slot(notice.slot) if seconds is None else replies.reply_time(seconds)
        row = Listed(wallet, moment, notice.signature)
        chunk = self._chunk({row: self._outcome(row, transaction)}, (), {})
        chunk.final = notice.slot
        return chunk

    def _chunk(
        self,
        outcomes: Mapping[Listed, _Outcome],
        again: Sequence[Listed],
        before: Mapping[str, Listed],
    ) -> Chunk:
        """Return a chunk of these transactions and those of `again`; `before` are those left out before."""
        signatures = {row.tx_signature for row in outcomes}
        more = self._fetch([row for row in again if row.tx_signature not in signatures])
        chunk = Chunk()
        for row, (decoded, is_new) in (*outcomes.items(), *more.items()):
            chunk.add(row, decoded, is_new=is_new)
            chunk.counts[OTHERS] += is_new and not decoded.is_signed
            if not decoded.is_kept and row.tx_signature in before:
                chunk.reread.append(row)
        return chunk

    def _fetch(self, rows: Sequence[Listed]) -> dict[Listed, _Outcome]:
        """Return what was decoded of transactions; LOST for an old one that the node does not return."""
        outcomes = {row: self._fetch_one(row) for row in rows}
        for row in [row for row, outcome in outcomes.items() if outcome is None]:
            # The node may have it now.
            outcomes[row] = self._fetch_one(row)
            if outcomes[row] is None and row.created_at > datetime.now(UTC) - _YOUNG:
                raise Broken("a listed transaction is not available")
        lost = Decoded(why=Reason.LOST, detail=NOT_AVAILABLE), True
        return {row: outcome or lost for row, outcome in outcomes.items()}

    def _fetch_one(self, row: Listed) -> _Outcome | None:
        known = self._known(row)
        if known is not None:
            return known, False
        try:
            transaction = self._node.transaction(row.tx_signature)
        except UnusableRow as error:
            return Decoded(why=Reason.UNREADABLE, detail=str(error)), True
        return None if transaction is None else self._outcome(row, transaction)

    def _outcome(self, row: Listed, transaction: Transaction | None) -> _Outcome:
        """Return what was decoded of a finalized transaction, and keep it."""
        known = self._known(row)
        if known is not None:
            return known, False
        if transaction is None:
            return Decoded(why=Reason.UNREADABLE, detail=UNKNOWN_FORM), True
        decoded = decode_listed(row, transaction)
        with self._lock:
            self._decoded[row.wallet.address, row.tx_signature] = decoded
        return decoded, True

    def _known(self, row: Listed) -> Decoded | None:
        with self._lock:
            return self._decoded.get((row.wallet.address, row.tx_signature))


def decode_listed(row: Listed, transaction: Transaction) -> Decoded:
    """Return what its wallet traded in a listed transaction, or why it is left out."""
    try:
        forms.check_text("the signature", row.tx_signature, forms.MAX_SIGNATURE, required=True)
        moment = row.created_at if transaction.block_time is None else time_of(transaction.block_time)
        forms.check_time("the time", moment, datetime.now(UTC))
    except UnusableRow as error:
        return Decoded(why=Reason.UNREADABLE, detail=str(error))
    except forms.BadRow as error:
        return Decoded(why=Reason.INVALID, detail=error.rule)
    evidence = SolanaEvidence(row.wallet, row.tx_signature, moment, transaction)
    return decode_one(evidence, transaction.slot or None, transaction.transaction_index)
