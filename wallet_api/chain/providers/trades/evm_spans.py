"""Which transactions of tracked wallets are in a span of blocks of an EVM node, by their transfers.

https://ethereum.github.io/execution-apis/
"""

import re
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import NamedTuple

from wallet_api.base.chains import EVM_NATIVE_EMITTER, Chain
from wallet_api.chain.decoding.evm.receipts import (
    ERC20_TRANSFER,
    TRANSFER,
    ChainBlock,
    Log,
    address_of,
    topic_of,
)
from wallet_api.chain.decoding.evm.venues import EVM
from wallet_api.chain.decoding.swaps import TrackedWallet
from wallet_api.chain.decoding.venues import Role
from wallet_api.chain.providers.faults import Broken, Malformed, ProviderFault, Rejected, TimedOut, TooLarge
from wallet_api.chain.providers.jsonrpc import Call, NodeResult
from wallet_api.chain.providers.replies import reply_quantity
from wallet_api.chain.providers.trades.evm_node import (
    REPLACED,
    EvmNode,
    Found,
    Remembered,
    block_call,
)

# geth's limit of the values in a position of a filter.
_MOST_TOPICS = 1000
_FIRST_SECONDS = 3600.0
LONGEST_SECONDS = 86_400.0
"""The time that the longest span of blocks may take; nodes allow less, which shows when they refuse one."""
# A span with fewer logs is doubled.
_FEW_LOGS = 500
_TOO_MANY_TOPICS = re.compile(r"topic|filters|addresses", re.IGNORECASE)

# Those that state for whom they acted; and the events of accounts that are contracts.
_ROLES = (Role.ENTRY_POINT, Role.RUNS, Role.SETTLEMENT, Role.STATES, Role.FILLS, Role.HASH)
_STATING = [row for row in EVM if row.role in _ROLES]
_CONTRACTS = sorted({row.address for row in _STATING})
_STATEMENTS = sorted({row.topic for row in _STATING})
_ACCOUNTS = sorted({row.topic for row in EVM if row.role is Role.ACCOUNT})

# Of tokens, and of those whose transfers are logged as those of NFTs.
_TRANSFERS = [TRANSFER, ERC20_TRANSFER]


class Span(NamedTuple):
    """What is found in a span of blocks, and its last one; whether the next one may be longer."""

    end: ChainBlock
    found: dict[int, Found]
    may_widen: bool

    @property
    def last(self) -> int:
        """Return the number of the last block."""
        return reply_quantity(self.end.number)


class _Transfers(NamedTuple):
    """The transfers of a span, its last block, and the wallets of which the node does not list them."""

    logs: list[Log]
    end: ChainBlock
    unlisted: list[TrackedWallet]


class EvmSpans:
    """Reads spans as long as the node allows, and remembers the limits that it has shown."""

    def __init__(self, chain: Chain, node: EvmNode, mints: Sequence[str] = ()) -> None:
        self._chain = chain
        self._node = node
        # Of all tokens, or of these alone.
        self._tokens = {"address": list(mints)} if mints else {}
        # What the node allows: blocks in a span (0 before the first one), and wallets in a request.
        self._span = 0
        self._topics = _MOST_TOPICS
        # The blocks in a span before it was halved for one with too many transfers.
        self._usual = 0
        # The wallets, each with a block, of which it does not list all transfers.
        self._dense = Remembered()

    def walk(self, wallets: Sequence[TrackedWallet], first: int, newest: int) -> Iterator[Span]:
        """Yield what is found from `first` up to `newest`, span by span. Raise ProviderFault."""
        may_widen = True
        while first <= newest:
            span = self._read(wallets, first, newest, may_widen)
            yield span
            first, may_widen = span.last + 1, span.may_widen

    def _read(self, wallets: Sequence[TrackedWallet], first: int, newest: int, may_widen: bool) -> Span:
        self._span = self._span or self._node.pace.blocks(_FIRST_SECONDS)
        longest = min(newest, self._dense_end(first))
        while (read := self._transfers(wallets, first, last := min(longest, first + self._span - 1))) is None:
            may_widen = False
            self._usual = max(self._usual, self._span)
            self._span = max(1, (last - first + 1) // 2)
        logs, end, unlisted = read
        found = _find(wallets, logs)
        if unlisted:
            # Of one block only: the others are read as before.
            self._span, self._usual = max(self._span, self._usual), 0
            self._add_unlisted(found.setdefault(first, Found(end.hash)), first, unlisted)
        elif may_widen and len(logs) < _FEW_LOGS and last < newest:
            self._span = min(2 * self._span, self._node.pace.blocks(LONGEST_SECONDS))
        return Span(end, found, may_widen)

    def fits(self, passed: timedelta) -> bool:
        """Return whether the blocks of a time are no longer than a span."""
        span = self._span or self._node.pace.blocks(_FIRST_SECONDS)
        return self._node.pace.blocks(passed.total_seconds()) <= span

    def ahead(
        self, wallets: Sequence[TrackedWallet], first: int, calls: Sequence[Call]
    ) -> tuple[list[NodeResult], dict[int, Found] | None]:
        """Return the results of calls, the first one for the newest block, and what is found up to that one.

        All are one request. Nothing is found (None) if there are too many wallets for one, or if the node
        refuses it.
        """
        if not 0 < len(wallets) <= self._topics or self._dense_end(first) < sys.maxsize:
            return self._node.request(calls), None
        try:
            results = self._node.request([*calls, *self._calls(wallets, first, "latest")])
        except (TimedOut, Rejected):
            return self._node.request(calls), None
        results, of_logs = results[: len(calls)], results[len(calls) :]
        try:
            logs = _read_logs(of_logs)
        except ProviderFault:
            return results, None
        newest = reply_quantity(self._node.read_block(results[0]).number)
        # One that has come in between is found with its block.
        return results, _find(wallets, [log for log in logs if reply_quantity(log.block_number) <= newest])

    def _calls(self, wallets: Sequence[TrackedWallet], first: int, last: int | str) -> list[Call]:
        end = hex(last) if isinstance(last, int) else last
        span = self._tokens | {"fromBlock": hex(first), "toBlock": end}
        values = [topic_of(wallet.address) for wallet in wallets]
        return [("eth_getLogs", [span | {"topics": [_TRANSFERS, *place, values]}]) for place in ([], [None])]

    def read_block(self, wallet: TrackedWallet, number: int) -> Found:
        """Return what is found of a wallet in a block. Raise ProviderFault."""
        span = self._read([wallet], number, number, may_widen=False)
        return span.found.get(number) or Found(span.end.hash)

    def _dense_end(self, first: int) -> int:
        """Return the last block before the next one with unlisted wallets, or `first` if it is that one."""
        numbers = [number for number, _ in self._dense.values() if number >= first]
        return max(first, min(numbers) - 1) if numbers else sys.maxsize

    def _transfers(self, wallets: Sequence[TrackedWallet], first: int, last: int) -> _Transfers | None:
        """Return the transfers from and to the wallets; None if the span is too long for the node.

        A node that has not got as far as `last` would return nothing for it, so it must return that block.
        """
        logs: list[Log] = []
        end: ChainBlock | None = None
        unlisted = [wallet for wallet in wallets if first == last and (first, wallet.address) in self._dense]
        waiting = deque([[wallet for wallet in wallets if wallet not in unlisted]])
        while waiting:
            part = waiting.popleft()
            if not part:
                continue
            if len(part) > self._topics:
                waiting.extendleft((part[self._topics :], part[: self._topics]))
                continue
            try:
                *results, block = self._node.request([*self._calls(part, first, last), block_call(last)])
            except (TimedOut, Rejected):
                self._span = max(1, self._span // 2)
                if first == last:
                    raise
                return None
            try:
                logs += _read_logs(results)
            except ProviderFault as fault:
                if first < last and not _are_topics(results):
                    return None
                if len(part) > 1:
                    waiting.extendleft(self._halves(part, fault))
                elif isinstance(fault, TooLarge | Malformed):
                    unlisted += part
                    self._dense.add((first, part[0].address))
                else:
                    raise
                continue
            end = self._node.read_block(block)
        return _Transfers(logs, end or self._node.block(last), unlisted)

    def _halves(self, part: list[TrackedWallet], fault: ProviderFault) -> list[list[TrackedWallet]]:
        """Return what to request in place of these wallets, the last ones first."""
        half = len(part) // 2
        if not isinstance(fault, TooLarge | Malformed):
            self._topics = half
        return [part[half:], part[:half]]

    def _add_unlisted(self, found: Found, number: int, wallets: Sequence[TrackedWallet]) -> None:
        """Add what can be found otherwise of wallets with more transfers in a block than the node lists.

        Anybody can send a wallet so many of a token of his own. Found are the transactions that the wallet
        sent, those that call it, and those in which a known contract states that it acted for the wallet, or
        money left it. Raise ProviderFault if the node returns no logs of the block at all.
        """
        found.unlisted += wallets
        whole = self._node.whole({number: found})[number]
        for wallet in wallets:
            results = self._node.request(list(self._statements(wallet, found.hash)))
            if all(result.error is not None for result in results):
                results[0].read(list[Log])
            listed = () if whole is None else whole.listed
            signatures = [one.hash for one in listed if one.is_of(wallet.address)]
            for result in results:
                with suppress(ProviderFault):
                    signatures += [
                        log.transaction_hash for log in _read_logs([result]) if _names(log, wallet)
                    ]
            for signature in signatures:
                found.wallets.setdefault(signature, {})[wallet.address] = wallet

    def _statements(self, wallet: TrackedWallet, block_hash: str) -> Iterator[Call]:
        """Yield the calls for the logs of a block that nobody can add to at will."""
        money = sorted(self._chain.stable_mints | {self._chain.wrapped_mint})
        filters: tuple[tuple[list[str], list[str | list[str]]], ...] = (
            ([wallet.address], [_ACCOUNTS]),
            (_CONTRACTS, [_STATEMENTS]),
            (money, [TRANSFER, topic_of(wallet.address)]),
        )
        for contracts, topics in filters:
            yield "eth_getLogs", [{"blockHash": block_hash, "address": contracts, "topics": topics}]


def _read_logs(results: Sequence[NodeResult]) -> list[Log]:
    """Return the logs of all results. Raise the ProviderFault of the first one that cannot be read."""
    return [log for result in results for log in result.read(list[Log]) if not log.removed]


def _are_topics(results: Sequence[NodeResult]) -> bool:
    """Return whether the node refuses so many wallets in a request, as opposed to so many blocks."""
    return any(_TOO_MANY_TOPICS.search(one.error.message) for one in results if one.error)


def _names(log: Log, wallet: TrackedWallet) -> bool:
    return any(wallet.address[2:] in text.lower() for text in (log.address, *log.topics, log.data))


def _find(wallets: Sequence[TrackedWallet], logs: Sequence[Log]) -> dict[int, Found]:
    tracked = {wallet.address: wallet for wallet in wallets}
    found: dict[int, Found] = {}
    for log in sorted(logs, key=lambda log: reply_quantity(log.block_number)):
        # An NFT has a fourth topic. A trade moves a token beside native coin.
        if len(log.topics) != 3 or log.address.lower() == EVM_NATIVE_EMITTER:
            continue
        block = found.setdefault(reply_quantity(log.block_number), Found(log.block_hash))
        if block.hash != log.block_hash:
            raise Broken(REPLACED)
        for address in map(address_of, log.topics[1:]):
            if address in tracked:
                block.wallets.setdefault(log.transaction_hash, {})[address] = tracked[address]
    # A node that ignores the filter may as well leave out logs.
    if any(not block.wallets for block in found.values()):
        raise Malformed("a log that was not requested")
    return found
