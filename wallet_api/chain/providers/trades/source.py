"""The interface of all sources of trades, which return them in chunks."""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from wallet_api.chain.decoding.evm.decode import decode_evm
from wallet_api.chain.decoding.evm.evidence import EvmEvidence, Unanswered
from wallet_api.chain.decoding.solana.decode import decode_solana
from wallet_api.chain.decoding.solana.transactions import SolanaEvidence, Transaction
from wallet_api.chain.decoding.swaps import FROM_LOGS, UNSIGNED, LeftOut, Reason, TrackedWallet
from wallet_api.chain.decoding.trades import Decoded, Draft

log = logging.getLogger(__name__)

UNEXPECTED = "an unexpected error while it was decoded"
# The detail of LOST.
NOT_AVAILABLE = "the node no longer has the transaction"


@dataclass(frozen=True, slots=True)
class Listed:
    """A transaction of a wallet that the source has listed, and its time.

    `is_signed` is false if it is known that somebody else than the wallet did it.
    """

    wallet: TrackedWallet
    created_at: datetime
    tx_signature: str
    is_signed: bool = True


@dataclass(frozen=True, slots=True)
class Unproven:
    """A transaction of a wallet and the trades that it would be, to which nothing proves that it agreed.

    `is_new` is whether it was read for the first time.
    """

    row: Listed
    drafts: Sequence[Draft]
    is_new: bool


@dataclass(frozen=True, slots=True)
class Block:
    """A block of which trades were read, with the transactions of tracked wallets in it."""

    number: int
    hash: str
    created_at: datetime
    transactions: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Notice:
    """A transaction of which the node has notified, and the watched addresses that it names.

    It is final. `transaction` is None if the node only named it.
    """

    signature: str
    slot: int
    addresses: tuple[str, ...]
    transaction: Transaction | None = None

    @property
    def may_be_signed(self) -> bool:
        """Return whether one of the addresses has signed it, as far as the node has said."""
        return self.transaction is None or not self.transaction.signers.isdisjoint(self.addresses)


@dataclass(slots=True)
class Chunk:
    """All trades of some wallets before `until`, or before the start of the fetch if `until` is None.

    A chunk contains all rows of a transaction or none. `is_last` is false if later trades follow. `swaps` and
    `wraps` are how many swaps the source has reported, and how many of them are wraps. `counts` are
    transactions that were read for the first time, by what is counted of them (COUNTED); `reread` are
    those that were left out before and could be read now. `unproven` are those that may be trades, to which
    nothing proves that the wallet agreed; they are counted too. `blocks` are those whose hashes show later
    whether a reorganisation removed them; `orphans` are known ones that it has removed.
    `final` is the number of the newest block of the chain that is final, if the source has stated it now.
    `landed` is called when all of it has been imported.
    """

    drafts: list[Draft] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    until: datetime | None = None
    is_last: bool = True
    swaps: int = 0
    wraps: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    reread: list[Listed] = field(default_factory=list)
    unproven: list[Unproven] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    orphans: list[Block] = field(default_factory=list)
    final: int | None = None
    landed: Callable[[], None] = lambda: None

    def add(self, row: Listed, decoded: Decoded, *, is_new: bool = True) -> None:
        """Add what was decoded of a transaction; only new ones are counted."""
        self.drafts += decoded.drafts
        self.swaps += decoded.swaps
        if decoded.why == UNSIGNED and decoded.unproven:
            self.unproven.append(Unproven(row, decoded.unproven, is_new))
        if isinstance(decoded.why, Reason):
            of_row = (row.wallet, row.tx_signature, decoded.why, decoded.detail, row.created_at)
            self.left_out.append(LeftOut(*of_row, is_signed=decoded.is_signed))
        elif is_new:
            self.counts[FROM_LOGS] += decoded.from_logs
            if decoded.why is not None:
                self.counts[decoded.why] += 1


def decode_one(evidence: SolanaEvidence | EvmEvidence, block: int | None, block_index: int | None) -> Decoded:
    """Return what its wallet traded in a transaction, with its place in the chain. Raise Unanswered.

    An unexpected error belongs to the transaction, and stops no other one.
    """
    try:
        decoded = decode_evm(evidence) if isinstance(evidence, EvmEvidence) else decode_solana(evidence)
    except Unanswered:
        raise
    except Exception:
        wallet = evidence.wallet
        log.exception("%s on %s: %s", wallet.address, wallet.chain.name, UNEXPECTED)
        return Decoded(why=Reason.UNREADABLE, detail=UNEXPECTED)
    for draft in (*decoded.drafts, *decoded.unproven):
        draft.block, draft.block_index = block, block_index
    return decoded


class TradeSource(Protocol):
    """A provider of the trades of wallets. Thread-safe.

    `reads_blocks` is true if it reads the blocks of a chain for all wallets together. What it has read may
    then be removed by a reorganisation. `states_final` is true if it states which blocks are final.
    """

    reads_blocks: bool
    states_final: bool

    def chunks(
        self,
        wallets: Sequence[TrackedWallet],
        since: datetime,
        again: Sequence[Listed] = (),
        known: Sequence[Block] = (),
    ) -> Iterator[Chunk]:
        """Yield all trades of the wallets since then in chunks, oldest first.

        There is one wallet unless the source reads blocks. The first chunk also contains those of `again`,
        which were left out before, if the source can return single transactions. A source that reads blocks
        begins where the `known` ones, in their order, are no longer those of the chain.

        Raise ProviderFault. Chunks yielded before remain valid; the unfinished one is dropped.
        """
