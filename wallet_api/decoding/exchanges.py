"""The swaps of a wallet in a transaction of a node, and the value of each.

The reasons are in docs/sync.md, "Solana from a node".
"""

from datetime import datetime
from decimal import Decimal, localcontext

from wallet_api import forms
from wallet_api.decoding.amounts import UnusableRow, read_address
from wallet_api.decoding.moves import FEES, Moves, agrees
from wallet_api.decoding.swaps import DIGITS, Leg, Swap, TrackedWallet

NO_EXCHANGE = "no other account exchanged the token"
DISAGREES = "others moved another amount than the wallet"
UNCLEAR = "several tokens whose separate prices are unclear"

# The largest part of the coin of a route that may be left over.
_LEFTOVER = 100


class UnclearSwap(UnusableRow):
    """A transaction in which the wallet exchanged something, but it is unclear what for what."""


def swaps_of(wallet: TrackedWallet, signature: str, created_at: datetime, moves: Moves) -> list[Swap]:
    """Return the swaps of `wallet`; none for what is no trade.

    No trades are transfers, wraps, staking, liquidity and lending. Raise UnclearSwap if it is unclear for
    what the tokens were exchanged, and UnusableRow.
    """
    gained = [mint for mint, units in moves.tokens.items() if units > 0]
    lost = [mint for mint, units in moves.tokens.items() if units < 0]
    with localcontext(prec=DIGITS):
        reader = _Reader(wallet, signature, created_at, moves)
        if moves.tokens.keys() <= moves.passed_on and not _has_counterpart(moves):
            # The wallet acted for others, such as one that fills orders.
            return []
        if len(moves.tokens) == 1:
            return reader.for_coin(*moves.tokens)
        if len(gained) == len(lost) == 1 and _passes_through(moves):
            return reader.for_token(gained[0], lost[0])
        return reader.separately()


class _Reader:
    """The swaps of one wallet in one transaction."""

    def __init__(self, wallet: TrackedWallet, signature: str, created_at: datetime, moves: Moves) -> None:
        self._wallet = wallet
        self._stable = wallet.chain.stable_mints
        self._signature = signature
        self._created_at = created_at
        self._moves = moves

    def for_coin(self, mint: str) -> list[Swap]:
        """Return the swap of one token for the native coin."""
        units, coin = self._moves.tokens[mint], self._moves.coin
        exchanged = -self._moves.exchanged(None)
        if exchanged * units >= 0:
            if coin * units >= 0 and not self._moves.exchanged(mint):
                return []
            raise UnclearSwap(NO_EXCHANGE)
        self._check(mint)
        # The cost is all that left the wallet, with tips and a bot's fees, unless a part of it paid for
        # something else, or nothing remains of the proceeds.
        value = exchanged if self._moves.passed_on or coin * units >= 0 else coin
        return [self._swap(mint, value, exchanged)]

    def for_token(self, gained: str, lost: str) -> list[Swap]:
        """Return the swap of a token for another one, by the coin or the dollars that both were worth."""
        mints = (lost, gained)
        self._check_both(*mints)
        usd = next((self._amount(mint) for mint in mints if mint in self._stable), None)
        hops = (self._dollars(mint, stable) for stable in sorted(self._stable) for mint in mints)
        usd = usd or next((hop for hop in hops if hop), None)
        coin = next((price for mint in mints if (price := self._price(mint, None))), None)
        if coin is not None:
            return [self._swap(gained, -coin, usd=usd), self._swap(lost, coin, usd=usd)]
        legs = (
            Leg(self._address(gained), self._amount(gained)),
            Leg(self._address(lost), self._amount(lost)),
        )
        return [Swap(self._wallet, self._signature, self._created_at, "", *legs, usd)]

    def separately(self) -> list[Swap]:
        """Return the swaps of several tokens, each with the coin for which others exchanged exactly it."""
        tokens, coin = self._moves.tokens, self._moves.coin
        gains = any(units > 0 for units in tokens.values()) or coin > 0
        losses = any(units < 0 for units in tokens.values()) or coin < 0
        if not (gains and losses):
            return []
        prices = {mint: self._price(mint, None) for mint in tokens}
        swaps = [
            self._swap(mint, -price if tokens[mint] > 0 else price) for mint, price in prices.items() if price
        ]
        if len(swaps) < len(tokens):
            raise UnclearSwap(UNCLEAR)
        return swaps

    def _check_both(self, lost: str, gained: str) -> None:
        """Check both, but for one of which not all is seen that others moved."""
        try:
            self._check(lost)
        except UnclearSwap:
            if lost not in self._moves.partly_seen:
                raise
            self._check(gained)
        else:
            if gained not in self._moves.partly_seen:
                self._check(gained)

    def _check(self, mint: str) -> None:
        """Raise UnclearSwap unless others moved what the wallet moved, but for fees in the token itself."""
        units, others = self._moves.tokens[mint], -self._moves.exchanged(mint)
        if not others:
            raise UnclearSwap(NO_EXCHANGE)
        if not agrees(units, others, FEES):
            raise UnclearSwap(DISAGREES)

    def _price(self, mint: str, other: str | None) -> int | None:
        """Return for how much of `other` others exchanged exactly the wallet's amount of `mint`, or None."""
        units = self._moves.tokens[mint]
        parties = [party for party in self._moves.exchangers if party[mint]]
        clean = all({mint, other} == {key for key in party if party[key]} for party in parties)
        others = -sum(party[mint] for party in parties)
        exact = others == units or (mint in self._moves.partly_seen and agrees(others, units))
        price = sum(party[other] for party in parties)
        return abs(price) if clean and exact and price * units > 0 else None

    def _dollars(self, mint: str, stable: str) -> Decimal | None:
        price, decimals = self._price(mint, stable), self._moves.decimals.get(stable)
        return None if price is None or decimals is None else self._decimal(price, decimals)

    def _swap(self, mint: str, coin: int, exchanged: int | None = None, usd: Decimal | None = None) -> Swap:
        """Return the swap of a token for `coin`, which the wallet gained or (negative) lost."""
        token = Leg(self._address(mint), self._amount(mint))
        decimals = self._wallet.chain.native_decimals
        native = Leg(None, self._decimal(abs(coin), decimals))
        legs = (native, token) if coin > 0 else (token, native)
        native_exchanged = None if exchanged is None else self._decimal(abs(exchanged), decimals)
        usd = token.amount if mint in self._stable else usd
        return Swap(self._wallet, self._signature, self._created_at, "", *legs, usd, native_exchanged)

    def _address(self, mint: str) -> str:
        return read_address(self._wallet.chain, mint)

    def _amount(self, mint: str) -> Decimal:
        return self._decimal(abs(self._moves.tokens[mint]), self._moves.decimals[mint])

    def _decimal(self, units: int, decimals: int) -> Decimal:
        amount = Decimal(units).scaleb(-decimals)
        try:
            forms.check_amount("an amount", amount)
        except forms.BadRow as error:
            raise UnusableRow(error.rule) from error
        return amount


def _passes_through(moves: Moves) -> bool:
    """Return whether the coin only passed through, but for a leftover."""
    flow = sum(abs(other[None]) for other in moves.exchangers)
    return abs(moves.exchanged(None)) * _LEFTOVER <= flow


def _has_counterpart(moves: Moves) -> bool:
    """Return whether the wallet itself paid or received coin for its only token."""
    return len(moves.tokens) == 1 and any(moves.coin * units < 0 for units in moves.tokens.values())
