"""Trades from a Solana node: the signatures of a wallet, then each transaction.

https://solana.com/docs/rpc/http/getsignaturesforaddress and
https://solana.com/docs/rpc/http/gettransaction.
"""

import re
import threading
import time
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import msgspec
from cachetools import LRUCache

from wallet_api.ledger import fields
from wallet_api.providers.faults import Broken, Malformed
from wallet_api.providers.jsonrpc import Node, Result
from wallet_api.providers.parsing import UnusableRow
from wallet_api.providers.trades.exchanges import UnclearSwap, swaps_of
from wallet_api.providers.trades.solana_moves import read_moves
from wallet_api.providers.trades.solana_transaction import Notice, Transaction
from wallet_api.providers.trades.swaps import (
    NO_TRADE,
    NOT_AVAILABLE,
    Block,
    Chunk,
    LeftOut,
    Listed,
    Reason,
    Swap,
    TrackedWallet,
    Unfinal,
)

CHUNK_TRANSACTIONS = 50

# Most rounds need the signatures of the last hour; the first one needs all.
_FIRST_PAGE = 100
_PAGE = 1000
# Imported trades are not undone by a reorganisation, so only finalized transactions are read.
_FINAL = {"commitment": "finalized"}
# The version of transactions that the mainnet has since September 2026. All versions have the same balances.
_NEWEST_VERSION = 1
_UNSUPPORTED_VERSION = -32015
_NAMED_VERSION = re.compile(r"\((\d{1,3})\)")
_INVALID_PARAMETERS = -32602
_NO_BLOCK = frozenset((-32007, -32009))
# A node may list a transaction before it can return it. An older one is lost.
_YOUNG = timedelta(hours=1)
_CACHED_OUTCOMES = 20_000
# A node may notify of a transaction or slot a moment before it returns it.
_TRIES = 5
_TRY_AGAIN_SECONDS = 0.5
_CACHED_TIMES = 512

UNSUPPORTED = "a transaction of a version that the node does not return"
UNKNOWN_FORM = "a transaction that is not of the documented form"

Shape = TypeVar("Shape")


class _Signature(msgspec.Struct, rename="camel"):
    signature: str
    err: Any = None
    block_time: int | None = None


class _Status(msgspec.Struct, rename="camel"):
    slot: int
    err: Any = None
    confirmation_status: str | None = None


class _Statuses(msgspec.Struct):
    value: list[_Status | None]


@dataclass(frozen=True, slots=True)
class _Outcome:
    swaps: Sequence[Swap] = ()
    left_out: LeftOut | None = None
    is_cached: bool = False


class SolanaRpcTrades:
    """getSignaturesForAddress back to `since`, then getTransaction, oldest first."""

    name = "rpc"
    reads_blocks = False

    def __init__(self, node: Node) -> None:
        self._node = node
        self._lock = threading.Lock()
        # A finalized transaction never changes, so each round requests only new ones.
        self._outcomes: LRUCache[tuple[str, str], _Outcome] = LRUCache(_CACHED_OUTCOMES)
        self._times: LRUCache[int, datetime] = LRUCache(_CACHED_TIMES)
        # The newest version that the node returns.
        self._version = _NEWEST_VERSION

    def chunks(
        self,
        wallets: Sequence[TrackedWallet],
        since: datetime,
        again: Sequence[Listed] = (),
        known: Sequence[Block] = (),
    ) -> Iterator[Chunk]:
        """Implement TradeSource.chunks. Each request is a fetch with its own deadline and retries."""
        (wallet,) = wallets
        listed = self._list(wallet, since)
        before = {row.tx_signature: row for row in again}
        for start in range(0, max(1, len(listed)), CHUNK_TRANSACTIONS):
            end = start + CHUNK_TRANSACTIONS
            rows = listed[start:end]
            if not start:
                signatures = {row.tx_signature for row in rows}
                rows += [row for row in again if row.tx_signature not in signatures]
            chunk = self._read(rows, before)
            if end < len(listed):
                chunk.until, chunk.is_last = listed[end].created_at, False
            yield chunk

    def read_notice(self, wallet: TrackedWallet, notice: Notice) -> Chunk:
        """Return the swaps of a wallet in a transaction that is not final yet. Raise ProviderFault."""
        transaction = notice.transaction or self._fetch_confirmed(notice.signature)
        seconds = transaction.block_time
        moment = self._time_of(notice.slot) if seconds is None else _time(seconds)
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
        signatures = list(dict.fromkeys(row.tx_signature for row in unfinal))
        options = {"searchTransactionHistory": True}
        result = self._request("getSignatureStatuses", signatures, options)
        statuses = dict(zip(signatures, result.read(_Statuses).value, strict=False))
        if len(statuses) < len(signatures):
            raise Malformed("too few statuses")
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

    def close(self) -> None:
        self._node.fetcher.session.close()

    def _fetch_confirmed(self, signature: str) -> Transaction:
        """Return a transaction that is not final yet."""
        for _ in range(_TRIES):
            result = self._fetch_transaction(signature, "confirmed")
            if result is None:
                # Reading the wallet finds it, and keeps it as unreadable.
                raise Broken(UNSUPPORTED)
            if result.error is None or result.error.code not in _NO_BLOCK:
                transaction = result.read(Transaction | None)  # type: ignore[arg-type]
                if transaction is not None:
                    return transaction
            time.sleep(_TRY_AGAIN_SECONDS)
        raise Broken(NOT_AVAILABLE)

    def _time_of(self, slot: int) -> datetime:
        """Return the time of a slot, as transactions have it."""
        with self._lock:
            moment = self._times.get(slot)
        if moment is not None:
            return moment
        for _ in range(_TRIES):
            seconds = self._request("getBlockTime", slot).read(int | None)  # type: ignore[arg-type]
            if seconds is not None:
                moment = _time(seconds)
                with self._lock:
                    self._times[slot] = moment
                return moment
            time.sleep(_TRY_AGAIN_SECONDS)
        raise Broken("the time of a slot is not available")

    def _list(self, wallet: TrackedWallet, since: datetime) -> list[Listed]:
        """Return the successful transactions since then, in the order of their times."""
        listed: list[Listed] = []
        befores: set[str] = set()
        options: dict[str, Any] = _FINAL | {"limit": _FIRST_PAGE}
        moment = datetime.now(UTC)
        # A short page need not be the last: nodes combine several stores.
        while page := self._request("getSignaturesForAddress", wallet.address, options).read(
            list[_Signature]
        ):
            for row in page:
                # A row without a time gets that of the next newer one.
                moment = moment if row.block_time is None else _time(row.block_time)
                if row.err is None and moment >= since:
                    listed.append(Listed(wallet, moment, row.signature))
            before = page[-1].signature
            if moment < since:
                break
            if before in befores:
                raise Malformed("a signature came twice")
            befores.add(before)
            options = _FINAL | {"limit": _PAGE, "before": before}
        listed.reverse()
        return sorted(listed, key=lambda row: row.created_at)

    def _read(self, rows: Sequence[Listed], again: Container[str]) -> Chunk:
        outcomes = {row: self._fetch_outcome(row) for row in rows}
        for row in [row for row, outcome in outcomes.items() if outcome is None]:
            # The node may have it now.
            outcomes[row] = self._fetch_outcome(row)
            if outcomes[row] is None and row.created_at > datetime.now(UTC) - _YOUNG:
                raise Broken("a listed transaction is not available")
        chunk = Chunk()
        for row, outcome in outcomes.items():
            if outcome is None:
                chunk.left_out.append(_left_out(row, Reason.LOST, NOT_AVAILABLE))
            elif outcome.left_out is not None:
                chunk.left_out.append(outcome.left_out)
            else:
                chunk.swaps += outcome.swaps
                chunk.counts[NO_TRADE] += not outcome.swaps and not outcome.is_cached
                if row.tx_signature in again:
                    chunk.settled.append(row)
        return chunk

    def _fetch_outcome(self, row: Listed) -> _Outcome | None:
        """Return the swaps of a transaction; None if the node does not return it."""
        key = row.wallet.address, row.tx_signature
        with self._lock:
            known = self._outcomes.get(key)
        if known is not None:
            return replace(known, is_cached=True)
        result = self._fetch_transaction(row.tx_signature)
        if result is None:
            return _Outcome(left_out=_left_out(row, Reason.UNREADABLE, UNSUPPORTED))
        if result.error is not None and result.error.code in _NO_BLOCK:
            return None
        try:
            transaction = result.read(Transaction | None)  # type: ignore[arg-type]
        except Malformed:
            return _Outcome(left_out=_left_out(row, Reason.UNREADABLE, UNKNOWN_FORM))
        if transaction is None:
            return None
        outcome = _outcome(row, transaction)
        with self._lock:
            self._outcomes[key] = outcome
        return outcome

    def _fetch_transaction(self, signature: str, commitment: str = "finalized") -> Result | None:
        """Return the response of the node; None if it does not return transactions of this version."""
        version = self._version
        refused: int | None = None
        while True:
            options = {
                "commitment": commitment,
                "encoding": "jsonParsed",
                "maxSupportedTransactionVersion": version,
            }
            result = self._request("getTransaction", signature, options)
            code = None if result.error is None else result.error.code
            if code == _INVALID_PARAMETERS and version and refused is None:
                # An older node does not support the version.
                refused, version = version, 0
                continue
            if result.error is None or code != _UNSUPPORTED_VERSION:
                if code != _INVALID_PARAMETERS:
                    self._version = version
                return result
            named = _NAMED_VERSION.search(result.error.message)
            newer = int(named[1]) if named else 0
            if newer <= version or (refused is not None and newer >= refused):
                return None
            version = newer

    def _request(self, method: str, *parameters: Any) -> Result:
        with self._node.fetcher.begin("solana") as fetch:
            (result,) = self._node.call(fetch, [(method, list(parameters))])
        return result


def _outcome(row: Listed, transaction: Transaction) -> _Outcome:
    try:
        fields.check_text("the signature", row.tx_signature, fields.MAX_SIGNATURE, required=True)
        moment = row.created_at if transaction.block_time is None else _time(transaction.block_time)
        fields.check_time("the time", moment, datetime.now(UTC))
        if transaction.meta.err is not None:
            return _Outcome()
        moves = read_moves(row.wallet, transaction)
        return _Outcome(swaps_of(row.wallet, row.tx_signature, moment, moves))
    except UnclearSwap as error:
        return _Outcome(left_out=_left_out(row, Reason.UNCLEAR, str(error)))
    except UnusableRow as error:
        return _Outcome(left_out=_left_out(row, Reason.UNREADABLE, str(error)))
    except fields.BadRow as error:
        return _Outcome(left_out=_left_out(row, Reason.INVALID, error.rule))


def _left_out(row: Listed, reason: Reason, detail: str) -> LeftOut:
    return LeftOut(row.wallet, row.tx_signature, reason, detail, row.created_at)


def _time(seconds: int) -> datetime:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError) as error:
        raise Malformed("a time out of range") from error
