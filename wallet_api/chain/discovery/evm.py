"""The first buyers of a token of an EVM chain, by its transfers, and the trades of candidates, all together.

https://ethereum.github.io/execution-apis/
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime

from wallet_api.base.chains import Chain
from wallet_api.chain.decoding.evm.receipts import TRANSFER, ZERO, Log, address_of
from wallet_api.chain.decoding.swaps import Reason
from wallet_api.chain.decoding.trades import Draft
from wallet_api.chain.discovery.launches import (
    Beginning,
    Launch,
    NotReached,
    ReadTransaction,
    candidate_wallets,
)
from wallet_api.chain.providers.faults import Broken, Malformed, Rejected, TimedOut, TooLarge
from wallet_api.chain.providers.jsonrpc import Node
from wallet_api.chain.providers.replies import reply_quantity
from wallet_api.chain.providers.trades.evm_node import REPLACED, EvmNode, Found, block_call, block_time
from wallet_api.chain.providers.trades.evm_reader import EvmReader
from wallet_api.chain.providers.trades.evm_spans import LONGEST_SECONDS, EvmSpans
from wallet_api.chain.providers.trades.source import Chunk

_FIRST_SECONDS = 1200.0
# A span with fewer transfers is doubled.
_FEW_LOGS = 200
# The transactions that are read together, so that few are read beyond the last first buyer.
_TOGETHER = 25


class EvmSource:
    """A node of an EVM chain. The present is the newest final block at the first start."""

    def __init__(self, chain: Chain, node: Node, confirm_seconds: float, mints: Sequence[str]) -> None:
        self._node = EvmNode(chain, node)
        self._reader = EvmReader(chain, self._node)
        self._spans = EvmSpans(chain, self._node, mints)
        self._wallet = candidate_wallets(chain)
        self._node.check_chain()
        self._newest = max(0, self._node.newest() - self._node.pace.blocks(confirm_seconds))

    def first_block(self, mint: str, since: Beginning | None) -> int:
        """Return the block in which a token begins: the contract's first one. Raise NotReached."""
        if isinstance(since, int):
            if since > self._newest:
                raise NotReached("the block that is given is later than the newest final one of the node")
            return since
        if isinstance(since, datetime):
            return self._earliest(lambda number: self._time(number) >= since)
        address = since or mint
        if not self._has_code(address, self._newest):
            raise NotReached("the node has no contract at its address")
        first_block = self._earliest(lambda number: self._has_code(address, number))
        if since is None:
            first = next((logs[0] for logs in self._transfers(mint, first_block) if logs), None)
            if first is None:
                raise NotReached("the node returns no transfer of it")
            if address_of(first.topics[1]) != ZERO:
                raise NotReached(
                    "the first transfer that the node returns issues no tokens, so that earlier ones are"
                    " missing; give the beginning (--since)"
                )
        return first_block

    def first_buys(self, mint: str, first_block: int) -> Iterator[Sequence[ReadTransaction]]:
        """Yield what transactions were for who received the token, and may have bought it, oldest first.

        A pool, from which wallets bought, receives what they sell: it is no buyer that cannot be read.
        """
        pools: set[str] = set()
        for logs in self._transfers(mint, first_block):
            for part in _parts(logs):
                found: dict[int, Found] = {}
                places = {log.transaction_hash: place for place, log in enumerate(part)}
                givers: defaultdict[str, set[str]] = defaultdict(set)
                for log in part:
                    givers[log.transaction_hash].add(address_of(log.topics[1]))
                    block = found.setdefault(reply_quantity(log.block_number), Found(log.block_hash))
                    if block.hash != log.block_hash:
                        raise Broken(REPLACED)
                    taker = address_of(log.topics[2])
                    if taker not in (ZERO, mint):
                        wallets = block.wallets.setdefault(log.transaction_hash, {})
                        wallets[taker] = self._wallet(taker)
                readings = self._readings({number: block for number, block in found.items() if block.wallets})
                pools.update(*(givers[reading.tx_signature] for reading in readings if reading.drafts))
                yield sorted(
                    (reading for reading in readings if reading.why is None or reading.address not in pools),
                    key=lambda reading: places[reading.tx_signature],
                )

    def trades_of(
        self, addresses: Sequence[str], launches: Sequence[Launch]
    ) -> Iterator[tuple[Sequence[ReadTransaction], Sequence[str]]]:
        """Yield the trades of candidates in these tokens to the present, and who is read to the end now."""
        wallets = [self._wallet(address) for address in addresses]
        first = min(launch.first_block for launch in launches if launch.first_block is not None)
        for span in self._spans.walk(wallets, first, self._newest):
            # With what was read before, which costs no request: transactions of a wallet in a block share the
            # change of its balance.
            readings = self._readings(span.found)
            readings += (
                ReadTransaction(wallet.address, f"block {number}", why=str(Reason.UNREADABLE))
                for number, block in span.found.items()
                for wallet in block.unlisted
            )
            yield readings, addresses if span.last >= self._newest else ()

    def _readings(self, found: dict[int, Found]) -> list[ReadTransaction]:
        chunk: Chunk = self._reader.read(found) if found else Chunk()
        drafts: defaultdict[tuple[str, str], list[Draft]] = defaultdict(list)
        for draft in chunk.drafts:
            drafts[draft.wallet.address, draft.tx_signature].append(draft)
        left_out = (
            ReadTransaction(each.wallet.address, each.tx_signature, why=str(each.reason))
            for each in chunk.left_out
        )
        return [*(ReadTransaction(*case, trades) for case, trades in drafts.items()), *left_out]

    def _transfers(self, mint: str, number: int) -> Iterator[list[Log]]:
        """Yield all transfers of a token from a block on, in their order, by spans."""
        width, may_widen = self._node.pace.blocks(_FIRST_SECONDS), True
        while number <= self._newest:
            last = min(self._newest, number + width - 1)
            logs = self._span(mint, number, last)
            if logs is None:
                width, may_widen = max(1, width // 2), False
                continue
            yield logs
            if may_widen and len(logs) < _FEW_LOGS:
                width = min(2 * width, self._node.pace.blocks(LONGEST_SECONDS))
            number = last + 1

    def _span(self, mint: str, first: int, last: int) -> list[Log] | None:
        """Return the transfers of a span; None if it is too long for the node."""
        query = {"address": [mint], "topics": [[TRANSFER]], "fromBlock": hex(first), "toBlock": hex(last)}
        try:
            result, end = self._node.request([("eth_getLogs", [query]), block_call(last)])
            logs = [log for log in result.read(list[Log]) if not log.removed and len(log.topics) == 3]
        except (TimedOut, Rejected, TooLarge) as fault:
            if first == last:
                if isinstance(fault, TooLarge):
                    raise NotReached("a block has more transfers of it than the node returns") from None
                raise
            return None
        self._node.read_block(end)
        # A node that ignores the filter may as well leave out logs.
        for log in logs:
            if log.address.lower() != mint or log.topics[0] != TRANSFER:
                raise Malformed("a log that was not requested")
            if not first <= reply_quantity(log.block_number) <= last:
                raise Malformed("a log of another block")
        return sorted(logs, key=lambda log: (reply_quantity(log.block_number), reply_quantity(log.log_index)))

    def _has_code(self, address: str, number: int) -> bool:
        (result,) = self._node.request([("eth_getCode", [address, hex(number)])])
        if result.error is not None:
            raise NotReached(
                "the node has no old state, by which the contract's first block is found; give it (--since)"
            )
        return len(result.read(str)) > 2

    def _time(self, number: int) -> datetime:
        return block_time(self._node.block(number)) or datetime.fromtimestamp(0, UTC)

    def _earliest(self, holds: Callable[[int], bool]) -> int:
        """Return the first block for which `holds` is true, or the newest one."""
        return bisect_left(range(self._newest), True, key=holds)


def _parts(logs: Sequence[Log]) -> Iterator[list[Log]]:
    """Yield transfers in parts of whole blocks, which are read together."""
    part: list[Log] = []
    signatures: set[str] = set()
    for log in logs:
        if len(signatures) >= _TOGETHER and log.block_number != part[-1].block_number:
            yield part
            part, signatures = [], set()
        part.append(log)
        signatures.add(log.transaction_hash)
    if part:
        yield part
