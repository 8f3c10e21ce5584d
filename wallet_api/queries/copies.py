"""What a copier of a wallet would have got."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec

from wallet_api.base.errors import InvalidParameter
from wallet_api.base.periods import Bounds
from wallet_api.base.times import exact_time
from wallet_api.database import Connection, load_sql
from wallet_api.ledger.wallet import Wallet
from wallet_api.queries import cursors
from wallet_api.queries.history import WalletTradeKey
from wallet_api.queries.paging import MAX_LIMIT, limit_warnings
from wallet_api.queries.spans import TimeSpan, span_of_wallet
from wallet_api.queries.token_price import DEFAULT_RULE, PriceRule

# All trades of a window are walked for each page of its steps.
MAX_TRADES = 2_000
NO_IMPACT = (
    "No price moves by the copier's own orders: how deep a market is, and transactions that fail, are not in"
    " these figures."
)

_COPIES = load_sql(__package__, "copies")
_NEWEST = load_sql(__package__, "copies_newest")


@dataclass(frozen=True)
class CopyTerms:
    """How a copier follows: so many seconds later, for a fee in percent, and for `size` in each buy.

    Without `size` each buy is as large as the wallet's.
    """

    delay: int = 5
    fee_percent: Decimal = Decimal(1)
    size: Decimal | None = None

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the parameters of copied.sql."""
        return {"delay": self.delay, "fee_percent": self.fee_percent, "size": self.size}


DEFAULT_TERMS = CopyTerms()


def copy_wallet(
    connection: Connection,
    wallet: Wallet,
    now: datetime,
    given: Mapping[str, Any],
    rule: PriceRule = DEFAULT_RULE,
) -> dict[str, Any]:
    """Return what a copier of a wallet would have got in a window, and a page of its steps, oldest first.

    All of it is of one snapshot; what is left is valued by the prices at `now`. Raises WalletNotFound, and
    InvalidParameter for a window with more than MAX_TRADES trades.
    """
    now, limit, window = (
        now.replace(microsecond=0),
        min(given["limit"], MAX_LIMIT),
        given.get("window", Bounds()),
    )
    terms = CopyTerms(given["delay"], given["fee_percent"], given.get("size"))
    bounds = [bound and bound.isoformat() for bound in window]
    scope = ("wallets/copy", wallet.blockchain, wallet.address, repr((*bounds, terms)))
    span = span_of_wallet(connection, now, wallet.wallet_id, window)
    _refuse_many(connection, wallet, span)
    cursor = given.get("cursor")
    key = cursors.decode_cursor(cursor, scope, WalletTradeKey) if cursor else _before(span)
    parameters = {
        "wallet_ids": [wallet.wallet_id],
        "currency": wallet.currency,
        "since": span.since,
        "until": span.until,
        "limit": limit,
        **terms.parameters,
        **msgspec.structs.asdict(key),
        **rule.parameters(now),
    }
    head, [steps] = connection.fetch_lists(_COPIES, parameters, wallet.removed)
    last = cursors.last_key(WalletTradeKey, head)
    return {
        "wallet": wallet.address,
        "blockchain": wallet.blockchain,
        "type": wallet.type,
        "currency": wallet.currency,
        **span.bounds,
        **terms.parameters,
        **head,
        "steps": steps,
        "pagination": cursors.pagination(scope, limit, last, total=head["total"]),
        "warnings": [NO_IMPACT, *limit_warnings(given["limit"])],
    }


def _before(span: TimeSpan) -> WalletTradeKey:
    """Return a key before the first trade of a span."""
    return WalletTradeKey(span.since, False, "", -1, "")


def _refuse_many(connection: Connection, wallet: Wallet, span: TimeSpan) -> None:
    parameters = {"wallet_id": wallet.wallet_id, "since": span.since, "until": span.until, "most": MAX_TRADES}
    before = connection.fetch_value(_NEWEST, parameters)
    if before is not None:
        since = exact_time(before + datetime.resolution)
        raise InvalidParameter(
            f"Parameter since: the wallet has more than {MAX_TRADES} trades in this window, too many to copy"
            f" at once. Its newest {MAX_TRADES}, or fewer, are since={since}.",
            parameter="since",
        )
