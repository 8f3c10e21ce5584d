"""The interface of all sources of trades: swaps with two legs, returned in chunks."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Protocol

from wallet_api.chains import Chain

# Enough that no sum or product of amounts that the ledger accepts is rounded.
DIGITS = 200


@dataclass(frozen=True, slots=True)
class TrackedWallet:
    """A tracked wallet, its address in stored form."""

    wallet_id: int
    chain: Chain
    address: str


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
    the source has none.
    """

    tx_signature: str
    created_at: datetime = field(compare=False)
    pool: str
    bought: Leg
    sold: Leg
    usd: Decimal | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class BadSwap:
    """A row of the source that is rejected. The reason contains nothing from the row itself."""

    tx_signature: str
    reason: str


@dataclass(slots=True)
class Chunk:
    """All swaps of a wallet before `until`, or before the start of the fetch if `until` is None.

    A chunk contains all rows of a transaction or none.
    """

    swaps: list[Swap]
    bad: list[BadSwap]
    until: datetime | None = None


class TradeSource(Protocol):
    """A provider of the swaps of wallets. Thread-safe."""

    name: str

    def chunks(self, wallet: TrackedWallet, since: datetime) -> Iterator[Chunk]:
        """Yield all swaps of `wallet` since then in chunks, oldest first; the last chunk has no `until`.

        Raise ProviderFault. Chunks yielded before remain valid; the unfinished one is dropped.
        """

    def close(self) -> None:
        """Close the connections."""
