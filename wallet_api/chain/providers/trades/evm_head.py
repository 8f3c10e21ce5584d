"""Where a round of an EVM chain begins and ends: the newest block, the final one, and what was replaced.

https://ethereum.github.io/execution-apis/
"""

import math
import time
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from wallet_api.chain.decoding.evm.receipts import ChainBlock
from wallet_api.chain.decoding.swaps import TrackedWallet
from wallet_api.chain.providers.jsonrpc import NodeResult
from wallet_api.chain.providers.replies import reply_quantity
from wallet_api.chain.providers.trades.evm_node import EvmNode, Found, block_call, block_time
from wallet_api.chain.providers.trades.evm_spans import EvmSpans
from wallet_api.chain.providers.trades.source import Block

# Where a chain has so many blocks from request to request, new ones are requested with their transfers.
_LIKELY = 2
# How often the newest final block is requested, so that it is no part of each round.
_FINAL_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Head:
    """The newest block, and what was requested with it.

    `last` is the last known block as it is now, None if the node has not got as far as that or none is known;
    `ahead` is what is found up to the newest block, and `final` the number of the newest final one: each None
    if it was not requested.
    """

    newest: ChainBlock
    last: ChainBlock | None
    ahead: dict[int, Found] | None
    final: int | None


class EvmHead:
    """Reads where a chain is, by as few requests as can be. Blocks younger than `confirm` may change."""

    def __init__(self, node: EvmNode, spans: EvmSpans, confirm: timedelta) -> None:
        self._node = node
        self._spans = spans
        self._confirm = confirm
        # When the newest block, and the final one, were requested.
        self._polled_at = self._final_at = -math.inf
        # Whether the node has stated what is final: it may not know for a moment.
        self._states_final = False

    def read(self, wallets: Sequence[TrackedWallet], since: datetime, known: Sequence[Block]) -> Head:
        """Return the newest block.

        The transfers up to it are requested together with it where new blocks are due.
        """
        now = time.monotonic()
        passed, self._polled_at = now - self._polled_at, now
        calls = [block_call("latest"), *(block_call(block.number) for block in known[-1:])]
        if is_due := now - self._final_at > _FINAL_SECONDS:
            self._final_at = now
            calls.append(block_call("finalized"))
        is_likely = _LIKELY * self._node.pace.seconds <= passed < math.inf
        is_at_end = bool(known) and known[-1].created_at == since
        ahead: dict[int, Found] | None = None
        if is_likely and is_at_end and self._spans.fits(datetime.now(UTC) - since + self._confirm):
            first = self.first(since - self._confirm, known, known[-1].number)
            results, ahead = self._spans.ahead(wallets, first, calls)
        else:
            results = self._node.request(calls)
        newest = self._node.read_block(results[0])
        number = reply_quantity(newest.number)
        final = self._final(results[-1], known, number) if is_due else None
        if not known or number < known[-1].number:
            return Head(newest, None, None, final)
        return Head(newest, self._node.read_block(results[1]), ahead, final)

    def _final(self, result: NodeResult, known: Sequence[Block], newest: int) -> int | None:
        """Return the number of the newest final block.

        Nodes without finality have an error or nothing in its place: then it is the newest known block that
        is not younger than `confirm`.
        """
        if result.error is None and (block := self._node.read_if_any(result)) is not None:
            self._states_final = True
            return min(reply_quantity(block.number), newest)
        if self._states_final:
            return None
        old = datetime.now(UTC) - self._confirm
        before = (known[0].number if known else newest) - 1
        return max((block.number for block in known if block.created_at <= old), default=before)

    def orphans(self, known: Sequence[Block], last: ChainBlock | None) -> list[Block]:
        """Return the known blocks that the chain no longer has; `last` is the last known one as it is now."""
        if last is None or last.hash == known[-1].hash:
            return []
        low = bisect_left(
            known,
            True,
            hi=len(known) - 1,
            key=lambda block: self._node.block(block.number).hash != block.hash,
        )
        # Each one for itself: other nodes behind the same address may have had another chain.
        current = self._node.blocks([block.number for block in known[low:]])
        return [block for block, now in zip(known[low:], current, strict=True) if now.hash != block.hash]

    def first(self, moment: datetime, known: Sequence[Block], newest: int) -> int:
        """Return the first block that may be of that time or later, or the newest one.

        It is the one after the last known block before it; a moment little before the first known one is
        found by the chain's pace, and others by requests.
        """
        before = [block for block in known if block.created_at < moment]
        if len(before) < len(known):
            if before:
                return before[-1].number + 1
            passed = (known[0].created_at - moment).total_seconds()
            if passed <= self._confirm.total_seconds():
                return max(0, known[0].number - self._node.pace.blocks(2 * passed))

        def is_of_that_time(number: int) -> bool:
            found = block_time(self._node.block(number))
            return found is None or found >= moment

        return bisect_left(range(newest), True, lo=before[-1].number if before else 0, key=is_of_that_time)
