"""The tokens of a wallet, in pages."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from wallet_api.database import Connection, load_sql
from wallet_api.ledger.wallet import Wallet
from wallet_api.queries import cursors
from wallet_api.queries.native_price import native_price_of
from wallet_api.queries.paging import MAX_LIMIT, limit_warnings, with_warnings
from wallet_api.queries.token_price import DEFAULT_RULE, PriceRule

_TOKENS = load_sql(__package__, "wallet_tokens")


class _TokenKey(msgspec.Struct, array_like=True, frozen=True):
    """The sort key of a token: its figure times the direction, and its mint."""

    figure: str
    mint: str


# The key before the first page.
_START = _TokenKey("-Infinity", "")


def wallet_tokens(
    connection: Connection,
    wallet: Wallet,
    now: datetime,
    given: Mapping[str, Any],
    rule: PriceRule = DEFAULT_RULE,
) -> dict[str, Any]:
    """Return the wallet's record in each token of a page, ties by mint; unknown figures come last.

    Raises WalletNotFound, InvalidParameter.
    """
    limit = min(given["limit"], MAX_LIMIT)
    order = {"sort": given["sort"], "order": given["order"], "still_holding": given.get("still_holding")}
    scope = ("wallets/tokens", wallet.blockchain, wallet.address, *map(str, order.values()))
    key = cursors.decode_cursor(given["cursor"], scope, _TokenKey) if given.get("cursor") else _START
    parameters = {
        **wallet.parameters,
        **order,
        "direction": 1 if given["order"] == "asc" else -1,
        "limit": limit,
        **msgspec.structs.asdict(key),
        **rule.parameters(now),
    }
    head, [tokens] = connection.fetch_lists(_TOKENS, parameters, wallet.removed)
    last = cursors.last_key(_TokenKey, head)
    data = {
        "wallet": wallet.address,
        "blockchain": wallet.blockchain,
        "type": wallet.type,
        "currency": wallet.currency,
        **native_price_of(head),
        "tokens": tokens,
        "pagination": cursors.pagination(scope, limit, last, total=head["total"]),
    }
    return with_warnings(data, limit_warnings(given["limit"]))
