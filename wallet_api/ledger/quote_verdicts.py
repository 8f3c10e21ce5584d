"""Which quotes of a market make a price: strangers can move a thin market, and name any price."""

from collections import deque
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Literal, NamedTuple

NotUsed = Literal["missing", "thin", "unpriced", "far"]
"""Why a quote makes no price, in the order in which it is decided."""

# A price is compared with the last one, and with a quote that was far, of so long before it.
MEMORY = timedelta(days=1)
_FAR_TIMES = 10
_AGREES_AFTER = timedelta(minutes=10)
# The part of the earlier quote by which one that agrees may differ from it.
_AGREES_WITHIN = Fraction(1, 5)


class Price(NamedTuple):
    """A price in the native coin, and its time."""

    at: datetime
    value: Decimal


@dataclass(frozen=True, slots=True)
class MarketQuote:
    """What was quoted of a token at a time, in dollars, and what its market held; None where not stated.

    `usd` is None where the provider had no price. `price` is that in the native coin, None without a native
    price; `traded` is the newest trade of the day before that makes a price.
    """

    token_id: int
    at: datetime
    usd: Decimal | None
    liquidity_usd: Decimal | None
    price: Decimal | None
    traded: Price | None


class Judge:
    """Decides about the quotes of one token, which it is given in the order of their times."""

    def __init__(self, min_liquidity_usd: Decimal) -> None:
        self._min_liquidity_usd = min_liquidity_usd
        self._used: Price | None = None
        self._far: deque[Price] = deque()

    def remember(self, price: Price, *, is_far: bool) -> None:
        """Count a quote that was used, or that was too far away, from its time on."""
        if is_far:
            self._far.append(price)
        else:
            self._used = price

    def verdict(self, quote: MarketQuote) -> NotUsed | None:
        """Return why the quote makes no price, None if it does, and remember it."""
        if quote.usd is None:
            return "missing"
        if (quote.liquidity_usd or 0) < self._min_liquidity_usd:
            return "thin"
        if quote.price is None:
            return "unpriced"
        price, last = Price(quote.at, quote.price), self._last(quote)
        is_far = last is not None and _is_far(price, last) and not self._has_agreed(price)
        self.remember(price, is_far=is_far)
        return "far" if is_far else None

    def _last(self, quote: MarketQuote) -> Price | None:
        """Return the last price of the day before; of two at a time that of the trade."""
        used, traded = self._used, quote.traded
        if used is None or quote.at - used.at > MEMORY:
            return traded
        return used if traded is None or traded.at < used.at else traded

    def _has_agreed(self, price: Price) -> bool:
        while self._far and price.at - self._far[0].at > MEMORY:
            self._far.popleft()
        return any(
            price.at - far.at >= _AGREES_AFTER
            and abs(Fraction(price.value) - Fraction(far.value)) <= Fraction(far.value) * _AGREES_WITHIN
            for far in self._far
        )


def _is_far(price: Price, last: Price) -> bool:
    new, old = Fraction(price.value), Fraction(last.value)
    return new > old * _FAR_TIMES or new * _FAR_TIMES < old
