"""A page of a feed: its first key, its trades, and the cursor of the next page."""

from datetime import datetime
from typing import Any, LiteralString, NamedTuple

import msgspec

from wallet_api.database import Columns, Connection, Row, load_sql
from wallet_api.forms import EARLIEST
from wallet_api.periods import Bounds
from wallet_api.queries import cursors
from wallet_api.queries.feed_filters import NO_FILTERS, FeedFilters
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


def read_page(
    connection: Connection,
    now: datetime,
    rule: PriceRule,
    blockchain: str,
    type: str | None,
    mint: str | None,
    limit: int,
    parameters: dict[str, Any],
    filters: FeedFilters = NO_FILTERS,
) -> tuple[dict[str, Any] | None, Row, Columns]:
    """Return the block of a token, the head and the trades of a page; without `mint`, None and all trades.

    `limit` is at most MAX_LIMIT. Without `type`, which requires `mint`, the trades are those of all types.
    The block is None if the token is unknown. With filters a page may have fewer trades, and more may follow.
    """
    defaults = {
        **group_parameters(blockchain, type),
        "now": now,
        "limit": limit,
        **filters.parameters,
    }
    statement, token = _FEED, None
    if mint is not None:
        statement = _TOKEN_FEED
        defaults["token_id"], token = read_token(connection, now, rule, blockchain, mint)
    if not filters.are_given:
        return token, *_scan(connection, statement, defaults | parameters, limit)
    if limit <= _SMALL_PAGE:
        head, page = _scan(connection, statement, defaults | parameters, _SCAN)
        if count_of(page) == limit or not head["has_more"]:
            return token, head, page
    return token, *_scan(connection, statement, defaults | parameters, _MOST_SCANNED)


def _scan(
    connection: Connection, statement: LiteralString, parameters: dict[str, Any], trades: int
) -> tuple[Row, Columns]:
    """Return the head and the trades of a page of those among so many trades that pass the filters."""
    head, [page] = connection.fetch_lists(statement, parameters | {"scan": trades})
    return head, page


def parameters_after(cursor: str | None, scope: cursors.Scope, window: FeedWindow) -> dict[str, Any]:
    """Return the parameters of the page after `cursor`, or of the first one. Raises InvalidParameter."""
    key = key_parameters(cursors.decode(cursor, scope, FeedKey) if cursor else None)
    return (key if cursor else key | window.start) | NO_WINDOW | {"since": window.since}


def feed_window(now: datetime, bounds: Bounds | None) -> FeedWindow:
    """Return the window of a feed; without bounds it has all trades, also those ahead of the clock."""
    if bounds is None:
        return FeedWindow("-infinity", {}, {})
    # The first trade is not searched for, nor stated.
    span = span_of(now, Bounds(bounds.since or EARLIEST, bounds.until))
    stated = {name: text for name, text in span.bounds.items() if name == "until" or bounds.since}
    return FeedWindow(span.since, {"created_at": span.ends_at}, stated)


def scope_of(bounds: Bounds | None) -> cursors.Scope:
    """Return what a window adds to the scope of the cursors."""
    return () if bounds is None else (str(bounds),)


def key_parameters(after: FeedKey | None) -> dict[str, Any]:
    """Return the parameters of the page after a trade, or of the first one."""
    names = ("created_at", "is_sell", "tx_signature", "event_index", "last_mint", "address")
    key = _START_KEY if after is None else msgspec.structs.astuple(after)
    return dict(zip((*names, "block", "block_index"), key, strict=True))


def count_of(page: Columns) -> int:
    """Return the number of the trades of a page."""
    return len(page["tx_signature"])


def pagination_of(
    head: Row, limit: int, scope: cursors.Scope, filters: FeedFilters, window: FeedWindow
) -> dict[str, Any]:
    """Return the pagination of a page, and the warnings about `limit` and the filters.

    With filters or a window there is no `total`, for which all trades would have to be read.
    """
    last = cursors.last_key(FeedKey, head)
    total = {} if filters.are_given or window.is_given else {"total": head["total"]}
    pagination = cursors.pagination(scope, min(limit, MAX_LIMIT), last, **total)
    return with_warnings({"pagination": pagination}, [*limit_warnings(limit), *filters.warnings])
