"""What a group traded, naively: flows of tokens in windows, and volume in buckets.

Shares no code with the service.
"""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from tests.naive_walk import Row, Trade, Usd, shown, total

UsdOf = Callable[[Trade], Usd]

WINDOWS = {
    "1h": timedelta(hours=1),
    "6h": timedelta(hours=6),
    "1d": timedelta(hours=24),
    "7d": timedelta(days=7),
}
# Length of the period and of its buckets.
TRENDS = {
    "6h": (timedelta(hours=6), timedelta(minutes=5)),
    "1d": (timedelta(days=1), timedelta(minutes=15)),
    "7d": (timedelta(days=7), timedelta(hours=2)),
    "30d": (timedelta(days=30), timedelta(hours=6)),
}


def flows_of(now: datetime, trades: Iterable[Trade], usd_of: UsdOf) -> Row:
    """Return the flows of a token in each window, of all trades in it."""
    every = list(trades)
    return {name: _flow(every, now - length, now, usd_of) for name, length in WINDOWS.items()}


def trend_of(now: datetime, period: str, trades: list[Trade], usd_of: UsdOf) -> list[Row]:
    """Return the buckets of a period, oldest first."""
    length, bucket = TRENDS[period]
    buckets = []
    end = now - length
    while end < now:
        start, end = end, end + bucket
        within = [trade for trade in trades if start < trade.at <= end]
        usd = total([usd_of(trade) for trade in within])
        buckets.append(
            {
                "timestamp": end.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
                "buy": shown(_value(within, sells=False), 9),
                "sell": shown(_value(within, sells=True), 9),
                "volume": shown(_value(within, sells=False) + _value(within, sells=True), 9),
                **({} if usd is None else {"volume_usd": shown(usd, 4)}),
                "txn": len(within),
                "wallets": len({trade.wallet for trade in within}),
            }
        )
    return buckets


def _flow(trades: list[Trade], since: datetime, now: datetime, usd_of: UsdOf) -> Row:
    within = [trade for trade in trades if since < trade.at <= now]
    bought, sold = _value(within, sells=False), _value(within, sells=True)
    sides = [total([usd_of(trade) for trade in within if trade.is_sell is sells]) for sells in (False, True)]
    buyers = {trade.wallet for trade in within if not trade.is_sell}
    before = {trade.wallet for trade in trades if not trade.is_sell and trade.at <= since}
    return {
        "buy": shown(bought, 9),
        "sell": shown(sold, 9),
        "net_flow": shown(bought - sold, 9),
        **({} if sides[0] is None or sides[1] is None else {"net_flow_usd": shown(sides[0] - sides[1], 4)}),
        "buyers": len(buyers),
        "sellers": len({trade.wallet for trade in within if trade.is_sell}),
        "new_wallets": len(buyers - before),
        "wallet_count": len({trade.wallet for trade in within}),
    }


def _value(trades: list[Trade], *, sells: bool) -> Fraction:
    return sum((trade.value for trade in trades if trade.is_sell is sells), Fraction(0))
