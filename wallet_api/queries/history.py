"""The lifetime record of one wallet."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from wallet_api.database import Connection, Row, load_sql
from wallet_api.ledger.wallet import Wallet
from wallet_api.queries import cursors, native_price
from wallet_api.queries.paging import MAX_LIMIT, limit_warnings, with_warnings
from wallet_api.queries.token_price import DEFAULT_RULE, PriceRule

HISTORY = load_sql(__package__, "history")

_FIGURES = ("lifetime_stats_", "win_rate_distribution_")
# Figures that a wallet without a trade has not.
_BY_PRICE = tuple(
    f"lifetime_stats_{name}" for name in (*native_price.COLUMNS, "unrealized_pnl", "unrealized_pnl_usd")
)


class WalletTradeKey(msgspec.Struct, array_like=True, frozen=True):
    """The sort key of a trade of one wallet: that of the ledger, then the mint."""

    created_at: datetime
    is_sell: bool
    tx_signature: str
    event_index: int
    mint: str
    # Cursors of before trades had places have neither.
    block: int = -1
    block_index: int = -1


def wallet_history(
    connection: Connection,
    wallet: Wallet,
    now: datetime,
    given: Mapping[str, Any],
    rule: PriceRule = DEFAULT_RULE,
) -> dict[str, Any]:
    """Return a wallet's lifetime figures and a page of its trades, newest first.

    Only the trades are limited to `since` <= created_at < `until`. Without `overview`, token_overview is left
    out; with `mint`, it and the trades are of one token alone. Unrealized profit is by the prices at `now`.
    All of it is of one snapshot. Raises WalletNotFound, InvalidParameter.
    """
    bounds = [f"{name} {given[name].isoformat()}" for name in ("since", "until") if name in given]
    of_token = [given["mint"]] if "mint" in given else []
    scope = ("history", wallet.blockchain, wallet.type, wallet.address, *bounds, *of_token)
    limit, overview = min(given["limit"], MAX_LIMIT), given.get("overview", True)
    parameters = {
        **wallet.parameters,
        "limit": limit,
        "overview": overview,
        "of_mint": given.get("mint"),
        "since": given.get("since", "-infinity"),
        **_key_before(given, scope),
        **rule.parameters(now),
    }
    head, [trades, tokens] = connection.fetch_lists(HISTORY, parameters, wallet.removed)
    last = cursors.last_key(WalletTradeKey, head)
    data = {
        **head,
        **_no_figures(head),
        "profile_history_since": wallet.history_since,
        "profile_history_until": wallet.history_until,
        "token_overview": tokens,
        "trades": trades,
        "pagination": cursors.pagination(scope, limit, last),
    }
    if not overview:
        del data["token_overview"]
    return with_warnings(data, limit_warnings(given["limit"]))


def shows_all_tokens(given: Mapping[str, Any]) -> bool:
    """Return whether token_overview has every token of the wallet."""
    return given.get("overview", True) and "mint" not in given


def _key_before(given: Mapping[str, Any], scope: cursors.Scope) -> dict[str, Any]:
    """Return the key after which the page begins, by the names of its members. Raises InvalidParameter."""
    # Without bounds and cursor, before the newest trade.
    key = (given.get("until", "infinity"), False, "", 0, "", -1, -1)
    if given.get("cursor"):
        key = msgspec.structs.astuple(cursors.decode_cursor(given["cursor"], scope, WalletTradeKey))
    return dict(zip(WalletTradeKey.__struct_fields__, key, strict=True))


def _no_figures(head: Row) -> Row:
    """Return the figures of a wallet that never traded, all 0; nothing for others."""
    if head["lifetime_stats_buy"] is not None:
        return {}
    return {
        name: 0 for name in head if name.startswith(_FIGURES) and name not in _BY_PRICE and head[name] is None
    }
