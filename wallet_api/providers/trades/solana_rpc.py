"""A plain Solana node as a source of trades: a wallet's signatures, then each of its transactions.

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

# A round mostly needs the signatures of the last hour; a first reading needs them all.
_FIRST_PAGE = 100
_PAGE = 1000
# What lands can never be taken back, so only what can no longer be undone is read.
_FINAL = {"commitment": "finalized"}
_READABLE = _FINAL | {"encoding": "jsonParsed", "maxSupportedTransactionVersion": 0}
_UNSUPPORTED_VERSION = -32015
# A node may list a transaction before it can tell it. One older than this it has lost.
_YOUNG = timedelta(hours=1)
_REMEMBERED = 20_000

NOT_TOLD = "the node has no such transaction any more"

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
class _Told:
    swaps: Sequence[Swap] = ()
    bad: BadSwap | None = None


class SolanaRpcTrades:
    """getSignaturesForAddress back to the beginning, then getTransaction, the oldest first."""

    name = "rpc"

    def __init__(self, node: Node) -> None:
        self._node = node
        self._names = Names(node)
        self._lock = threading.Lock()
        # A final transaction stays what it is: each round asks only for those that are new.
        self._told: LRUCache[tuple[str, str], _Told] = LRUCache(_REMEMBERED)

    def chunks(self, wallet: TrackedWallet, since: datetime) -> Iterator[Chunk]:
        """As TradeSource says. Each call is a fetch of its own, with its own deadline and retries."""
        listed = self._list(wallet, since)
        for start in range(0, max(1, len(listed)), CHUNK_TRANSACTIONS):
            end = start + CHUNK_TRANSACTIONS
            chunk = self._read(wallet, listed[start:end])
            chunk.until = listed[end].moment if end < len(listed) else None
            yield chunk

    def close(self) -> None:
        self._node.fetcher.session.close()

    def _list(self, wallet: TrackedWallet, since: datetime) -> list[_Row]:
        """The transactions since then that did not fail, in the order of their times."""
        listed: list[_Row] = []
        befores: set[str] = set()
        options: dict[str, Any] = _FINAL | {"limit": _FIRST_PAGE}
        moment = datetime.now(UTC)
        # A short page need not be the last one: nodes join them from several stores.
        while page := self._ask("getSignaturesForAddress", wallet.address, options).read(list[_Listed]):
            for row in page:
                # One without a time has that of the next younger one.
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
        told = {row: self._tell(wallet, row) for row in listed}
        for row in [row for row, answer in told.items() if answer is None]:
            # By now the node may have it.
            told[row] = self._tell(wallet, row)
            if told[row] is None and row.moment > datetime.now(UTC) - _YOUNG:
                raise Broken("a transaction that is listed and not told")
        answers = [answer or _Told(bad=BadSwap(row.signature, NOT_TOLD)) for row, answer in told.items()]
        swaps = [swap for answer in answers for swap in answer.swaps]
        return Chunk(self._named(swaps), [answer.bad for answer in answers if answer.bad])

    def _tell(self, wallet: TrackedWallet, row: _Row) -> _Told | None:
        """The swaps of a transaction; None if the node does not tell it."""
        key = wallet.address, row.signature
        with self._lock:
            known = self._told.get(key)
        if known is not None:
            return known
        result = self._ask("getTransaction", row.signature, _READABLE)
        if result.error is not None and result.error.code == _UNSUPPORTED_VERSION:
            return _Told(bad=BadSwap(row.signature, "a transaction of a version that is not known"))
        try:
            transaction = result.read(Transaction | None)  # type: ignore[arg-type]
        except Malformed:
            return None
        if transaction is None:
            return None
        answer = _swaps_or_note(wallet, row, transaction)
        with self._lock:
            self._told[key] = answer
        return answer

    def _named(self, swaps: Sequence[Swap]) -> list[Swap]:
        mints = sorted({leg.mint for swap in swaps for leg in (swap.bought, swap.sold) if leg.mint})
        if not mints:
            return []
        with self._node.fetcher.begin("solana") as fetch:
            found = self._names.look_up(fetch, mints)
        if found.keys() != set(mints):
            # Without its name a trade would be another one, and change back in a later round.
            raise Broken("names")
        names = {mint: name.name or name.symbol or None for mint, name in found.items()}

        def named(leg: Leg) -> Leg:
            return leg if leg.mint is None else replace(leg, name=names[leg.mint])

        return [replace(swap, bought=named(swap.bought), sold=named(swap.sold)) for swap in swaps]

    def _ask(self, method: str, subject: str, options: dict[str, Any]) -> Result:
        with self._node.fetcher.begin("solana") as fetch:
            (result,) = self._node.ask(fetch, [(method, [subject, options])])
        return result


def _swaps_or_note(wallet: TrackedWallet, row: _Row, transaction: Transaction) -> _Told:
    try:
        fields.check_text("the signature", row.signature, fields.MAX_SIGNATURE, required=True)
        moment = row.moment if transaction.block_time is None else _time(transaction.block_time)
        fields.check_time("the time", moment, datetime.now(UTC))
        return _Told(read_swaps(wallet, row.signature, moment, transaction))
    except UnusableRow as error:
        return _Told(bad=BadSwap(row.signature, str(error)))
    except fields.BadRow as error:
        return _Told(bad=BadSwap(row.signature, error.rule))


def _time(seconds: int) -> datetime:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError) as error:
        raise Malformed("a time beyond all calendars") from error
