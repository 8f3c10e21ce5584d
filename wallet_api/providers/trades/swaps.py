"""What every source of trades tells: swaps of two legs, and the chunks in which they come."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Protocol

from wallet_api.chains import Chain

# Wide enough that no sum or product of amounts that the ledger takes is ever rounded.
DIGITS = 200


@dataclass(frozen=True, slots=True)
class TrackedWallet:
    """A tracked wallet, its address in stored form."""

    wallet_id: int
    chain: Chain
    address: str


@dataclass(frozen=True, slots=True)
class Leg:
    """What one side of a swap moved: `mint` in stored form, None for the native coin; `amount` above 0."""

    mint: str | None
    amount: Decimal
    name: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Swap:
    """One exchange through one pool, inside a transaction that may hold several.

    Two swaps with equal transaction, pool and legs are one that was told twice. `usd` is the value of
    either side, None where the source knows none.
    """

    tx_signature: str
    created_at: datetime = field(compare=False)
    pool: str
    bought: Leg
    sold: Leg
    usd: Decimal | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class BadSwap:
    """A row of the source that is no swap we could take; the reason holds nothing of the row itself."""

    tx_signature: str
    reason: str


@dataclass(slots=True)
class Chunk:
    """All swaps of a wallet up to `until`; None: up to the moment when the reading began.

    A chunk holds either all rows of a transaction or none.
    """

    swaps: list[Swap]
    bad: list[BadSwap]
    until: datetime | None = None


class TradeSource(Protocol):
    """One outside service that tells the swaps of wallets; used by several threads at once."""

    name: str

    def chunks(self, wallet: TrackedWallet, since: datetime) -> Iterator[Chunk]:
        """Every swap of `wallet` from `since` on, in chunks, the oldest first, the last one without `until`.

        Raises ProviderFault; what it had yielded by then stays good, and what it was reading is dropped.
        """

    def close(self) -> None:
        """Give back the connections."""
