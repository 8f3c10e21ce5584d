"""The trades of a group of wallets, newest first: a page of all of them, or those within a window."""

from datetime import datetime
from typing import Any, Unpack

from wallet_api.chains import CHAINS
from wallet_api.database import Columns, Connection, Database
from wallet_api.periods import Bounds
from wallet_api.queries.changes import read_changes
from wallet_api.queries.feed_filters import FilterArguments, read_filters
from wallet_api.queries.feed_page import (
    count_of,
    feed_window,
    key_parameters,
    pagination_of,
    parameters_after,
    read_page,
    scope_of,
)
from wallet_api.queries.paging import MAX_LIMIT, cut_warnings, limit_warnings, with_warnings
from wallet_api.queries.token_price import DEFAULT_RULE, PriceRule
from wallet_api.queries.windows import window_until

MAX_WINDOW_SECONDS = 3600


def latest_trades(
    connection: Connection,
    now: datetime,
    blockchain: str,
    type: str,
    limit: int = 50,
    mint: str | None = None,
    cursor: str | None = None,
    rule: PriceRule = DEFAULT_RULE,
    window: Bounds | None = None,
    **given: Unpack[FilterArguments],
) -> dict[str, Any]:
    """Return the newest `limit` trades of a group (at most 1000), or those after `cursor`.

    With `mint`, only those of one token; with `window`, those in it; with filters, those that pass them.
    Raises InvalidParameter.
    """
    filters = read_filters(connection, blockchain, type, given)
    scope = (
        "latest",
        blockchain,
        type,
        *(() if mint is None else (mint,)),
        *filters.scope,
        *scope_of(window),
    )
    within = feed_window(now, window)
    parameters = parameters_after(cursor, scope, within)
    token, head, page = read_page(
        connection, now, rule, blockchain, type, mint, min(limit, MAX_LIMIT), parameters, filters
    )
    return {
        **_frame("latest", blockchain, type, page),
        **within.stated,
        **_token(mint, token),
        **pagination_of(head, limit, scope, filters, within),
    }


def latest_changes(
    database: Database,
    now: datetime,
    after: str,
    blockchain: str | None = None,
    type: str | None = None,
    limit: int = 50,
    mint: str | None = None,
    **given: Unpack[FilterArguments],
) -> dict[str, Any]:
    """Return the changes of the trades of a group, a chain or all chains that arrived after a cursor."""
    data = read_changes(database, now, "latest", blockchain, after, type, mint, limit, **given)
    return data | {"mode": "latest", **({} if mint is None else {"mint": mint})}


def trades_within(
    connection: Connection,
    now: datetime,
    blockchain: str,
    type: str,
    window_seconds: int,
    limit: int = 50,
    mint: str | None = None,
    rule: PriceRule = DEFAULT_RULE,
) -> dict[str, Any]:
    """Return the newest `limit` trades (at most 1000) of a group in (`now` - window, `now`].

    `now` counts in whole seconds; the window is capped at an hour.
    """
    window = window_until(now, window_seconds, MAX_WINDOW_SECONDS, mint)
    # All trades up to now are before the next instant.
    start = key_parameters(None) | {"created_at": window.now + datetime.resolution}
    parameters = start | window.parameters | {"since": window.since}
    token, head, page = read_page(
        connection, window.now, rule, blockchain, type, mint, min(limit, MAX_LIMIT), parameters
    )
    data = {
        **_frame("timerange", blockchain, type, page),
        "total": head["total"],
        "time_window_seconds": window.seconds,
        **_token(mint, token),
    }
    warnings = window.warnings + limit_warnings(limit)
    return with_warnings(data, warnings + cut_warnings(count_of(page), head["total"], "trades", "newest"))


def _frame(mode: str, blockchain: str, type: str, page: Columns) -> dict[str, Any]:
    return {
        "blockchain": blockchain,
        "type": type,
        "mode": mode,
        "currency": CHAINS[blockchain].currency,
        "count": count_of(page),
        "transactions": page,
    }


def _token(mint: str | None, token: dict[str, Any] | None) -> dict[str, Any]:
    return {} if mint is None else {"mint": mint} | ({} if token is None else {"token": token})
