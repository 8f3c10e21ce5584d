"""How much of a record was luck, naively: each figure from the sells of a period by itself.

Shares no code with the service.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal, localcontext
from fractions import Fraction

from tests.naive.sums import part_of
from tests.naive.walk import Position, Row, percentage, shown

_Z = Decimal("1.959963984540054")


def luck_of(positions: Iterable[Position], since: datetime, until: datetime) -> Row:
    """Return the figures that show luck; a profit factor without a loss is absent."""
    every = list(positions)
    whole = part_of(every, since, until)
    of_tokens = [part_of([position], since, until).sales for position in every]
    profits = [sum((sale.realized for sale in own), Fraction(0)) for own in of_tokens if own]
    gains = sum((profit for profit in profits if profit > 0), Fraction(0))
    losses = -sum((profit for profit in profits if profit < 0), Fraction(0))
    fast = [sale for sale in whole.sales if sale.held_seconds < 60]
    factor = {"profit_factor": shown(gains / losses if losses else Fraction(0), 4)}
    days = {trade.at.astimezone(UTC).date() for trade in whole.trades}
    peak = total = fall = Fraction(0)
    for day in sorted(days):
        sales = [sale for sale in whole.sales if sale.at.astimezone(UTC).date() == day]
        total += sum((sale.realized for sale in sales), Fraction(0))
        peak = max(peak, total)
        fall = max(fall, peak - total)
    return {
        "win_rate_low": _wilson(sum(profit > 0 for profit in profits), len(profits)),
        **({} if gains and not losses else factor),
        "pnl_without_best_token": shown(total - max([*profits, Fraction(0)]), 9),
        "max_drawdown": shown(fall, 9),
        "fast_share": percentage(Fraction(len(fast)), Fraction(len(whole.sales))),
        "active_days": len(days),
    }


def _wilson(won: int, closed: int) -> Decimal:
    """Return the lower end of the interval in percent, by the formula of textbooks with many digits."""
    if not closed:
        return Decimal(0)
    with localcontext() as context:
        context.prec = 120
        n, rate = Decimal(closed), Decimal(won) / Decimal(closed)
        margin = _Z * (rate * (1 - rate) / n + _Z * _Z / (4 * n * n)).sqrt()
        low = (rate + _Z * _Z / (2 * n) - margin) / (1 + _Z * _Z / n)
        return shown(Fraction(100 * low), 4)
