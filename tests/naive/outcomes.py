"""What became of a token after a moment, naively: the change of its first price then and a span later.

Shares no code with the service.
"""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from fractions import Fraction

from tests.naive.prices import Priced, Quote
from tests.naive.walk import Row, Trade, Usd, percentage, shown_price, shown_time

SPANS = {"1h": timedelta(hours=1), "6h": timedelta(hours=6), "24h": timedelta(hours=24)}
# The dollars of a trade by the native price of a moment.
UsdAt = Callable[[Trade, datetime], Usd]


def first_price(
    since: datetime,
    until: datetime,
    trades: Iterable[Trade],
    quotes: Iterable[Quote],
    least: Fraction,
    usd_at: UsdAt,
) -> Priced | None:
    """Return the first price of a token from `since` until `until`, both within."""

    def is_large(trade: Trade) -> bool:
        usd = usd_at(trade, since)
        return trade.value > 0 and trade.exchanged != 0 and (usd is None or usd >= least)

    within = [trade for trade in trades if since <= trade.at <= until and is_large(trade)]
    first = min(within, key=lambda trade: (*trade.order, trade.wallet[1].encode()), default=None)
    prices = [] if first is None else [Priced(first.traded / first.amount, first.at)]
    prices += [quote.priced for quote in quotes if quote.is_used and since <= quote.at <= until]
    return min(prices, key=lambda price: (price.at, price.source == "market"), default=None)


def outcome_of(
    moment: datetime,
    now: datetime,
    trades: list[Trade],
    quotes: list[Quote],
    least: Fraction,
    usd_at: UsdAt,
    least_liquidity: Fraction = Fraction(1000),
) -> Row:
    """Return by span what became of a token until `now`, None where that is not known."""
    outcome: Row = {}
    for name, span in SPANS.items():
        begins, ends = moment + span, moment + span * 11 / 10
        start = first_price(moment, min(moment + span / 10, now), trades, quotes, least, usd_at)
        end = first_price(begins, min(ends, now), trades, quotes, least, usd_at)
        asked = [(quote.liquidity or 0) < least_liquidity for quote in quotes if begins <= quote.at <= ends]
        outcome[name] = None
        if start is not None and end is not None:
            outcome[name] = {
                "price": shown_price(end.value),
                "price_at": shown_time(end.at),
                "change_percent": percentage(end.value - start.value, start.value),
                "source": end.source,
            }
        elif end is None and ends < now and asked and all(asked):
            outcome[name] = {"gone": True, "change_percent": -100}
    return outcome
