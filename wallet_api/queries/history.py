"""The lifetime record of one wallet."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, Row, load_sql
from wallet_api.queries import cursors, native_price
from wallet_api.queries.paging import MAX_LIMIT, limit_warnings, with_warnings
from wallet_api.queries.token_price import DEFAULT_RULE, PriceRule
from wallet_api.wallets import Wallet

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


@dataclass(frozen=True)
class HistoryPage:
    """What is requested of a history.

    Only the trades are limited to `since` <= created_at < `until`. Without `overview`, token_overview is left
    out; with `mint`, it and the trades are of one token alone.
    """

    limit: int = 50
    cursor: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    overview: bool = True
    mint: str | None = None

    @property
    def size(self) -> int:
        """Return the most trades of the page."""
        return min(self.limit, MAX_LIMIT)

    @property
    def shows_all_tokens(self) -> bool:
        """Return whether token_overview has every token of the wallet."""
        return self.overview and self.mint is None

    def scope(self, wallet: Wallet) -> cursors.Scope:
        """Return what binds its cursors."""
        bounds = {"since": self.since, "until": self.until}
        given = [f"{name} {moment.isoformat()}" for name, moment in bounds.items() if moment is not None]
        of_token = [] if self.mint is None else [self.mint]
        return ("history", wallet.blockchain, wallet.type, wallet.address, *given, *of_token)

    def parameters(self, scope: cursors.Scope) -> dict[str, Any]:
        """Return the parameters of history.sql that select the trades. Raises InvalidParameter."""
        # Without bounds and cursor, start before the newest trade.
        key = (self.until or "infinity", False, "", 0, "", -1, -1)
        if self.cursor:
            key = msgspec.structs.astuple(cursors.decode(self.cursor, scope, WalletTradeKey))
        return {
            "limit": self.size,
            "overview": self.overview,
            "of_mint": self.mint,
            "since": self.since or "-infinity",
            **dict(zip(WalletTradeKey.__struct_fields__, key, strict=True)),
        }


def wallet_history(
    connection: Connection,
    wallet: Wallet,
    now: datetime,
    page: HistoryPage,
    rule: PriceRule = DEFAULT_RULE,
) -> dict[str, Any]:
    """Return a wallet's lifetime figures and a page of its trades, newest first.

    Unrealized profit is by the prices at `now`. All of it is of one snapshot. Raises WalletNotFound,
    InvalidParameter.
    """
    scope = page.scope(wallet)
    parameters = {
        **wallet.parameters,
        "currency": CHAINS[wallet.blockchain].currency,
        **page.parameters(scope),
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
        "pagination": cursors.pagination(scope, page.size, last),
    }
    if not page.overview:
        del data["token_overview"]
    return with_warnings(data, limit_warnings(page.limit))


def _no_figures(head: Row) -> Row:
    """Return the figures of a wallet that never traded, all 0; nothing for others."""
    if head["lifetime_stats_buy"] is not None:
        return {}
    return {
        name: 0 for name in head if name.startswith(_FIGURES) and name not in _BY_PRICE and head[name] is None
    }
