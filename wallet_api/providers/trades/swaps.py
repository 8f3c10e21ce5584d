"""The interface of all sources of trades: swaps with two legs, returned in chunks."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, Protocol, Self

from wallet_api.chains import CHAINS, Chain

# Enough that no sum or product of amounts that the ledger accepts is rounded.
DIGITS = 200


@dataclass(frozen=True, slots=True)
class TrackedWallet:
    """A tracked wallet, its address in stored form."""

    wallet_id: int
    chain: Chain = field(compare=False)
    address: str

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """Return the wallet of a row with its id, chain and address."""
        return cls(row["wallet_id"], CHAINS[row["blockchain"]], row["address"])


@dataclass(frozen=True, slots=True)
class Leg:
    """One side of a swap: `mint` in stored form, None for the native coin; `amount` above 0."""

    mint: str | None
    amount: Decimal
    name: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Swap:
    """One exchange in one pool. A transaction may contain several.

    Swaps with equal transaction, pool and legs are the same swap. `usd` is the value of either side; None if
    the source has none. `exchanged` is what the other side moved of the native coin, if it differs from the
    leg, which then contains tips and a bot's fees.
    """

    wallet: TrackedWallet
    tx_signature: str
    created_at: datetime = field(compare=False)
    pool: str
    bought: Leg
    sold: Leg
    usd: Decimal | None = field(default=None, compare=False)
    exchanged: Decimal | None = field(default=None, compare=False)


# What is counted beside the reasons for which something is left out.
NO_TRADE = "no_trade"
"""No trade by a rule."""
FROM_LOGS = "from_logs"
"""A trade whose native value comes from logs, since the node had no state of its block."""
REORGANISED = "reorganised"
"""A trade that was removed, since a reorganisation has removed its block."""
DENIED = "denied"
"""A trade in a denied token."""
COUNTED = (NO_TRADE, FROM_LOGS, REORGANISED, DENIED)


class Reason(StrEnum):
    """Why a swap is left out. What each costs in figures: docs/sync.md, "What is left out"."""

    UNREADABLE = "unreadable"
    """The version or the form of the transaction is not known."""
    UNCLEAR = "unclear"
    """Who exchanged what for what cannot be determined."""
    NO_VALUE = "no_value"
    """Neither its native nor its dollar value is known."""
    LOST = "lost"
    """The source lists it, but no longer returns it."""
    INVALID = "invalid"
    """The source's row, or the trade, has no form that the ledger accepts."""


# The detail of LOST.
NOT_AVAILABLE = "the node no longer has the transaction"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A swap that is left out. `detail` is a fixed text, which contains nothing from the source."""

    wallet: TrackedWallet
    tx_signature: str
    reason: Reason
    detail: str
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """A transaction of a wallet that the source has listed, and its time."""

    wallet: TrackedWallet
    created_at: datetime
    tx_signature: str


@dataclass(frozen=True, slots=True)
class Block:
    """A block of which trades were read, with the transactions of tracked wallets in it."""

    number: int
    hash: str
    created_at: datetime
    transactions: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Unfinal:
    """A transaction of a wallet in a block that is not final, first seen at `seen_at`."""

    wallet: TrackedWallet
    tx_signature: str
    created_at: datetime
    number: int
    seen_at: datetime


@dataclass(slots=True)
class Chunk:
    """All swaps of some wallets before `until`, or before the start of the fetch if `until` is None.

    A chunk contains all rows of a transaction or none. `is_last` is false if later swaps follow. `counts` are
    transactions that were read for the first time, by what is counted of them (COUNTED); `settled` are
    those that were left out before and could be read now. `blocks` are those whose hashes show later
    whether a reorganisation removed them; `orphans` are known ones that it has removed. `unfinal` are
    transactions that may still disappear, `decided` those that were unfinal and are final or orphaned now.
    """

    swaps: list[Swap] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    until: datetime | None = None
    is_last: bool = True
    counts: Counter[str] = field(default_factory=Counter)
    settled: list[Listed] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    orphans: list[Block] = field(default_factory=list)
    unfinal: list[Unfinal] = field(default_factory=list)
    decided: list[Unfinal] = field(default_factory=list)


class TradeSource(Protocol):
    """A provider of the swaps of wallets. Thread-safe.

    `reads_blocks` is true if it reads the blocks of a chain for all wallets together. It then misses nothing
    that others index late, but what it has read may be removed by a reorganisation.
    """

    reads_blocks: bool

    def chunks(
        self,
        wallets: Sequence[TrackedWallet],
        since: datetime,
        again: Sequence[Listed] = (),
        known: Sequence[Block] = (),
    ) -> Iterator[Chunk]:
        """Yield all swaps of the wallets since then in chunks, oldest first.

        There is one wallet unless the source reads blocks. The first chunk also contains those of `again`,
        which were left out before, if the source can return single transactions. A source that reads blocks
        begins where the `known` ones, in their order, are no longer those of the chain.

        Raise ProviderFault. Chunks yielded before remain valid; the unfinished one is dropped.
        """
