"""The trades of a group of wallets, newest first: a page of all of them, or those within a window."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from wallet_api.base.chains import CHAINS
from wallet_api.database import Connection, Database
from wallet_api.queries.changes import read_changes
from wallet_api.queries.feed_page import FeedPage, key_parameters, read_feed, read_page
from wallet_api.queries.paging import cut_warnings, limit_warnings, with_warnings
from wallet_api.queries.token_price import DEFAULT_RULE, PriceRule
from wallet_api.queries.windows import window_until

MAX_WINDOW_SECONDS = 3600


def latest_trades(
    connection: Connection, now: datetime, given: Mapping[str, Any], rule: PriceRule = DEFAULT_RULE
) -> dict[str, Any]:
    """Return the newest trades of a group (at most 1000), or those after `cursor`.

    With `mint`, only those of one token; with `window`, those in it; with filters, those that pass them.
    Raises InvalidParameter.
    """
    page, stated = read_feed(connection, now, rule, "latest", given)
    return {**_frame("latest", given, page), **stated}


def latest_changes(database: Database, now: datetime, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the changes of the trades of a group, a chain or all chains that arrived after a cursor."""
    return read_changes(database, now, "latest", given) | {"mode": "latest"} | _mint(given)


def trades_within(
    connection: Connection, now: datetime, given: Mapping[str, Any], rule: PriceRule = DEFAULT_RULE
) -> dict[str, Any]:
    """Return the newest trades (at most 1000) of a group in (`now` - window, `now`].

    `now` counts in whole seconds; the window is capped at an hour.
    """
    window = window_until(now, given["window_seconds"], MAX_WINDOW_SECONDS, given.get("mint"))
    # All trades up to now are before the next instant.
    start = key_parameters(None) | {"created_at": window.now + datetime.resolution}
    parameters = start | window.parameters | {"since": window.since}
    page = read_page(connection, window.now, rule, given, parameters)
    total = page.head["total"]
    warnings = window.warnings + limit_warnings(given["limit"])
    data = _frame("timerange", given, page) | {"total": total, "time_window_seconds": window.seconds}
    return with_warnings(data, warnings + cut_warnings(page.size, total, "trades", "newest"))


def _frame(mode: str, given: Mapping[str, Any], page: FeedPage) -> dict[str, Any]:
    return {
        "blockchain": given["blockchain"],
        "type": given["type"],
        "mode": mode,
        "currency": CHAINS[given["blockchain"]].currency,
        "count": page.size,
        "transactions": page.trades,
        **_mint(given),
        **({} if page.token is None else {"token": page.token}),
    }


def _mint(given: Mapping[str, Any]) -> dict[str, Any]:
    return {"mint": given["mint"]} if "mint" in given else {}
