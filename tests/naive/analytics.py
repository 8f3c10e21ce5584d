"""What a group traded, naively: flows of tokens in windows, and volume in buckets.

Shares no code with the service.
"""

from datetime import datetime, timedelta

from tests.naive.sums import INSTANT, PERIOD, Part, UsdOf, picked, step_of, steps, sums
from tests.naive.walk import Row, Trade, shown_time

WINDOWS = {"1h": timedelta(hours=1), **{name: PERIOD[name] for name in ("6h", "1d", "7d")}}
TRADED = ("buy", "buy_usd", "sell", "sell_usd")


def flows_of(now: datetime, trades: list[Trade], usd_of: UsdOf) -> Row:
    """Return the flows of a token in each window, of all trades in it."""
    return {name: _flow(trades, now - length, now, usd_of) for name, length in WINDOWS.items()}


def trend_of(since: datetime, until: datetime, trades: list[Trade], usd_of: UsdOf) -> list[Row]:
    """Return the buckets of (since, until], oldest first, cut as the chart of a tracker."""
    buckets = []
    # Of most buckets, and they are hundreds.
    nothing = sums(Part([], [], []), usd_of)
    # As in a chart, no end but the last one is in the last second.
    inner = [end for end in steps(since, until, step_of(since, until)) if end < until.replace(microsecond=0)]
    ends = [*(end - INSTANT for end in inner), until]
    for start, end in zip([since, *ends], ends, strict=False):
        within = [trade for trade in trades if start < trade.at <= end]
        own = sums(Part(within, [], []), usd_of) if within else nothing
        buckets.append(
            {
                "timestamp": shown_time(end + INSTANT),
                **picked(own, *TRADED, "volume", "volume_usd", txn="total_txn"),
                "wallets": len({trade.wallet for trade in within}),
            }
        )
    return buckets


def _flow(trades: list[Trade], since: datetime, now: datetime, usd_of: UsdOf) -> Row:
    within = [trade for trade in trades if since < trade.at <= now]
    buyers = {trade.wallet for trade in within if not trade.is_sell}
    before = {trade.wallet for trade in trades if not trade.is_sell and trade.at <= since}
    return {
        **picked(sums(Part(within, [], []), usd_of), *TRADED, "net_flow", "net_flow_usd"),
        "buyers": len(buyers),
        "sellers": len({trade.wallet for trade in within if trade.is_sell}),
        "new_wallets": len(buyers - before),
        "wallet_count": len({trade.wallet for trade in within}),
    }
