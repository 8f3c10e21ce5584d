"""A swap of a wallet, with two legs, and the reasons for which one is no trade or is left out."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, Self

from wallet_api.base import forms
from wallet_api.base.chains import CHAINS, Chain
from wallet_api.chain.decoding.amounts import UnusableRow, read_address

# Enough that no sum or product of amounts that the ledger accepts is rounded.
DIGITS = 200


@dataclass(frozen=True, slots=True)
class TrackedWallet:
    """A tracked wallet, its address in stored form."""

    wallet_id: int
    chain: Chain = field(compare=False)
    address: str

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
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
    leg, which then contains tips and a bot's fees. `makes_price` is whether its tokens have a price by it.
    `block` and `block_index` are the place of the transaction in the chain, if the source states it with the
    swap.
    """

    wallet: TrackedWallet
    tx_signature: str
    created_at: datetime = field(compare=False)
    pool: str
    bought: Leg
    sold: Leg
    usd: Decimal | None = field(default=None, compare=False)
    exchanged: Decimal | None = field(default=None, compare=False)
    makes_price: bool = field(default=True, compare=False)
    block: int | None = field(default=None, compare=False)
    block_index: int | None = field(default=None, compare=False)


TokenUnits = tuple[str, int]
"""A token, and the units that the wallet has more or (negative) less of it."""

FindPrice = Callable[[str, int, str | None], int | None]
"""Returns for how much of another token, or (None) of coin, others exchanged units of one; None if unseen."""


@dataclass(frozen=True, slots=True)
class SwapWriter:
    """Writes the swaps of a wallet in a transaction. Each method raises UnusableRow.

    `unpriced` are the tokens of which it makes no price.
    """

    wallet: TrackedWallet
    signature: str
    created_at: datetime
    decimals: Mapping[str, int]
    unpriced: Collection[str] = ()

    def for_coin(
        self, mint: str, units: int, coin: int, exchanged: int | None = None, usd: Decimal | None = None
    ) -> Swap:
        """Return the swap of units of a token, gained or (negative) lost, for native coin."""
        token = self._leg(mint, units)
        native = Leg(None, self._coin(coin))
        legs = (token, native) if units > 0 else (native, token)
        moved = None if exchanged is None else self._coin(exchanged)
        usd = token.amount if mint in self.wallet.chain.stable_mints else usd
        return self._swap(*legs, usd, moved, mint not in self.unpriced)

    def for_token(self, gained: TokenUnits, lost: TokenUnits, usd: Decimal | None) -> Swap:
        """Return the swap of a token for another one."""
        return self._swap(
            self._leg(*gained), self._leg(*lost), usd, None, not {gained[0], lost[0]} & {*self.unpriced}
        )

    def for_pair(
        self, gained: TokenUnits, lost: TokenUnits, price: FindPrice, about: FindPrice | None = None
    ) -> list[Swap]:
        """Return the swaps of a token for another one, by the coin or the dollars that both were worth.

        Where neither is known, the coin is that of `about`.
        """
        stable, sides = self.wallet.chain.stable_mints, (lost, gained)
        usd = next((self.amount(*side) for side in sides if side[0] in stable), None)
        known = sorted(stable & self.decimals.keys()) if usd is None else ()
        hops = (self.amount(mint, price(*side, mint) or 0) for mint in known for side in sides)
        usd = usd or next((hop for hop in hops if hop), None)
        coin = next((found for side in sides if (found := price(*side, None))), None)
        if coin is None and usd is None and about is not None:
            coin = next((found for side in sides if (found := about(*side, None))), None)
        if coin is None:
            return [self.for_token(gained, lost, usd)]
        return [self.for_coin(*side, coin, usd=usd) for side in (gained, lost)]

    def each_for_coin(self, tokens: Mapping[str, int], price: FindPrice) -> list[Swap] | None:
        """Return a swap of each token for the coin of its price; None if one has none."""
        swaps = []
        for mint, units in tokens.items():
            if not (coin := price(mint, units, None)):
                return None
            swaps.append(self.for_coin(mint, units, coin))
        return swaps

    def amount(self, mint: str, units: int) -> Decimal:
        """Return units of a token as a decimal, without their sign."""
        return _decimal(abs(units), self.decimals[mint])

    def _swap(
        self, bought: Leg, sold: Leg, usd: Decimal | None, moved: Decimal | None, makes_price: bool
    ) -> Swap:
        return Swap(self.wallet, self.signature, self.created_at, "", bought, sold, usd, moved, makes_price)

    def _leg(self, mint: str, units: int) -> Leg:
        return Leg(read_address(self.wallet.chain, mint), self.amount(mint, units))

    def _coin(self, units: int) -> Decimal:
        return _decimal(abs(units), self.wallet.chain.native_decimals)


def _decimal(units: int, decimals: int) -> Decimal:
    amount = Decimal(units).scaleb(-decimals)
    try:
        forms.check_amount("an amount", amount)
    except forms.BadRow as error:
        raise UnusableRow(error.rule) from error
    return amount


# What is counted beside the reasons for which something is left out.
NO_TRADE = "no_trade"
"""No trade by a rule."""
LIQUIDITY = "liquidity"
"""No trade: what a wallet put into a pool or order book, and what it had there before."""
UNSIGNED = "unsigned"
"""What looks like a trade, to which the wallet did not consent."""
ACCEPTED = "accepted"
"""What looked like a trade without a proof, which an operator has accepted as one. It is not counted."""
FROM_LOGS = "from_logs"
"""A trade whose native value comes from logs, since the node had no state of its block."""
REORGANISED = "reorganised"
"""A trade that was removed, since a reorganisation has removed its block."""
DENIED = "denied"
"""A trade in a denied token."""
OTHERS = "others"
"""A transaction of Solana that names the wallet, which it did not sign."""
EXPIRED = "expired"
"""What others did, could not be read, and is no longer kept."""
LATE = "late"
"""A transaction that a node has left out when its block was read first."""
COUNTED = (NO_TRADE, LIQUIDITY, UNSIGNED, OTHERS, FROM_LOGS, REORGANISED, DENIED, EXPIRED, LATE)


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
    """A swap that is left out for a Reason, or named (UNSIGNED). `detail` is a fixed text, not the source's.

    `is_signed` is false if somebody else than the wallet did it.
    """

    wallet: TrackedWallet
    tx_signature: str
    reason: str
    detail: str
    created_at: datetime | None = None
    is_signed: bool = True
