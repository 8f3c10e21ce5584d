"""The record of one wallet in a period."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, LiteralString

from wallet_api.base.periods import PERIOD_LENGTHS, long_step_of
from wallet_api.database import Columns, Connection, Row, load_sql, rows_where
from wallet_api.ledger.wallet import Wallet
from wallet_api.queries.paging import with_warnings
from wallet_api.queries.spans import TimeSpan, span_of_wallet
from wallet_api.queries.token_price import DEFAULT_RULE, PriceRule
from wallet_api.queries.windows import cut, cut_hours, cut_period

_DAY, _HOUR = timedelta(days=1), timedelta(hours=1)
_HOURS_OF_DAY = 24
# Of each list of tokens and trades.
MAX_ROWS = 1000

_HOURS, _DAYS, _ALL = (load_sql(__package__, f"tracker_{kind}") for kind in ("hours", "days", "all"))


def track_wallet(
    connection: Connection,
    wallet: Wallet,
    now: datetime,
    given: Mapping[str, Any],
    rule: PriceRule = DEFAULT_RULE,
) -> dict[str, Any]:
    """Return what a wallet did in a period that ends at `now`, or in a window, all of one snapshot.

    Without `tokens` or `trades`, the lists of these are left out. Raises WalletNotFound.
    """
    now = now.replace(microsecond=0)
    span = span_of_wallet(connection, now, wallet.wallet_id, given["period"])
    statement, parts = _statement(span, now)
    active = cut(now - PERIOD_LENGTHS["30d"], now, _HOUR)
    parameters = {
        **wallet.parameters,
        **parts,
        "active_first": active.first,
        "active_end": active.end,
        "active_starts": active.starts,
        "active_ends": active.ends,
        **rule.parameters(now),
        "most_tokens": MAX_ROWS if given["tokens"] else 0,
        "most_trades": MAX_ROWS if given["trades"] else 0,
    }
    row, [traded, chart, newest] = connection.fetch_lists(statement, parameters, wallet.removed)
    stated = span.stated
    data: dict[str, Any] = {
        **row,
        **{name if name == "of_meta" else f"period_stats_{name}": value for name, value in stated.items()},
        "wallet": wallet.address,
        "profile_active_hours": active_hours(dict(row["hours"])),
        **_tokens(row, traded),
        "period_realized_pnl_chart": chart,
        "period_trades": newest,
    }
    if not given["tokens"]:
        del data["period_history_tokens"], data["period_active_tokens"]["tokens"]
    if not given["trades"]:
        del data["period_trades"]
    return with_warnings(data, _warnings(row, given))


def _tokens(row: Row, traded: Columns) -> dict[str, Any]:
    """Return the tokens of the period, and those of them that are still held."""
    ordinals = zip(traded["still_holding"], traded["held_ordinal"], strict=True)
    held = [is_held and number <= MAX_ROWS for is_held, number in ordinals]
    counts = ("active_tokens_count", "still_holding_count", "avg_position_size")
    return {
        "period_history_tokens": rows_where(traded, [number <= MAX_ROWS for number in traded["ordinal"]]),
        "period_active_tokens": {
            **{name: row[name] for name in counts},
            "tokens": rows_where(traded, held),
        },
    }


def _statement(span: TimeSpan, now: datetime) -> tuple[LiteralString, dict[str, Any]]:
    """Return the statement of a span, and from which parts it reads sums and the chart."""
    # Of all time, its points are days or weeks.
    bucket = max(long_step_of(span.length), _DAY) if span.is_all else long_step_of(span.length)
    parameters = {
        "since": "-infinity" if span.is_all else span.since,
        "until": "infinity" if span.is_all else span.until,
        "chart_start": span.begins_at,
        "chart_until": span.until,
        "chart_end": span.ends_at,
        "bucket_seconds": int(bucket.total_seconds()),
    }
    if span.is_all:
        return _ALL, parameters
    if span.length <= _DAY:
        return _HOURS, parameters
    parts, by_days = cut_period(span.since, span.until), bucket >= _DAY
    parameters |= parts | cut_hours(span.since, span.until, now, bucket) | {"by_days": by_days}
    if by_days:
        parameters |= {"chart_starts": parts["starts"], "chart_ends": parts["ends"]}
    return _DAYS, parameters


def _warnings(row: Row, given: Mapping[str, Any]) -> list[str]:
    counts: dict[str, int] = {}
    if given["tokens"]:
        counts["period_active_tokens.tokens"] = row["still_holding_count"]
        counts["period_history_tokens"] = row["active_tokens_count"]
    if given["trades"]:
        counts["period_trades"] = row["total_txn"]
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
    by_hour = [trades.get(hour, 0) for hour in range(_HOURS_OF_DAY)]
    length, runs = 1, by_hour
    while max(runs) * 100 < total * 80:
        runs = [run + by_hour[(start + length) % _HOURS_OF_DAY] for start, run in enumerate(runs)]
        length += 1
    start = runs.index(max(runs))
    end = (start + length) % _HOURS_OF_DAY or _HOURS_OF_DAY
    return f"{start:02}:00-{end:02}:00 UTC"
