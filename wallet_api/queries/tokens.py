"""A token: the trades of tracked wallets in it, what they did in it, and who holds it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, LiteralString

from wallet_api.base.chains import CHAINS
from wallet_api.base.errors import TokenNotFound
from wallet_api.database import Columns, Connection, Row, load_sql
from wallet_api.queries.feed_page import read_feed
from wallet_api.queries.groups import group_parameters
from wallet_api.queries.token_block import FACE, price_block
from wallet_api.queries.token_price import DEFAULT_RULE, PriceRule
from wallet_api.queries.trader_page import TraderPage

_STATS = load_sql(__package__, "token_stats")
_HOLDERS = load_sql(__package__, "token_holders")


def token_transactions(
    connection: Connection, now: datetime, given: Mapping[str, Any], rule: PriceRule = DEFAULT_RULE
) -> dict[str, Any]:
    """Return the newest trades (at most 1000) in a token, or those after `cursor`.

    Without `type` of wallets of all types; with `window`, those in it; with filters, those that pass them.
    Raises InvalidParameter, TokenNotFound.
    """
    page, stated = read_feed(connection, now, rule, "tokens/transactions", given)
    if page.token is None:
        raise TokenNotFound
    return {
        **stated,
        **{name: given[name] for name in ("blockchain", "type") if name in given},
        "token": page.token,
        "currency": CHAINS[given["blockchain"]].currency,
        "count": page.size,
        # What is known of the token stands once, not in each row.
        "transactions": {
            name: values for name, values in page.trades.items() if name == "mint" or name not in FACE
        },
    }


def token_stats(
    connection: Connection, now: datetime, given: Mapping[str, Any], rule: PriceRule = DEFAULT_RULE
) -> dict[str, Any]:
    """Return what the wallets of one type or of all did in a token, and a page of them, all of one snapshot.

    Raises InvalidParameter, TokenNotFound.
    """
    page = TraderPage("tokens/stats", given)
    filters = {"with_never_held": True, **page.parameters(), **rule.parameters(now)}
    head, token, traders = _read(connection, _STATS, given, filters)
    return {**head, "token": token, "traders": traders, **page.pagination(head)}


def token_holders(
    connection: Connection, now: datetime, given: Mapping[str, Any], rule: PriceRule = DEFAULT_RULE
) -> dict[str, Any]:
    """Return a page of the wallets of one type or of all that ever held a token.

    Raises InvalidParameter, TokenNotFound.
    """
    page = TraderPage("tokens/holders", given)
    filters = {"with_never_held": False, **page.parameters(), **rule.parameters(now)}
    head, token, holders = _read(connection, _HOLDERS, given, filters)
    return {**head, "token": token, "count": head["shown"], "holders": holders, **page.pagination(head)}


def _read(
    connection: Connection, statement: LiteralString, given: Mapping[str, Any], parameters: dict[str, Any]
) -> tuple[Row, dict[str, Any], Columns]:
    """Return the head of a statement about a token, the block of that, and the list."""
    group = group_parameters(given["blockchain"], given.get("type"))
    head, [page] = connection.fetch_lists(statement, group | parameters | {"mints": [given["mint"]]})
    if head["token_id"] is None:
        raise TokenNotFound
    return head, price_block(head, given["blockchain"]), page
