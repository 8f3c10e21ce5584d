"""Swaps from amounts in smallest units."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from wallet_api import forms
from wallet_api.decoding.amounts import UnusableRow, read_address
from wallet_api.decoding.swaps import Leg, Swap, TrackedWallet


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
        token = Leg(self._address(mint), self.amount(mint, units))
        native = Leg(None, self._coin(coin))
        legs = (token, native) if units > 0 else (native, token)
        moved = None if exchanged is None else self._coin(exchanged)
        usd = token.amount if mint in self.wallet.chain.stable_mints else usd
        return self._swap(*legs, usd, moved, mint not in self.unpriced)

    def for_token(self, gained: tuple[str, int], lost: tuple[str, int], usd: Decimal | None) -> Swap:
        """Return the swap of a token for another one, each with its units."""
        bought, sold = (Leg(self._address(mint), self.amount(mint, units)) for mint, units in (gained, lost))
        return self._swap(bought, sold, usd, None, not {gained[0], lost[0]} & {*self.unpriced})

    def amount(self, mint: str, units: int) -> Decimal:
        """Return units of a token as a decimal, without their sign."""
        return _decimal(abs(units), self.decimals[mint])

    def _swap(
        self, bought: Leg, sold: Leg, usd: Decimal | None, moved: Decimal | None, makes_price: bool
    ) -> Swap:
        return Swap(self.wallet, self.signature, self.created_at, "", bought, sold, usd, moved, makes_price)

    def _coin(self, units: int) -> Decimal:
        return _decimal(abs(units), self.wallet.chain.native_decimals)

    def _address(self, mint: str) -> str:
        return read_address(self.wallet.chain, mint)


def _decimal(units: int, decimals: int) -> Decimal:
    amount = Decimal(units).scaleb(-decimals)
    try:
        forms.check_amount("an amount", amount)
    except forms.BadRow as error:
        raise UnusableRow(error.rule) from error
    return amount
