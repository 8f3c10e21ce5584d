"""The days of a wallet, naively: each summed from its trades by itself, as docs/ledger.md defines them.

Shares no code with the service.
"""

from datetime import UTC, date
from fractions import Fraction

from tests.naive_walk import Position, Row, Trade, shown


def day_of(day: date, by_day: dict[date, list[Trade]], positions: dict[str, Position]) -> Row:
    """The sums over the trades of one day, exact; those of what was realized with 18 decimals.

    hold_cost, of products of two rounded quotients, has 6.
    """
    trades = by_day[day]
    buys = [trade for trade in trades if not trade.is_sell]
    sells = [trade for trade in trades if trade.is_sell]
    sales = [
        sale
        for position in positions.values()
        for sale in position.sales
        if sale.at.astimezone(UTC).date() == day
    ]
    profits = [sale.realized_usd for sale in sales]
    earlier = {
        trade.mint
        for other, own in by_day.items()
        if (other.year, other.month) == (day.year, day.month) and other < day
        for trade in own
    }
    mints = {trade.mint for trade in trades}
    return {
        "day": day,
        "buy_txn": len(buys),
        "sell_txn": len(sells),
        "covered_txn": len(sales),
        "buys_without_usd": sum(trade.usd is None for trade in buys),
        "sells_without_usd": sum(trade.usd is None for trade in sells),
        "covered_without_usd": profits.count(None),
        "tokens": len(mints),
        "new_tokens": len(mints - earlier),
        "bought": sum((trade.value for trade in buys), Fraction(0)),
        "sold": sum((trade.value for trade in sells), Fraction(0)),
        "bought_usd": sum((trade.usd for trade in buys if trade.usd is not None), Fraction(0)),
        "sold_usd": sum((trade.usd for trade in sells if trade.usd is not None), Fraction(0)),
        "bought_without_usd": sum((t.value for t in buys if t.usd is None), Fraction(0)),
        "sold_without_usd": sum((t.value for t in sells if t.usd is None), Fraction(0)),
        "realized": shown(sum((sale.realized for sale in sales), Fraction(0)), 18),
        "realized_cost": shown(sum((sale.cost for sale in sales), Fraction(0)), 18),
        "hold_seconds": shown(sum((sale.held_seconds for sale in sales), Fraction(0)), 18),
        "hold_cost": shown(sum((sale.held_seconds * sale.cost for sale in sales), Fraction(0)), 6),
        "realized_usd": shown(sum((p for p in profits if p is not None), Fraction(0)), 18),
    }
