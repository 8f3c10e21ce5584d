"""A page of a feed: its first key, its trades, and the cursor of the next page."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from wallet_api.base.forms import EARLIEST
from wallet_api.base.periods import Bounds
from wallet_api.database import Columns, Connection, Row, load_sql
from wallet_api.queries import cursors
from wallet_api.queries.feed_filters import filter_words, read_filters
from wallet_api.queries.groups import group_parameters
from wallet_api.queries.paging import MAX_LIMIT, limit_warnings, with_warnings
from wallet_api.queries.spans import span_of
from wallet_api.queries.token_block import read_token
from wallet_api.queries.token_price import PriceRule

_FEED = load_sql(__package__, "feed")
_TOKEN_FEED = load_sql(__package__, "token_feed")

# The parameters of a feed without a window.
NO_WINDOW = {"since": "-infinity", "sizes": None, "starts": None, "ends": None}
# A filtered page reads few trades, and then more if it is not full. To read the most takes as long as a page
# of MAX_LIMIT trades, which costs as many credits.
_SCAN, _MOST_SCANNED = 1_000, 2_000
# Of more trades than these, the few are seldom enough.
_SMALL_PAGE = 100
# The key before the first page: later than any trade.
_START_KEY = ("infinity", False, "", 0, "", "", -1, -1)


class FeedWindow(NamedTuple):
    """The trades after `since`; what the first page starts at, and what data states: of a window alone."""

    since: datetime | str
    start: dict[str, datetime]
    stated: dict[str, str]

    @property
    def is_given(self) -> bool:
        """Return whether only trades of a window are requested."""
        return bool(self.stated)


class FeedKey(msgspec.Struct, array_like=True, frozen=True):
    """The sort key of a trade in a feed."""

    created_at: datetime
    is_sell: bool
    tx_signature: str
    event_index: int
    mint: str
    address: str
    # Cursors of before trades had places have neither.
    block: int = -1
    block_index: int = -1


class FeedPage(NamedTuple):
    """The head and the trades of a page, and the block of a token, if one is requested and known."""

    head: Row
    trades: Columns
    token: dict[str, Any] | None
    warnings: Sequence[str]

    @property
    def size(self) -> int:
        """Return the number of trades."""
        return len(self.trades["tx_signature"])


def read_feed(
    connection: Connection, now: datetime, rule: PriceRule, operation: str, given: Mapping[str, Any]
) -> tuple[FeedPage, dict[str, Any]]:
    """Return the page of a feed after `cursor`, and what its data states beside it.

    These are the window, the pagination, and the warnings about `limit` and the filters. With filters or a
    window there is no `total`, for which all trades would have to be read. Raises InvalidParameter.
    """
    within, words = feed_window(now, given.get("window")), filter_words(given)
    scope = (
        *(operation, given["blockchain"], given.get("type") or ""),
        *(given[name] for name in ("mint",) if name in given),
        *(*words, *(str(given[name]) for name in ("window",) if name in given)),
    )
    page = read_page(connection, now, rule, given, parameters_after(given.get("cursor"), scope, within))
    total = {} if words or within.is_given else {"total": page.head["total"]}
    last, limit = cursors.last_key(FeedKey, page.head), given["limit"]
    pagination = cursors.pagination(scope, min(limit, MAX_LIMIT), last, **total)
    stated = {**within.stated, "pagination": pagination}
    return page, with_warnings(stated, [*limit_warnings(limit), *page.warnings])


def read_page(
    connection: Connection,
    now: datetime,
    rule: PriceRule,
    given: Mapping[str, Any],
    parameters: dict[str, Any],
) -> FeedPage:
    """Return a page of at most `limit` and MAX_LIMIT trades, those of `mint` if there is one.

    Without `type`, which requires `mint`, they are those of all types. With filters a page may have fewer
    trades, and more may follow.
    """
    filters, warnings = read_filters(connection, given)
    limit = min(given["limit"], MAX_LIMIT)
    group = group_parameters(given["blockchain"], given.get("type"))
    defaults = {**group, "now": now, "limit": limit, **filters}
    statement, token = _FEED, None
    if "mint" in given:
        statement = _TOKEN_FEED
        defaults["token_id"], token = read_token(connection, now, rule, given["blockchain"], given["mint"])
    are_filtered = bool(filter_words(given))
    for trades in (_SCAN, _MOST_SCANNED) if are_filtered and limit <= _SMALL_PAGE else (_MOST_SCANNED,):
        scan = {"scan": trades if are_filtered else limit}
        head, [columns] = connection.fetch_lists(statement, defaults | parameters | scan)
        page = FeedPage(head, columns, token, warnings)
        if page.size == limit or not head["has_more"]:
            break
    return page


def parameters_after(cursor: str | None, scope: cursors.Scope, window: FeedWindow) -> dict[str, Any]:
    """Return the parameters of the page after `cursor`, or of the first one. Raises InvalidParameter."""
    key = key_parameters(cursors.decode_cursor(cursor, scope, FeedKey) if cursor else None)
    return (key if cursor else key | window.start) | NO_WINDOW | {"since": window.since}


def feed_window(now: datetime, bounds: Bounds | None) -> FeedWindow:
    """Return the window of a feed; without bounds it has all trades, also those ahead of the clock."""
    if bounds is None:
        return FeedWindow("-infinity", {}, {})
    # The first trade is not searched for, nor stated.
    span = span_of(now, Bounds(bounds.since or EARLIEST, bounds.until))
    stated = {name: text for name, text in span.bounds.items() if name == "until" or bounds.since}
    return FeedWindow(span.since, {"created_at": span.ends_at}, stated)


def key_parameters(after: FeedKey | None) -> dict[str, Any]:
    """Return the parameters of the page after a trade, or of the first one."""
    names = ("created_at", "is_sell", "tx_signature", "event_index", "last_mint", "address")
    key = _START_KEY if after is None else msgspec.structs.astuple(after)
    return dict(zip((*names, "block", "block_index"), key, strict=True))
