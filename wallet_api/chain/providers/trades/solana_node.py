"""The requests to a Solana node about transactions: those of an address, and single ones.

https://solana.com/docs/rpc/http/getsignaturesforaddress, https://solana.com/docs/rpc/http/gettransaction
and, where the node has it,
https://www.helius.dev/docs/api-reference/rpc/http/gettransactionsforaddress.
"""

import logging
import math
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec
from cachetools import LRUCache, cachedmethod

from wallet_api.chain.decoding.amounts import UnusableRow
from wallet_api.chain.decoding.solana.transactions import Transaction
from wallet_api.chain.decoding.swaps import TrackedWallet
from wallet_api.chain.providers.faults import BadKey, Broken, Malformed, Rejected, TooLarge
from wallet_api.chain.providers.jsonrpc import Content, Node, NodeResult
from wallet_api.chain.providers.parsing import has_next
from wallet_api.chain.providers.replies import read_json, reply_time
from wallet_api.chain.providers.trades.source import NOT_AVAILABLE, Listed

log = logging.getLogger(__name__)

UNSUPPORTED = "a transaction of a version that the node does not return"
UNKNOWN_FORM = "a transaction that is not of the documented form"

_HISTORY = "getTransactionsForAddress"
# Most rounds need the signatures of the last hour; the first one needs all.
_FIRST_PAGE = 100
_PAGE = 1000
# What every version of the method allows. More in a page cost the same, and some 30 MB.
_HISTORY_PAGE = 100
# What is final is never undone, so nothing else is read.
_FINAL = {"commitment": "finalized"}
# The version of transactions that the mainnet has since September 2026. All versions have the same balances.
_NEWEST_VERSION = 1
_UNSUPPORTED_VERSION = -32015
_NAMED_VERSION = re.compile(r"\((\d{1,3})\)")
_INVALID_PARAMETERS = -32602
_NO_BLOCK = frozenset((-32007, -32009))
# A node may notify of a transaction or slot a moment before it returns it.
_TRIES = 5
_TRY_AGAIN_SECONDS = 0.5
_CACHED_TIMES = 512
# How often the newest final slot is requested, so that it is no part of reading each wallet.
_FINAL_SECONDS = 10.0


class _Signature(msgspec.Struct, rename="camel"):
    signature: str
    err: Any = None
    block_time: int | None = None


class _Signed(msgspec.Struct):
    signatures: list[str]


class _Row(msgspec.Struct, rename="camel"):
    transaction: _Signed
    block_time: int | None = None


class _History(msgspec.Struct, rename="camel"):
    data: list[msgspec.Raw]
    pagination_token: str | None = None


class TransactionPage(NamedTuple):
    """Whole transactions of a wallet, the oldest first; None for one whose form is not known.

    All before `until` are in it or in an earlier page.
    """

    rows: Sequence[tuple[Listed, Transaction | None]]
    until: datetime
    is_last: bool


class SolanaNode:
    """The transactions of a node. Each request is a fetch with its own deadline and retries. Thread-safe.

    What a notification needs is requested before what else waits for the rate limit.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._lock = threading.Lock()
        self._times: LRUCache[int, datetime] = LRUCache(_CACHED_TIMES)
        # The newest version that the node returns.
        self._version = _NEWEST_VERSION
        self._has_history = True
        # The newest final slot, and when it was requested.
        self._final, self._final_at = 0, -math.inf
        self._final_lock = threading.Lock()

    def final_slot(self) -> int:
        """Return the newest final slot as it was at most some seconds ago."""
        with self._final_lock:
            if time.monotonic() - self._final_at > _FINAL_SECONDS:
                self._final = self._request("getSlot", _FINAL).read(int)
                self._final_at = time.monotonic()
            return self._final

    def listed(self, wallet: TrackedWallet, since: datetime) -> list[Listed]:
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
                moment = _time(row) or moment
                if row.err is None and moment >= since:
                    listed.append(Listed(wallet, moment, row.signature))
            before = page[-1].signature
            if moment < since or not has_next(before, befores):
                break
            options = _FINAL | {"limit": _PAGE, "before": before}
        listed.reverse()
        return sorted(listed, key=lambda row: row.created_at)

    def pages(self, wallet: TrackedWallet, since: datetime) -> Iterator[TransactionPage]:
        """Yield the transactions since then as whole pages, up to the last one or as far as the node goes.

        They include those that name only a token account of the wallet.
        """
        filters = {
            "blockTime": {"gte": int(since.timestamp())},
            "status": "succeeded",
            "tokenAccounts": "balanceChanged",
        }
        order = {"transactionDetails": "full", "sortOrder": "asc", "limit": _HISTORY_PAGE}
        options: dict[str, Any] = _FINAL | order | {"filters": filters}
        tokens: set[str] = set()
        until = since
        while (history := self._history(wallet.address, options)) is not None:
            rows: list[tuple[Listed, Transaction | None]] = []
            for body in map(bytes, history.data):
                # Also of one whose form is not known.
                row = read_json(body, _Row)
                until = max(until, _time(row) or until)
                if not row.transaction.signatures:
                    raise Malformed("a transaction without a signature")
                rows.append((Listed(wallet, until, row.transaction.signatures[0]), _transaction(body)))
            token = history.pagination_token
            yield TransactionPage(rows, until, is_last=not token)
            if not has_next(token, tokens):
                return
            options = options | {"paginationToken": token}

    def transaction(self, signature: str) -> Transaction | None:
        """Return a finalized transaction; None if the node does not have it.

        Raise UnusableRow if the node has it in no form that can be read.
        """
        result = self._versioned("getTransaction", signature, _FINAL)
        if result is None:
            raise UnusableRow(UNSUPPORTED)
        if result.error is not None and result.error.code in _NO_BLOCK:
            return None
        try:
            return result.read(Transaction | None)  # type: ignore[arg-type]
        except Malformed:
            raise UnusableRow(UNKNOWN_FORM) from None

    def notified(self, signature: str) -> Transaction:
        """Return a transaction of which the node has notified."""
        try:
            return _when_there(lambda: self.transaction(signature), NOT_AVAILABLE)
        except UnusableRow as error:
            # Reading the wallet finds it, and keeps it as unreadable.
            raise Broken(str(error)) from None

    @cachedmethod(lambda self: self._times, lock=lambda self: self._lock)
    def time_of_slot(self, slot: int) -> datetime:
        """Return the time of a slot, as transactions have it."""

        def seconds() -> int | None:
            return self._request("getBlockTime", slot).read(int | None)  # type: ignore[arg-type]

        return reply_time(_when_there(seconds, "the time of a slot is not available"))

    def _history(self, address: str, options: dict[str, Any]) -> _History | None:
        """Return a page; None if the node does not return it, which is remembered if it has none at all."""
        if not self._has_history:
            return None
        try:
            result = self._versioned(_HISTORY, address, options)
        except (Rejected, BadKey) as fault:
            # A vendor may refuse the method to a key that it accepts for others.
            refusal = fault.outcome
        else:
            if result is None or (result.error is not None and isinstance(result.error.fault, TooLarge)):
                return None
            if result.error is None:
                return result.read(_History)
            refusal = f"code {result.error.code}"
        with self._lock:
            is_first, self._has_history = self._has_history, False
        if is_first:
            log.info("solana: the node has no %s (%s); each transaction is requested", _HISTORY, refusal)
        return None

    def _versioned(self, method: str, subject: str, options: dict[str, Any]) -> NodeResult | None:
        """Return the response of the node; None if it does not return transactions of this version."""
        version = self._version
        refused: int | None = None
        while True:
            fixed = {"encoding": "jsonParsed", "maxSupportedTransactionVersion": version}
            result = self._request(method, subject, options | fixed)
            code = None if result.error is None else result.error.code
            if code == _INVALID_PARAMETERS and version and refused is None:
                # An older node does not support the version.
                refused, version = version, 0
                continue
            if result.error is None or code != _UNSUPPORTED_VERSION:
                if result.error is None or code in _NO_BLOCK:
                    self._version = version
                return result
            named = _NAMED_VERSION.search(result.error.message)
            newer = int(named[1]) if named else 0
            if newer <= version or (refused is not None and newer >= refused):
                return None
            version = newer

    def _request(self, method: str, *parameters: Any) -> NodeResult:
        with self._node.fetcher.begin("solana") as fetch:
            (result,) = self._node.call(fetch, [(method, list(parameters))])
        return result


def _when_there(request: Callable[[], Content | None], why: str) -> Content:
    """Return what the node has a moment after it has notified of it. Raise Broken if it still has not."""
    for _ in range(_TRIES):
        if (content := request()) is not None:
            return content
        time.sleep(_TRY_AGAIN_SECONDS)
    raise Broken(why)


def _time(row: _Signature | _Row) -> datetime | None:
    """Return the time of a row; None if it has none, or one that is out of range."""
    try:
        return None if row.block_time is None else reply_time(row.block_time)
    except Malformed:
        return None


def _transaction(body: bytes) -> Transaction | None:
    try:
        return read_json(body, Transaction)
    except Malformed:
        return None
