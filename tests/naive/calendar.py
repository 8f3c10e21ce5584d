"""The calendar of a wallet, naively: each day and each month summed from its trades by itself.

Shares no code with the service.
"""

from datetime import UTC, date, datetime
from fractions import Fraction
from itertools import groupby

from tests.naive.sums import EVER, TOTALS, Part, Period, UsdOf, part_of, picked, span_of, sums
from tests.naive.walk import Position, Row, shown


def calendar_of(now: datetime, positions: list[Position], usd_of: UsdOf, window: Period | None = None) -> Row:
    """Return months, month and dates of a calendar, of all trades or of a window, with which it ends."""
    times = [trade.at for position in positions for trade in position.trades]
    since, until = (EVER[0], now) if window is None else span_of(now, window, times)
    whole = part_of(positions) if window is None else part_of(positions, since, until)
    if not whole.trades:
        return {"months": [], "month": {}, "dates": []}
    days = sorted({_day(trade.at) for trade in whole.trades})
    months = [
        _month(year, month, [day for day in days if (day.year, day.month) == (year, month)], whole, usd_of)
        for year, month in _months(days[0], days[-1], until)
    ]
    return {"months": months, **months[-1]}


def _months(first: date, newest: date, until: datetime) -> list[tuple[int, int]]:
    last = max(newest, _day(until))
    count = (last.year - first.year) * 12 + last.month - first.month + 1
    numbers = [first.year * 12 + first.month - 1 + passed for passed in range(count)]
    return [(number // 12, number % 12 + 1) for number in numbers]


def _month(year: int, month: int, days: list[date], whole: Part, usd_of: UsdOf) -> Row:
    dates = []
    sides = []
    for day in days:
        own = _of_days(whole, [day])
        dates.append({"date": day.isoformat(), **_sums(own, usd_of)})
        if own.sales:
            # A profit has a sign by its first 30 decimals.
            profit = shown(sum((sale.realized for sale in own.sales), Fraction(0)), 30)
            sides.append((profit > 0) - (profit < 0))
    return {
        "month": {
            "year": year,
            "month": month,
            **_sums(_of_days(whole, days), usd_of),
            "positive_streak": _longest(sides, 1),
            "negative_streak": _longest(sides, -1),
        },
        "dates": dates,
    }


def _of_days(whole: Part, days: list[date]) -> Part:
    return Part(
        [trade for trade in whole.trades if _day(trade.at) in days],
        [sale for sale in whole.sales if _day(sale.at) in days],
        [],
    )


def _sums(part: Part, usd_of: UsdOf) -> Row:
    own = picked(
        sums(part, usd_of),
        *("realized_pnl", "realized_pnl_usd", "buy_txn", "sell_txn", "volume", "volume_usd"),
        *("fees", "fees_unknown_txn"),
        txn_total="total_txn",
        **TOTALS,
    )
    return own | {"tokens_traded": len({trade.mint for trade in part.trades})}


def _longest(sides: list[int], side: int) -> int:
    return max((len(list(days)) for own, days in groupby(sides) if own == side), default=0)


def _day(at: datetime) -> date:
    return at.astimezone(UTC).date()
