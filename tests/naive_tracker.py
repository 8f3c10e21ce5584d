"""The record of a wallet in a period, naively: each figure from the trades by itself.

Shares no code with the service.
"""

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from tests.naive_walk import Position, Row, Sale, Trade, Usd, shown, total, without_cost

PERIOD = {
    "6h": timedelta(hours=6),
    "1d": timedelta(days=1),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
}
CHART = {
    "6h": timedelta(minutes=5),
    "1d": timedelta(minutes=15),
    "7d": timedelta(hours=2),
    "30d": timedelta(hours=6),
}
UsdOf = Callable[[Trade], Usd]


def tracker_of(
    now: datetime,
    period: str,
    newest_first: list[Trade],
    positions: dict[str, Position],
    unrealized: dict[str, Usd],
    usd_of: UsdOf,
    currency: str,
) -> Row:
    """Return a tracker's data but for the profile, of which it has active_hours."""
    since = now - PERIOD[period]
    trades = [trade for trade in newest_first if since < trade.at <= now]
    sold = {
        mint: [sale for sale in position.sales if since < sale.at <= now]
        for mint, position in positions.items()
    }
    uncovered = {
        mint: [each for each in position.uncovered if since < each.at <= now]
        for mint, position in positions.items()
    }
    sales = sorted((sale for own in sold.values() for sale in own), key=lambda sale: sale.at)
    results = [
        (_sum([sale.realized for sale in own]), _sum([sale.cost for sale in own]))
        for own in sold.values()
        if own
    ]
    latest = {trade.mint: trade.at for trade in reversed(trades)}
    mints = sorted(sorted(latest, key=str.encode), key=lambda mint: latest[mint], reverse=True)
    rows = [
        _token(
            [trade for trade in trades if trade.mint == mint], sold[mint], positions[mint], usd_of, currency
        )
        | without_cost(uncovered[mint])
        | {"unrealized_pnl": None if (gain := unrealized[mint]) is None else shown(gain, 9)}
        for mint in mints
    ]
    held = [row for row in rows if row["still_holding"]]
    bought = {trade.mint for trade in trades if not trade.is_sell}
    spent = _sum([trade.value for trade in trades if not trade.is_sell])
    wins = sum(realized > 0 for realized, _ in results)
    return {
        "active_hours": hours_of([t.at for t in newest_first if now - PERIOD["30d"] < t.at <= now]),
        "period_stats": _stats(period, trades, sales, wins, len(results), usd_of)
        | {
            "sold_without_cost": without_cost([each for own in uncovered.values() for each in own])[
                "sold_without_cost"
            ]
        },
        "period_win_rate_distribution": {
            "win_rate_percentage": _percentage(Fraction(wins), Fraction(len(results))),
            "below_zero": len(results) - wins,
            "above_zero_to_100": sum(0 < realized <= cost for realized, cost in results),
            "above_100_to_500": sum(max(cost, 0) < realized <= 5 * cost for realized, cost in results),
            "above_500": sum(realized > 5 * cost for realized, cost in results if realized > 0),
            "closed_count": len(results),
            "win_count": wins,
        },
        "period_active_tokens": {
            "active_tokens_count": len(rows),
            "still_holding_count": len(held),
            "avg_position_size": shown(spent / len(bought) if bought else Fraction(0), 9),
            "tokens": held,
        },
        "period_history_tokens": rows,
        "period_realized_pnl_chart": _chart(since, now, CHART[period], sales),
        "period_trades": [_trade(trade, positions[trade.mint], usd_of, currency) for trade in trades],
    }


def hours_of(times: list[datetime]) -> str:
    """Return the shortest run of hours with 80 % of the times: all runs are compared."""
    if not times:
        return ""
    counts = Counter(at.astimezone(UTC).hour for at in times)
    # Over midnight, too.
    of_hours = [counts[hour % 24] for hour in range(48)]
    runs = [
        (length, -sum(of_hours[start : start + length]), start)
        for length in range(1, 25)
        for start in range(24)
    ]
    length, _, start = min(run for run in runs if -run[1] * 5 >= len(times) * 4)
    end = start + length if start + length <= 24 else start + length - 24
    return f"{start:02d}:00-{end:02d}:00 UTC"


def _stats(period: str, trades: list[Trade], sales: list[Sale], wins: int, closed: int, usd_of: UsdOf) -> Row:
    buys = [trade for trade in trades if not trade.is_sell]
    sells = [trade for trade in trades if trade.is_sell]
    realized = _sum([sale.realized for sale in sales])
    stats: Row = {
        "period": period,
        "buy_txn": len(buys),
        "sell_txn": len(sells),
        "total_txn": len(trades),
        "total_buy": shown(_sum([trade.value for trade in buys]), 9),
        "total_sell": shown(_sum([trade.value for trade in sells]), 9),
        "volume": shown(_sum([trade.value for trade in trades]), 9),
        "realized_pnl": shown(realized, 9),
        "realized_pnl_percentage": _percentage(realized, _sum([sale.cost for sale in sales])),
        "win_count": wins,
        "loss_count": closed - wins,
        "win_rate": _percentage(Fraction(wins), Fraction(closed)),
        "best_trade_pnl": shown(max((sale.realized for sale in sales), default=Fraction(0)), 9),
        "worst_trade_pnl": shown(min((sale.realized for sale in sales), default=Fraction(0)), 9),
        "largest_buy": shown(max((trade.value for trade in buys), default=Fraction(0)), 9),
        **_dollars("total_buy_usd", buys, usd_of),
        **_dollars("total_sell_usd", sells, usd_of),
        **_dollars("volume_usd", trades, usd_of),
        **_profit_usd(sales),
    }
    if sales:
        weights = (
            [sale.cost for sale in sales] if any(sale.cost for sale in sales) else [Fraction(1)] * len(sales)
        )
        held = _sum([weight * sale.held_seconds for weight, sale in zip(weights, sales, strict=True)])
        stats["avg_hold_time_minutes"] = shown(held / sum(weights) / 60, 2)
    return stats


def _token(trades: list[Trade], sales: list[Sale], position: Position, usd_of: UsdOf, currency: str) -> Row:
    buys = [trade for trade in trades if not trade.is_sell]
    sells = [trade for trade in trades if trade.is_sell]
    realized = _sum([sale.realized for sale in sales])
    return {
        "mint": trades[0].mint,
        "symbol": None,
        "token_name": position.name,
        "buy_value": shown(_sum([trade.value for trade in buys]), 9),
        **_dollars("buy_value_usd", buys, usd_of),
        "sell_value": shown(_sum([trade.value for trade in sells]), 9),
        **_dollars("sell_value_usd", sells, usd_of),
        "buy_tokens": shown(_sum([trade.amount for trade in buys]), 18),
        "sell_tokens": shown(_sum([trade.amount for trade in sells]), 18),
        "buy_txn": len(buys),
        "sell_txn": len(sells),
        "realized_pnl": shown(realized, 9),
        **_profit_usd(sales),
        "realized_pnl_percentage": _percentage(realized, _sum([sale.cost for sale in sales])),
        "first_seen": _time(trades[-1].at),
        "last_seen": _time(trades[0].at),
        "remaining_tokens": shown(position.quantity, 18),
        "bag_pct": _percentage(position.quantity, position.peak),
        "still_holding": position.still_holding,
        "currency": currency,
    }


def _chart(since: datetime, now: datetime, bucket: timedelta, sales: list[Sale]) -> list[Row]:
    if not sales:
        return []
    ends = {since + bucket * -((since - sale.at) // bucket) for sale in sales}
    with_usd = all(sale.realized_usd is not None for sale in sales)
    points = []
    for end in sorted({since, now} | ends):
        until = [sale for sale in sales if sale.at <= end]
        point: Row = {"timestamp": _time(end), "realized_pnl": shown(_sum([s.realized for s in until]), 9)}
        points.append(point | (_profit_usd(until) if with_usd else {}))
    return [point if with_usd else _without_usd(point) for point in points]


def _without_usd(point: Row) -> Row:
    return {name: value for name, value in point.items() if name != "realized_pnl_usd"}


def _trade(trade: Trade, position: Position, usd_of: UsdOf, currency: str) -> Row:
    side = "sell" if trade.is_sell else "buy"
    usd = usd_of(trade)
    row: Row = {
        "tx_signature": trade.signature,
        "mint": trade.mint,
        "symbol": None,
        "token_name": trade.name or position.name,
        "transaction_type": side,
        "created_at": _time(trade.at),
        "value": shown(trade.value, 9),
        "token_amount": shown(trade.amount, 18),
        "currency": currency,
        f"{side}_value": shown(trade.value, 9),
    }
    if usd is not None:
        row |= {"value_usd": shown(usd, 4), f"{side}_value_usd": shown(usd, 4)}
    return row


def _dollars(name: str, trades: list[Trade], usd_of: UsdOf) -> Row:
    usd = total([usd_of(trade) for trade in trades])
    return {} if usd is None else {name: shown(usd, 4)}


def _profit_usd(sales: list[Sale]) -> Row:
    profits = [sale.realized_usd for sale in sales]
    return {} if None in profits else {"realized_pnl_usd": shown(total(profits) or Fraction(0), 4)}


def _sum(values: list[Fraction]) -> Fraction:
    return sum(values, Fraction(0))


def _percentage(part: Fraction, whole: Fraction) -> object:
    return shown(100 * part / whole if whole else Fraction(0), 4)


def _time(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
