"""The calendar of a wallet, naively: each day and each month summed from its trades by itself.

Shares no code with the service.
"""

from collections.abc import Callable
from datetime import UTC, date, datetime
from fractions import Fraction
from itertools import groupby

from tests.naive_walk import Position, Row, Sale, Trade, Usd, shown, total

UsdOf = Callable[[Trade], Usd]


def calendar_of(now: datetime, trades: list[Trade], positions: dict[str, Position], usd_of: UsdOf) -> Row:
    """Return months, month and dates of a calendar."""
    sales = [sale for position in positions.values() for sale in position.sales]
    if not trades:
        return {"months": [], "month": {}, "dates": []}
    days = sorted({_day(trade.at) for trade in trades})
    months = [_month(year, month, trades, sales, usd_of) for year, month in _months(days[0], days[-1], now)]
    return {"months": months, **months[-1]}


def _months(first: date, newest: date, now: datetime) -> list[tuple[int, int]]:
    last = max(newest, _day(now))
    count = (last.year - first.year) * 12 + last.month - first.month + 1
    numbers = [first.year * 12 + first.month - 1 + passed for passed in range(count)]
    return [(number // 12, number % 12 + 1) for number in numbers]


def _month(year: int, month: int, trades: list[Trade], sales: list[Sale], usd_of: UsdOf) -> Row:
    trades = [trade for trade in trades if (_day(trade.at).year, _day(trade.at).month) == (year, month)]
    sales = [sale for sale in sales if (_day(sale.at).year, _day(sale.at).month) == (year, month)]
    dates = []
    sides = []
    for day in sorted({_day(trade.at) for trade in trades}):
        sold = [sale for sale in sales if _day(sale.at) == day]
        own = [trade for trade in trades if _day(trade.at) == day]
        dates.append({"date": day.isoformat(), **_sums(own, sold, usd_of)})
        if sold:
            # A profit has a sign by its first 30 decimals.
            profit = shown(sum((sale.realized for sale in sold), Fraction(0)), 30)
            sides.append((profit > 0) - (profit < 0))
    return {
        "month": {
            "year": year,
            "month": month,
            **_sums(trades, sales, usd_of),
            "positive_streak": _longest(sides, 1),
            "negative_streak": _longest(sides, -1),
        },
        "dates": dates,
    }


def _sums(trades: list[Trade], sales: list[Sale], usd_of: UsdOf) -> Row:
    buys = [trade for trade in trades if not trade.is_sell]
    sells = [trade for trade in trades if trade.is_sell]
    sums: Row = {
        "realized_pnl": shown(sum((sale.realized for sale in sales), Fraction(0)), 9),
        "buy_txn": len(buys),
        "sell_txn": len(sells),
        "txn_total": len(trades),
        "tokens_traded": len({trade.mint for trade in trades}),
        "volume": shown(sum((trade.value for trade in trades), Fraction(0)), 9),
        "total_buy": shown(sum((trade.value for trade in buys), Fraction(0)), 9),
        "total_sell": shown(sum((trade.value for trade in sells), Fraction(0)), 9),
    }
    profits = [sale.realized_usd for sale in sales]
    if None not in profits:
        sums["realized_pnl_usd"] = shown(total(profits) or Fraction(0), 4)
    for name, side in (("total_buy_usd", buys), ("total_sell_usd", sells)):
        usd = total([usd_of(trade) for trade in side])
        if usd is not None:
            sums[name] = shown(usd, 4)
    return sums


def _longest(sides: list[int], side: int) -> int:
    return max((len(list(days)) for own, days in groupby(sides) if own == side), default=0)


def _day(at: datetime) -> date:
    return at.astimezone(UTC).date()
