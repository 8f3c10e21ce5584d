"""The price of a token, naively: that of the newest trade that is large enough, or of a newer market quote.

Shares no code with the service.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any, NamedTuple

from tests.naive.sums import UsdOf
from tests.naive.walk import Position, Row, Trade, Usd, shown, shown_price, shown_time

# What decides: the smallest value in USD, and the greatest age.
Rule = tuple[Fraction, timedelta]

USUAL: Rule = (Fraction(1), timedelta(days=1))
DAY = timedelta(days=1)


class Priced(NamedTuple):
    """A price, its time, what makes it, and what its market holds in USD."""

    value: Fraction
    at: datetime
    source: str = "trade"
    liquidity: Usd = None


@dataclass(frozen=True)
class Quote:
    """What a market has quoted of a token: in USD and, with a native price near it, in native currency."""

    at: datetime
    usd: Fraction
    liquidity: Usd
    price: Usd
    is_used: bool = False
    is_far: bool = False

    @property
    def priced(self) -> Priced:
        """The price that it makes."""
        assert self.price is not None
        return Priced(self.price, self.at, "market", self.liquidity)


def judged(quote: Quote, known: Iterable[Quote], traded: Priced | None, least_liquidity: Fraction) -> Quote:
    """Return a quote with whether it is used, by those `known` and the newest trade of the day before."""
    if (quote.liquidity or 0) < least_liquidity or quote.price is None:
        return quote
    day = [other for other in known if timedelta(0) < quote.at - other.at <= DAY and other.price is not None]
    # Of two at one time the trade is the later one.
    prices = [(other.at, 0, other.price) for other in day if other.is_used]
    if traded is not None:
        prices.append((traded.at, 1, traded.value))
    if prices:
        ratio = quote.price / max(prices)[2]
        far = [other.price for other in day if other.is_far and quote.at - other.at >= timedelta(minutes=10)]
        agrees = any(Fraction(4, 5) <= quote.price / other <= Fraction(6, 5) for other in far)
        if not Fraction(1, 10) <= ratio <= 10 and not agrees:
            return replace(quote, is_far=True)
    return replace(quote, is_used=True)


def price_of(
    now: datetime,
    rule: Rule,
    trades: Iterable[Trade],
    usd_of: UsdOf,
    quotes: Iterable[Quote] = (),
    *,
    is_past: bool = False,
) -> Priced | None:
    """Return the price of a token at `now`, by all trades in it and quotes of it.

    At a moment that `is_past` quotes count of the hours alone that were over.
    """
    trade = price_trade(now, rule, trades, usd_of)
    prices = [] if trade is None else [Priced(trade.traded / trade.amount, trade.at)]
    hour = now.replace(minute=0, second=0, microsecond=0)
    for quote in quotes:
        is_known = quote.at < hour if is_past else quote.at <= now
        if quote.is_used and is_known and now - quote.at <= rule[1]:
            prices.append(quote.priced)
    return max(prices, key=lambda price: (price.at, price.source == "trade"), default=None)


def price_trade(now: datetime, rule: Rule, trades: Iterable[Trade], usd_of: UsdOf) -> Trade | None:
    """Return the trade that makes the price of a token, of all trades in it."""
    least, oldest = rule

    def is_large(trade: Trade) -> bool:
        usd = usd_of(trade)
        return trade.value > 0 and trade.exchanged != 0 and (usd is None or usd >= least)

    fit = [trade for trade in trades if trade.at <= now and is_large(trade)]
    newest = max(fit, key=_place, default=None)
    return newest if newest is not None and now - newest.at <= oldest else None


def unrealized(position: Position, priced: Priced | None) -> Fraction | None:
    """Return what is held of a token at its price, less its cost; None if it has none."""
    if position.quantity == 0:
        return Fraction(0)
    return None if priced is None else position.quantity * priced.value - position.held_cost


def shown_gain(position: Position, gain: Usd, native: Usd) -> Row:
    """Return the unrealized profit of a token, also at the latest native price; None where it is unknown."""
    # What is not held is worth nothing in any currency.
    rate = native if position.quantity else Fraction(0)
    return {
        "unrealized_pnl": None if gain is None else shown(gain, 9),
        "unrealized_pnl_usd": None if gain is None or rate is None else shown(gain * rate, 4),
    }


def block_of(trades: list[Trade], priced: Priced | None, usd: Usd) -> Row:
    """Return the name and the price of a token, with the latest native price `usd`."""
    named = [trade for trade in trades if trade.name]
    newest = max(named, key=_place, default=None)
    block: Row = {
        "token_name": "" if newest is None else newest.name,
        "price": None,
        "price_usd": None,
        "price_at": None,
        "price_source": None,
        "liquidity_usd": None,
    }
    if priced is not None:
        block["price"] = shown_price(priced.value)
        block["price_usd"] = None if usd is None else shown_price(priced.value * usd)
        block["price_at"] = shown_time(priced.at)
        block["price_source"] = priced.source
        block["liquidity_usd"] = None if priced.liquidity is None else shown(priced.liquidity, 4)
    return block


def _place(trade: Trade) -> tuple[Any, ...]:
    return (*trade.order, trade.wallet[1].encode())
