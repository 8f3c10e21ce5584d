"""Trades from a Solana node: the signatures of a wallet, then each transaction.

https://solana.com/docs/rpc/http/getsignaturesforaddress and
https://solana.com/docs/rpc/http/gettransaction.
"""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import msgspec
from cachetools import LRUCache

from wallet_api.ledger import fields
from wallet_api.providers.faults import Broken, Malformed
from wallet_api.providers.jsonrpc import Node, Result
from wallet_api.providers.parsing import UnusableRow
from wallet_api.providers.solana_names import Names
from wallet_api.providers.trades.solana_moves import Transaction, read_swaps
from wallet_api.providers.trades.swaps import BadSwap, Chunk, Leg, Swap, TrackedWallet

CHUNK_TRANSACTIONS = 50

# Most rounds need the signatures of the last hour; the first one needs all.
_FIRST_PAGE = 100
_PAGE = 1000
# Imported trades are not undone by a reorganisation, so only finalized transactions are read.
_FINAL = {"commitment": "finalized"}
_READABLE = _FINAL | {"encoding": "jsonParsed", "maxSupportedTransactionVersion": 0}
_UNSUPPORTED_VERSION = -32015
# A node may list a transaction before it can return it. An older one is lost.
_YOUNG = timedelta(hours=1)
_REMEMBERED = 20_000

NOT_AVAILABLE = "the node no longer has the transaction"

Shape = TypeVar("Shape")


class _Listed(msgspec.Struct, rename="camel"):
    signature: str
    err: Any = None
    block_time: int | None = None


@dataclass(frozen=True, slots=True)
class _Row:
    moment: datetime
    signature: str


@dataclass(frozen=True, slots=True)
class _Outcome:
    swaps: Sequence[Swap] = ()
    bad: BadSwap | None = None


class SolanaRpcTrades:
    """getSignaturesForAddress back to `since`, then getTransaction, oldest first."""

    name = "rpc"

    def __init__(self, node: Node) -> None:
        self._node = node
        self._names = Names(node)
        self._lock = threading.Lock()
        # A finalized transaction never changes, so each round requests only new ones.
        self._outcomes: LRUCache[tuple[str, str], _Outcome] = LRUCache(_REMEMBERED)

    def chunks(self, wallet: TrackedWallet, since: datetime) -> Iterator[Chunk]:
        """Implement TradeSource.chunks. Each request is a fetch with its own deadline and retries."""
        listed = self._list(wallet, since)
        for start in range(0, max(1, len(listed)), CHUNK_TRANSACTIONS):
            end = start + CHUNK_TRANSACTIONS
            chunk = self._read(wallet, listed[start:end])
            chunk.until = listed[end].moment if end < len(listed) else None
            yield chunk

    def close(self) -> None:
        self._node.fetcher.session.close()

    def _list(self, wallet: TrackedWallet, since: datetime) -> list[_Row]:
        """Return the successful transactions since then, in the order of their times."""
        listed: list[_Row] = []
        befores: set[str] = set()
        options: dict[str, Any] = _FINAL | {"limit": _FIRST_PAGE}
        moment = datetime.now(UTC)
        # A short page need not be the last: nodes combine several stores.
        while page := self._request("getSignaturesForAddress", wallet.address, options).read(list[_Listed]):
            for row in page:
                # A row without a time gets that of the next newer one.
                moment = moment if row.block_time is None else _time(row.block_time)
                if row.err is None and moment >= since:
                    listed.append(_Row(moment, row.signature))
            before = page[-1].signature
            if moment < since:
                break
            if before in befores:
                raise Malformed("a signature came twice")
            befores.add(before)
            options = _FINAL | {"limit": _PAGE, "before": before}
        listed.reverse()
        return sorted(listed, key=lambda row: row.moment)

    def _read(self, wallet: TrackedWallet, listed: Sequence[_Row]) -> Chunk:
        found = {row: self._fetch_outcome(wallet, row) for row in listed}
        for row in [row for row, outcome in found.items() if outcome is None]:
            # By now the node may have it.
            found[row] = self._fetch_outcome(wallet, row)
            if found[row] is None and row.moment > datetime.now(UTC) - _YOUNG:
                raise Broken("a listed transaction is not available")
        outcomes = [
            outcome or _Outcome(bad=BadSwap(row.signature, NOT_AVAILABLE)) for row, outcome in found.items()
        ]
        swaps = [swap for outcome in outcomes for swap in outcome.swaps]
        return Chunk(self._named(swaps), [outcome.bad for outcome in outcomes if outcome.bad])

    def _fetch_outcome(self, wallet: TrackedWallet, row: _Row) -> _Outcome | None:
        """Return the swaps of a transaction; None if the node does not return it."""
        key = wallet.address, row.signature
        with self._lock:
            known = self._outcomes.get(key)
        if known is not None:
            return known
        result = self._request("getTransaction", row.signature, _READABLE)
        if result.error is not None and result.error.code == _UNSUPPORTED_VERSION:
            return _Outcome(bad=BadSwap(row.signature, "a transaction of an unknown version"))
        try:
            transaction = result.read(Transaction | None)  # type: ignore[arg-type]
        except Malformed:
            return None
        if transaction is None:
            return None
        outcome = _outcome(wallet, row, transaction)
        with self._lock:
            self._outcomes[key] = outcome
        return outcome

    def _named(self, swaps: Sequence[Swap]) -> list[Swap]:
        mints = sorted({leg.mint for swap in swaps for leg in (swap.bought, swap.sold) if leg.mint})
        if not mints:
            return []
        with self._node.fetcher.begin("solana") as fetch:
            found = self._names.look_up(fetch, mints)
        if found.keys() != set(mints):
            # A trade without its name would be a correction, and another one when the name is back.
            raise Broken("names are not available")
        names = {mint: name.name or name.symbol or None for mint, name in found.items()}

        def named(leg: Leg) -> Leg:
            return leg if leg.mint is None else replace(leg, name=names[leg.mint])

        return [replace(swap, bought=named(swap.bought), sold=named(swap.sold)) for swap in swaps]

    def _request(self, method: str, subject: str, options: dict[str, Any]) -> Result:
        with self._node.fetcher.begin("solana") as fetch:
            (result,) = self._node.call(fetch, [(method, [subject, options])])
        return result


def _outcome(wallet: TrackedWallet, row: _Row, transaction: Transaction) -> _Outcome:
    try:
        fields.check_text("the signature", row.signature, fields.MAX_SIGNATURE, required=True)
        moment = row.moment if transaction.block_time is None else _time(transaction.block_time)
        fields.check_time("the time", moment, datetime.now(UTC))
        return _Outcome(read_swaps(wallet, row.signature, moment, transaction))
    except UnusableRow as error:
        return _Outcome(bad=BadSwap(row.signature, str(error)))
    except fields.BadRow as error:
        return _Outcome(bad=BadSwap(row.signature, error.rule))


def _time(seconds: int) -> datetime:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError) as error:
        raise Malformed("a time out of range") from error
