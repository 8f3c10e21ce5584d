"""The interface of all sources of trades: swaps with two legs, returned in chunks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
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
    the source has none. `exchanged` is what the other side moved of the native coin, if it differs from the
    leg, which then contains tips and a bot's fees.
    """

    tx_signature: str
    created_at: datetime = field(compare=False)
    pool: str
    bought: Leg
    sold: Leg
    usd: Decimal | None = field(default=None, compare=False)
    exchanged: Decimal | None = field(default=None, compare=False)


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


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A swap that is left out. `detail` is a fixed text, which contains nothing from the source."""

    tx_signature: str
    reason: Reason
    detail: str
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """A transaction that the source has listed, and its time."""

    created_at: datetime
    tx_signature: str


@dataclass(slots=True)
class Chunk:
    """All swaps of a wallet before `until`, or before the start of the fetch if `until` is None.

    A chunk contains all rows of a transaction or none. `no_trades` counts the transactions that were read for
    the first time and are no trades; `settled` are those that were left out before and could be read now.
    """

    swaps: list[Swap]
    left_out: list[LeftOut]
    until: datetime | None = None
    no_trades: int = 0
    settled: list[str] = field(default_factory=list)


class TradeSource(Protocol):
    """A provider of the swaps of wallets. Thread-safe."""

    name: str

    def chunks(self, wallet: TrackedWallet, since: datetime, again: Sequence[Listed] = ()) -> Iterator[Chunk]:
        """Yield all swaps of `wallet` since then in chunks, oldest first; the last chunk has no `until`.

        The first chunk also contains those of `again`, which were left out before, if the source can return
        single transactions.

        Raise ProviderFault. Chunks yielded before remain valid; the unfinished one is dropped.
        """

    def close(self) -> None:
        """Close the connections."""
