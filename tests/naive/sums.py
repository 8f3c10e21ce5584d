"""The figures of some trades, naively: each of them once, by the definitions in docs/figures.md.

An operation picks its own, by the names that it has for them. Shares no code with the service.
"""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from tests.naive.walk import (
    Position,
    Row,
    Sale,
    Trade,
    Uncovered,
    Usd,
    percentage,
    shown,
    shown_price,
    total,
)

UsdOf = Callable[[Trade], Usd]

PERIOD = {
    "6h": timedelta(hours=6),
    "1d": timedelta(days=1),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
    "90d": timedelta(days=90),
}
# The parts of a period in charts and trends.
BUCKET = {
    "6h": timedelta(minutes=5),
    "1d": timedelta(minutes=15),
    "7d": timedelta(hours=2),
    "30d": timedelta(hours=6),
}
EVER = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
INSTANT = timedelta(microseconds=1)
# A period by its name, or a window: since <= at < until, each of which may be missing.
Period = str | tuple[datetime | None, datetime | None]
# What most operations call the values of both sides.
TOTALS = {
    "total_buy": "buy",
    "total_buy_usd": "buy_usd",
    "total_sell": "sell",
    "total_sell_usd": "sell_usd",
}
RANGES = ("below_zero", "above_zero_to_100", "above_100_to_500", "above_500")


def span_of(now: datetime, period: Period, times: Iterable[datetime]) -> tuple[datetime, datetime]:
    """Return (since, until] of a period or a window, of trades at these times; empty without any."""
    if isinstance(period, str) and period != "all":
        return now - PERIOD[period], now
    every = sorted(times)
    if period == "all":
        return (every[0] - INSTANT, max(now, every[-1])) if every else (now, now)
    since, until = period
    last = now if until is None or until > now else until - INSTANT
    if since is None:
        before = [at for at in every if at <= last]
        return (before[0] - INSTANT if before else last), last
    return min(since, now) - INSTANT, last


def stated(since: datetime, until: datetime) -> Row:
    """Return how a response states (since, until]; nothing is in it where both are one."""
    bounds = {"until": exact_time(until + INSTANT)}
    return bounds if since == until else {"since": exact_time(since + INSTANT), **bounds}


def exact_time(at: datetime) -> str:
    """Return a time with its microseconds, if any."""
    text = at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{text}.{at.microsecond:06}Z" if at.microsecond else f"{text}Z"


def steps(since: datetime, until: datetime, step: timedelta) -> list[datetime]:
    """Return the whole steps since 1970 within (since, until], but for its first instant, and its end."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    time = epoch + (since + INSTANT - epoch) // step * step + step
    times = []
    while time < until:
        times.append(time)
        time += step
    return [*times, until]


def step_of(since: datetime, until: datetime) -> timedelta:
    """Return the step of a tracker's chart, and the length of a bucket, in (since, until]."""
    for name, bucket in BUCKET.items():
        if until - since <= PERIOD[name]:
            return bucket
    return timedelta(days=1 if until - since <= timedelta(days=400) else 7)


class Part(NamedTuple):
    """Some trades, with what the sells among them realized, and sold beyond what was held."""

    trades: list[Trade]
    sales: list[Sale]
    uncovered: list[Uncovered]


def part_of(positions: Iterable[Position], since: datetime = EVER[0], until: datetime = EVER[1]) -> Part:
    """Return what happened in these positions in (`since`, `until`]."""
    every = list(positions)
    return Part(
        [trade for position in every for trade in position.trades if since < trade.at <= until],
        [sale for position in every for sale in position.sales if since < sale.at <= until],
        [beyond for position in every for beyond in position.uncovered if since < beyond.at <= until],
    )


def sums(part: Part, usd_of: UsdOf) -> Row:
    """Return all figures of a part. Those that cannot be known are absent."""
    buys = [trade for trade in part.trades if not trade.is_sell]
    sells = [trade for trade in part.trades if trade.is_sell]
    profits = [sale.realized for sale in part.sales]
    return {
        "buy_txn": len(buys),
        "sell_txn": len(sells),
        "total_txn": len(part.trades),
        "buy": shown(value(buys), 9),
        **dollars("buy_usd", buys, usd_of),
        "sell": shown(value(sells), 9),
        **dollars("sell_usd", sells, usd_of),
        "volume": shown(value(part.trades), 9),
        **dollars("volume_usd", part.trades, usd_of),
        "net_flow": shown(value(buys) - value(sells), 9),
        **_net_flow_usd(buys, sells, usd_of),
        "buy_tokens": shown(tokens(buys), 18),
        "sell_tokens": shown(tokens(sells), 18),
        "largest_buy": shown(max((trade.value for trade in buys), default=Fraction(0)), 9),
        "realized_pnl": shown(sum(profits, Fraction(0)), 9),
        **profit_usd(part.sales),
        "realized_pnl_percentage": percentage(sum(profits, Fraction(0)), _cost(part.sales)),
        "best_trade_pnl": shown(max(profits, default=Fraction(0)), 9),
        "worst_trade_pnl": shown(min(profits, default=Fraction(0)), 9),
        **_hold_time(part.sales),
        "sold_without_cost": shown(sum((beyond.value for beyond in part.uncovered), Fraction(0)), 9),
        "tokens_sold_without_cost": shown(sum((beyond.amount for beyond in part.uncovered), Fraction(0)), 18),
        "fees": shown(sum((trade.fees or Fraction(0) for trade in part.trades), Fraction(0)), 9),
        "fees_unknown_txn": sum(trade.fees is None for trade in part.trades),
    }


def picked(figures: Row, *names: str, **renamed: str) -> Row:
    """Return some figures, those that are `renamed` by other names; what is absent stays so."""
    own = {name: name for name in names} | renamed
    return {name: figures[figure] for name, figure in own.items() if figure in figures}


def value(trades: Iterable[Trade]) -> Fraction:
    """Return what trades cost and brought together."""
    return sum((trade.value for trade in trades), Fraction(0))


def tokens(trades: Iterable[Trade]) -> Fraction:
    """Return how many tokens were traded."""
    return sum((trade.amount for trade in trades), Fraction(0))


def dollars(name: str, trades: Iterable[Trade], usd_of: UsdOf) -> Row:
    """Return what trades cost and brought in USD, by this name; nothing if it is unknown of all."""
    usd = total([usd_of(trade) for trade in trades])
    return {} if usd is None else {name: shown(usd, 4)}


def profit_usd(sales: Iterable[Sale]) -> Row:
    """Return the profit in USD; nothing if it is unknown of any sell."""
    profits = [sale.realized_usd for sale in sales]
    return {} if None in profits else {"realized_pnl_usd": shown(total(profits) or Fraction(0), 4)}


def sale(own: Sale | None) -> Row:
    """Return what a covered sell made; nothing of another trade."""
    if own is None:
        return {}
    return {"realized_pnl": shown(own.realized, 9), **profit_usd([own]), "cost": shown(own.cost, 9)}


def fees(trade: Trade) -> Row:
    """Return what a trade cost beside what was exchanged; nothing if that is unknown."""
    return {} if trade.fees is None else {"fees": shown(trade.fees, 9)}


def stuck(positions: dict[str, Position], unrealized: dict[str, Usd]) -> Row:
    """Return what is held cost, and the part of it in tokens without a price."""
    unpriced = [positions[mint] for mint, gain in unrealized.items() if gain is None]
    return {
        **open_costs(positions.values()),
        **picked(open_costs(unpriced), unpriced_cost="open_cost", unpriced_cost_usd="open_cost_usd"),
    }


def held(position: Position) -> Row:
    """Return what is held of a token cost, and each of these tokens."""
    average = {"avg_cost": shown_price(position.held_cost / position.quantity)} if position.quantity else {}
    return {**open_costs([position]), **average}


def distribution(results: list[tuple[Fraction, Fraction]]) -> Row:
    """Return how many profits at which costs are in each range of percent."""
    counts = dict.fromkeys(RANGES, 0)
    for realized, cost in results:
        if realized <= 0:
            bucket = "below_zero"
        elif cost == 0 or realized / cost > 5:
            bucket = "above_500"
        elif realized / cost > 1:
            bucket = "above_100_to_500"
        else:
            bucket = "above_zero_to_100"
        counts[bucket] += 1
    return counts


def period_distribution(positions: Iterable[Position], since: datetime, until: datetime) -> Row:
    """Return how many tokens with a covered sell in a period had which profit in it."""
    sold = [part_of([position], since, until).sales for position in positions]
    results = [(sum((sale.realized for sale in own), Fraction(0)), _cost(own)) for own in sold if own]
    wins = sum(realized > 0 for realized, _ in results)
    return {
        "win_rate_percentage": percentage(Fraction(wins), Fraction(len(results))),
        **distribution(results),
        "closed_count": len(results),
        "win_count": wins,
    }


def holding(quantity: Fraction, peak: Fraction) -> Row:
    """Return what is held of a token whose supply is unknown."""
    return {
        "token_amount": shown(quantity, 18),
        "token_amount_peak": shown(peak, 18),
        "bag_pct": percentage(quantity, peak),
        "still_holding": quantity > 0 and quantity * 100 >= peak,
        "supply_pct": None,
        "supply_pct_peak": None,
    }


def open_cost(positions: Iterable[Position]) -> Decimal:
    """Return what is held cost."""
    return shown(sum((position.held_cost for position in positions), Fraction(0)), 9)


def open_costs(positions: Iterable[Position]) -> Row:
    """Return what is held cost, also in USD unless that is unknown of any position."""
    every = list(positions)
    costs = [position.held_cost_usd for position in every]
    in_usd = {} if None in costs else {"open_cost_usd": shown(total(costs) or Fraction(0), 4)}
    return {"open_cost": open_cost(every), **in_usd}


def _cost(sales: Iterable[Sale]) -> Fraction:
    return sum((sale.cost for sale in sales), Fraction(0))


def _net_flow_usd(buys: list[Trade], sells: list[Trade], usd_of: UsdOf) -> Row:
    bought, sold = (total([usd_of(trade) for trade in side]) for side in (buys, sells))
    return {} if bought is None or sold is None else {"net_flow_usd": shown(bought - sold, 4)}


def _hold_time(sales: list[Sale]) -> Row:
    if not sales:
        return {}
    weights = [sale.cost for sale in sales] if _cost(sales) else [Fraction(1)] * len(sales)
    held = sum((weight * sale.held_seconds for weight, sale in zip(weights, sales, strict=True)), Fraction(0))
    return {"avg_hold_time_minutes": shown(held / sum(weights) / 60, 2)}
