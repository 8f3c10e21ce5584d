"""A token: the trades of tracked wallets in it, what they did in it, and who holds it."""

from datetime import datetime
from typing import Any, LiteralString, Unpack

from wallet_api.chains import CHAINS
from wallet_api.database import Columns, Connection, Row, load_sql
from wallet_api.errors import TokenNotFound
from wallet_api.periods import Bounds
from wallet_api.queries.feed_filters import FilterArguments, read_filters
from wallet_api.queries.feed_page import (
    count_of,
    feed_window,
    pagination_of,
    parameters_after,
    read_page,
    scope_of,
)
from wallet_api.queries.groups import group_parameters
from wallet_api.queries.paging import MAX_LIMIT
from wallet_api.queries.token_block import FACE, block_of
from wallet_api.queries.token_price import DEFAULT_RULE, PriceRule
from wallet_api.queries.trader_page import TraderPage

_STATS = load_sql(__package__, "token_stats")
_HOLDERS = load_sql(__package__, "token_holders")


def token_transactions(
    connection: Connection,
    now: datetime,
    blockchain: str,
    mint: str,
    type: str | None = None,
    limit: int = 50,
    cursor: str | None = None,
    rule: PriceRule = DEFAULT_RULE,
    window: Bounds | None = None,
    **given: Unpack[FilterArguments],
) -> dict[str, Any]:
    """Return the newest `limit` trades (at most 1000) in a token, or those after `cursor`.

    Without `type` of wallets of all types; with `window`, those in it; with filters, those that pass them.
    Raises InvalidParameter, TokenNotFound.
    """
    filters = read_filters(connection, blockchain, type, given)
    scope = ("tokens/transactions", blockchain, type or "", mint, *filters.scope, *scope_of(window))
    within = feed_window(now, window)
    start = parameters_after(cursor, scope, within)
    token, head, page = read_page(
        connection, now, rule, blockchain, type, mint, min(limit, MAX_LIMIT), start, filters
    )
    if token is None:
        raise TokenNotFound
    return {
        "token": token,
        "blockchain": blockchain,
        **({} if type is None else {"type": type}),
        **within.stated,
        "currency": CHAINS[blockchain].currency,
        "count": count_of(page),
        # What is known of the token stands once, not in each row.
        "transactions": {name: values for name, values in page.items() if name == "mint" or name not in FACE},
        **pagination_of(head, limit, scope, filters, within),
    }


def token_stats(
    connection: Connection,
    now: datetime,
    blockchain: str,
    mint: str,
    type: str | None = None,
    sort: str = "buy",
    rule: PriceRule = DEFAULT_RULE,
    **page: Any,
) -> dict[str, Any]:
    """Return what the wallets of one type or of all did in a token, and a page of them, all of one snapshot.

    `page` is that of TraderPage. Raises InvalidParameter, TokenNotFound.
    """
    scope = ("tokens/stats", blockchain, type or "", mint)
    requested = TraderPage(sort, **page)
    filters = {"with_never_held": True, **requested.parameters(scope)}
    token, head, traders = _read(connection, _STATS, now, rule, (blockchain, type), mint, filters)
    return {**head, "token": token, "traders": traders, **requested.pagination(head, scope)}


def token_holders(
    connection: Connection,
    now: datetime,
    blockchain: str,
    mint: str,
    type: str | None = None,
    sort: str = "token_amount",
    rule: PriceRule = DEFAULT_RULE,
    **page: Any,
) -> dict[str, Any]:
    """Return a page of the wallets of one type or of all that ever held a token.

    `page` is that of TraderPage. Raises InvalidParameter, TokenNotFound.
    """
    scope = ("tokens/holders", blockchain, type or "", mint)
    requested = TraderPage(sort, **page)
    filters = {"with_never_held": False, **requested.parameters(scope)}
    token, head, holders = _read(connection, _HOLDERS, now, rule, (blockchain, type), mint, filters)
    return {
        **head,
        "token": token,
        "count": head["shown"],
        "holders": holders,
        **requested.pagination(head, scope),
    }


def _read(
    connection: Connection,
    statement: LiteralString,
    now: datetime,
    rule: PriceRule,
    group: tuple[str, str | None],
    mint: str,
    filters: dict[str, Any],
) -> tuple[dict[str, Any], Row, Columns]:
    """Return the block of a token, and the head and the list of a statement about it."""
    parameters = {**group_parameters(*group), "mints": [mint], **rule.parameters(now)}
    head, [page] = connection.fetch_lists(statement, parameters | filters)
    if head["token_id"] is None:
        raise TokenNotFound
    return block_of(head, group[0]), head, page
