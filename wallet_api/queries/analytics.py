"""What a group does in a period: the frame of all modes, and the tokens that most wallets traded."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from wallet_api.base.chains import CHAINS
from wallet_api.database import Columns, Connection, Row, load_sql, row_count, rows_at, shared
from wallet_api.queries.groups import group_parameters
from wallet_api.queries.native_price import native_price_of
from wallet_api.queries.paging import MAX_LIMIT, cut_warnings, limit_warnings, with_warnings
from wallet_api.queries.spans import TimeSpan, span_of_group
from wallet_api.queries.token_price import DEFAULT_RULE, PriceRule
from wallet_api.queries.windows import cut_period

_ANALYTICS = load_sql(__package__, "analytics")


# The lists of the modes: which of their rows are shown, and what a row is.
_LISTS = {
    "tokens": ("first", "tokens"),
    "net_flows": ("first", "tokens"),
    "buckets": ("newest", "buckets"),
    "leaderboard": ("first", "wallets"),
    "outcomes": ("first", "rows"),
}


class MostTraded(NamedTuple):
    """How many tokens a group traded, the first of them, the price of the native coin, and the span."""

    total: int
    tokens: Columns
    native_price: Row
    span: TimeSpan


def analytics_data(
    given: Mapping[str, Any], span: TimeSpan, total: int, native_price: Row, **rows: Columns
) -> dict[str, Any]:
    """Return the data of a mode with at most `limit` of its rows by name, of which there are `total`.

    The warnings are about a `limit` above the maximum, and about rows that are not shown.
    """
    [(name, columns)] = rows.items()
    which, what = _LISTS[name]
    places, limit = range(row_count(columns)), given["limit"]
    places = places[:limit] if which == "first" else places[-limit:]
    data = {
        **{name: given[name] for name in ("blockchain", "type", "mode")},
        "currency": CHAINS[given["blockchain"]].currency,
        **native_price,
        **span.stated,
        "total": total,
        name: rows_at(columns, places),
    }
    return with_warnings(data, limit_warnings(limit) + cut_warnings(len(places), total, what, which))


def read_most_traded(
    connection: Connection, now: datetime, given: Mapping[str, Any], rule: PriceRule = DEFAULT_RULE
) -> MostTraded:
    """Return the tokens traded in a period that ends at `now`, or in a window: at most 1000.

    They are by wallets, volume and mint. `now` counts in whole seconds.
    """
    now = now.replace(microsecond=0)
    span = span_of_group(connection, now, given)
    head, [tokens] = connection.fetch_lists(
        _ANALYTICS,
        {
            **group_parameters(given["blockchain"], given["type"]),
            "limit": MAX_LIMIT,
            **rule.parameters(now),
            **cut_period(span.since, span.until),
        },
    )
    return MostTraded(head["total"], shared(tokens), native_price_of(head), span)
