"""The price of a token, naively: the newest trade that is large enough, if it is recent enough.

Shares no code with the service.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from tests.naive.sums import UsdOf
from tests.naive.walk import Position, Row, Trade, Usd, shown, shown_price, shown_time

# What decides: the smallest value in USD, and the greatest age.
Rule = tuple[Fraction, timedelta]

USUAL: Rule = (Fraction(1), timedelta(days=1))


def price_trade(now: datetime, rule: Rule, trades: Iterable[Trade], usd_of: UsdOf) -> Trade | None:
    """Return the trade that makes the price of a token, of all trades in it."""
    least, oldest = rule

    def is_large(trade: Trade) -> bool:
        usd = usd_of(trade)
        return trade.value > 0 and trade.exchanged != 0 and (usd is None or usd >= least)

    fit = [trade for trade in trades if trade.at <= now and is_large(trade)]
    newest = max(fit, key=_place, default=None)
    return newest if newest is not None and now - newest.at <= oldest else None


def unrealized(position: Position, priced: Trade | None) -> Fraction | None:
    """Return what is held of a token at its price, less its cost; None if it has none."""
    if position.quantity == 0:
        return Fraction(0)
    return None if priced is None else position.quantity * priced.traded / priced.amount - position.held_cost


def shown_gain(position: Position, gain: Usd, native: Usd) -> Row:
    """Return the unrealized profit of a token, also at the latest native price; None where it is unknown."""
    # What is not held is worth nothing in any currency.
    rate = native if position.quantity else Fraction(0)
    return {
        "unrealized_pnl": None if gain is None else shown(gain, 9),
        "unrealized_pnl_usd": None if gain is None or rate is None else shown(gain * rate, 4),
    }


def block_of(trades: list[Trade], priced: Trade | None, usd: Usd) -> Row:
    """Return the name and the price of a token, with the latest native price `usd`."""
    named = [trade for trade in trades if trade.name]
    newest = max(named, key=_place, default=None)
    block: Row = {
        "token_name": "" if newest is None else newest.name,
        "price": None,
        "price_usd": None,
        "price_at": None,
    }
    if priced is not None:
        price = priced.traded / priced.amount
        block["price"] = shown_price(price)
        block["price_usd"] = None if usd is None else shown_price(price * usd)
        block["price_at"] = shown_time(priced.at)
    return block


def _place(trade: Trade) -> tuple[Any, ...]:
    return (*trade.order, trade.wallet[1].encode())
