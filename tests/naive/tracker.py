"""The record of a wallet in a period, naively: each figure from the trades by itself.

Shares no code with the service.
"""

from collections import Counter
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from tests.naive.prices import shown_gain
from tests.naive.sums import (
    INSTANT,
    PERIOD,
    TOTALS,
    Part,
    Period,
    UsdOf,
    fees,
    held,
    part_of,
    period_distribution,
    picked,
    profit_usd,
    sale,
    span_of,
    stated,
    step_of,
    stuck,
    sums,
    value,
)
from tests.naive.walk import Position, Row, Sale, Trade, Usd, percentage, shown, shown_time


def tracker_of(
    now: datetime,
    period: Period,
    newest_first: list[Trade],
    positions: dict[str, Position],
    unrealized: dict[str, Usd],
    usd_of: UsdOf,
    native: Usd,
    currency: str,
) -> Row:
    """Return a tracker's data but for the profile, of which it has active_hours."""
    since, until = span_of(now, period, [trade.at for trade in newest_first])
    trades = [trade for trade in newest_first if since < trade.at <= until]
    whole = part_of(positions.values(), since, until)
    bucket = step_of(since, until)
    if period == "all":
        bucket = max(bucket, timedelta(days=1))
    latest = {trade.mint: trade.at for trade in reversed(trades)}
    mints = sorted(sorted(latest, key=str.encode), key=lambda mint: latest[mint], reverse=True)
    rows = [
        _token(part_of([positions[mint]], since, until), positions[mint], usd_of)
        | {"mint": mint, "currency": currency}
        | shown_gain(positions[mint], unrealized[mint], native)
        for mint in mints
    ]
    still_held = [row for row in rows if row["still_holding"]]
    bought = [trade for trade in trades if not trade.is_sell]
    tokens = len({trade.mint for trade in bought})
    distribution = period_distribution(positions.values(), since, until)
    return {
        "active_hours": hours_of([t.at for t in newest_first if now - PERIOD["30d"] < t.at <= now]),
        "period_stats": {
            **({"period": period} if isinstance(period, str) else stated(since, until)),
            **_stats(whole, distribution, usd_of),
            **stuck(positions, unrealized),
        },
        "period_win_rate_distribution": distribution,
        "period_active_tokens": {
            "active_tokens_count": len(rows),
            "still_holding_count": len(still_held),
            "avg_position_size": shown(value(bought) / tokens if tokens else Fraction(0), 9),
            "tokens": still_held,
        },
        "period_history_tokens": rows,
        "period_realized_pnl_chart": _chart(since, until, bucket, whole.sales),
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


def _stats(whole: Part, distribution: Row, usd_of: UsdOf) -> Row:
    own = picked(
        sums(whole, usd_of),
        *("buy_txn", "sell_txn", "total_txn", "volume", "volume_usd", "largest_buy", "sold_without_cost"),
        *("fees", "fees_unknown_txn"),
        *("realized_pnl", "realized_pnl_usd", "realized_pnl_percentage", "best_trade_pnl"),
        *("worst_trade_pnl", "avg_hold_time_minutes"),
        **TOTALS,
    )
    wins = distribution["win_count"]
    return own | {
        "win_count": wins,
        "loss_count": distribution["closed_count"] - wins,
        "win_rate": distribution["win_rate_percentage"],
    }


def _token(part: Part, position: Position, usd_of: UsdOf) -> Row:
    own = picked(
        sums(part, usd_of),
        *("buy_tokens", "sell_tokens", "buy_txn", "sell_txn", "realized_pnl", "realized_pnl_usd"),
        *("realized_pnl_percentage", "sold_without_cost", "tokens_sold_without_cost"),
        buy_value="buy",
        buy_value_usd="buy_usd",
        sell_value="sell",
        sell_value_usd="sell_usd",
    )
    return own | {
        "symbol": None,
        "token_name": position.name,
        "first_seen": shown_time(part.trades[0].at),
        "last_seen": shown_time(part.trades[-1].at),
        "remaining_tokens": shown(position.quantity, 18),
        "bag_pct": percentage(position.quantity, position.peak),
        "still_holding": position.still_holding,
        **held(position),
    }


def _chart(since: datetime, until: datetime, bucket: timedelta, sales: list[Sale]) -> list[Row]:
    if not sales:
        return []
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    last = until.replace(microsecond=0)
    ends = {epoch + bucket * ((sale.at - epoch) // bucket + 1) for sale in sales}
    with_usd = all(sale.realized_usd is not None for sale in sales)
    points = []
    start, end_of_all = since + INSTANT, until + INSTANT
    for end in [start, *sorted(end for end in ends if end < last), end_of_all]:
        before = sales if end == end_of_all else [sale for sale in sales if since < sale.at < end]
        realized = sum((sale.realized for sale in before), Fraction(0))
        point: Row = {"timestamp": shown_time(end), "realized_pnl": shown(realized, 9)}
        points.append(point | (profit_usd(before) if with_usd else {}))
    return points


def _trade(trade: Trade, position: Position, usd_of: UsdOf, currency: str) -> Row:
    side = "sell" if trade.is_sell else "buy"
    usd = usd_of(trade)
    row: Row = {
        "tx_signature": trade.signature,
        "mint": trade.mint,
        "symbol": None,
        "token_name": trade.name or position.name,
        "transaction_type": side,
        "created_at": shown_time(trade.at),
        **trade.place,
        "value": shown(trade.value, 9),
        "token_amount": shown(trade.amount, 18),
        "currency": currency,
        f"{side}_value": shown(trade.value, 9),
        **sale(position.sale_of(trade)),
        **fees(trade),
    }
    if usd is not None:
        row |= {"value_usd": shown(usd, 4), f"{side}_value_usd": shown(usd, 4)}
    return row
