"""The record of one wallet in a period."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, Row, load_sql, rows_where
from wallet_api.periods import BUCKETS, PERIOD_LENGTHS
from wallet_api.queries.paging import with_warnings
from wallet_api.queries.token_price import DEFAULT_RULE, PriceRule
from wallet_api.wallets import Wallet

_HOURS = 24
# Of each list of tokens and trades.
MAX_ROWS = 1000

_TRACKER = load_sql(__package__, "tracker")


def track_wallet(
    connection: Connection,
    wallet: Wallet,
    now: datetime,
    period: str,
    rule: PriceRule = DEFAULT_RULE,
) -> dict[str, Any]:
    """Return what a wallet did in (`now` - period, `now`], all of one snapshot. Raises WalletNotFound."""
    now = now.replace(microsecond=0)
    currency = CHAINS[wallet.blockchain].currency
    parameters = {
        **wallet.parameters,
        "currency": currency,
        "period": period,
        "since": now - PERIOD_LENGTHS[period],
        "month_ago": now - PERIOD_LENGTHS["30d"],
        **rule.parameters(now),
        "bucket_seconds": int(BUCKETS[period].total_seconds()),
        "most": MAX_ROWS,
    }
    found = connection.fetch_lists(_TRACKER, parameters)
    if found is None:
        raise wallet.removed
    row, [tokens, chart, trades] = found
    held = [
        is_held and number <= MAX_ROWS
        for is_held, number in zip(tokens["still_holding"], tokens["held_ordinal"], strict=True)
    ]
    texts = ("name", "image_url", "twitter", "telegram", "copytrade_link", "type")
    data: dict[str, Any] = {
        **row,
        "wallet": wallet.address,
        "profile": {
            "wallet_address": wallet.address,
            **{name: row[name] for name in texts},
            "blockchain": wallet.blockchain,
            "currency": currency,
            "native_price_usd": row["native_price_usd"],
            "active_hours": active_hours(dict(row["hours"])),
        },
        "period_history_tokens": rows_where(tokens, [number <= MAX_ROWS for number in tokens["ordinal"]]),
        "period_realized_pnl_chart": chart,
        "period_trades": trades,
        "period_active_tokens": {
            "active_tokens_count": row["active_tokens_count"],
            "still_holding_count": row["still_holding_count"],
            "avg_position_size": row["avg_position_size"],
            "tokens": rows_where(tokens, held),
        },
    }
    return with_warnings(data, _warnings(row))


def _warnings(row: Row) -> list[str]:
    counts = {
        "period_active_tokens.tokens": row["still_holding_count"],
        "period_history_tokens": row["active_tokens_count"],
        "period_trades": row["total_txn"],
    }
    return [
        f"{name} has the newest {MAX_ROWS} of {count}." for name, count in counts.items() if count > MAX_ROWS
    ]


def active_hours(trades: Mapping[int, int]) -> str:
    """Return the shortest run of hours with at least 80 % of the trades, such as "13:00-21:00 UTC".

    `trades` has a number for each hour of UTC with any. A run may pass midnight; its end is exclusive. Of
    runs of the same length that with most trades is returned, then the one that starts first; "" without
    trades.
    """
    total = sum(trades.values())
    if total == 0:
        return ""
    by_hour = [trades.get(hour, 0) for hour in range(_HOURS)]
    length, runs = 1, by_hour
    while max(runs) * 100 < total * 80:
        runs = [run + by_hour[(start + length) % _HOURS] for start, run in enumerate(runs)]
        length += 1
    start = runs.index(max(runs))
    end = (start + length) % _HOURS or _HOURS
    return f"{start:02}:00-{end:02}:00 UTC"
