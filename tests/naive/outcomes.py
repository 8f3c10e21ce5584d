"""What became of a token after a moment, naively: the change of its first price then and a span later.

Shares no code with the service.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from tests.naive.prices import Priced, Quote
from tests.naive.walk import Row, Trade, Usd, percentage, shown, shown_price, shown_time

SPANS = {"1h": timedelta(hours=1), "6h": timedelta(hours=6), "24h": timedelta(hours=24)}
# The dollars of a trade by the native price of a moment.
UsdAt = Callable[[Trade, datetime], Usd]


def base_of(hour: datetime, trades: Iterable[Trade]) -> set[str]:
    """Return the mints that a group bought in the hour before, for the first time of a day, by its trades."""
    firsts: dict[tuple[str, date], datetime] = {}
    for trade in trades:
        if not trade.is_sell:
            key = (trade.mint, trade.at.astimezone(UTC).date())
            firsts[key] = min(firsts.get(key, trade.at), trade.at)
    return {mint for (mint, _), at in firsts.items() if hour - timedelta(hours=1) < at <= hour}


def summary_of(outcomes: Sequence[Row | None]) -> Row:
    """Return the figures of outcomes of one span, None of those that are not known."""
    changes = sorted(Fraction(outcome["change_percent"]) for outcome in outcomes if outcome is not None)
    gone = sum(1 for outcome in outcomes if outcome is not None and "gone" in outcome)
    count, median = len(changes), None
    if count:
        median = shown((changes[(count - 1) // 2] + changes[count // 2]) / 2, 4)

    def share(part: int) -> Decimal | None:
        return percentage(Fraction(part), Fraction(count)) if count else None

    return {
        "signals": len(outcomes),
        "known": count - gone,
        "gone": gone,
        "median_change_percent": median,
        "share_up": share(sum(change > 0 for change in changes)),
        "share_doubled": share(sum(change >= 100 for change in changes)),
        "share_halved": share(sum(change <= -50 for change in changes)),
    }


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
