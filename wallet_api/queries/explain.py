"""The steps by which the figures of a position come about."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from wallet_api.base.errors import TokenNotFound
from wallet_api.database import Connection, load_sql, rows_of
from wallet_api.ledger.wallet import Wallet
from wallet_api.queries import cursors
from wallet_api.queries.native_price import native_price_of
from wallet_api.queries.paging import MAX_LIMIT, limit_warnings, with_warnings
from wallet_api.queries.token_price import DEFAULT_RULE, PriceRule

_EXPLAIN = load_sql(__package__, "explain")


class _StepKey(msgspec.Struct, array_like=True, frozen=True):
    """The place of a trade in its position."""

    created_at: datetime
    is_sell: bool
    tx_signature: str
    event_index: int
    # Cursors of before trades had places have neither.
    block: int = -1
    block_index: int = -1


# Before the first trade.
_START = _StepKey(datetime(1, 1, 1, tzinfo=UTC), False, "", -1)


def explain_position(
    connection: Connection,
    wallet: Wallet,
    now: datetime,
    given: Mapping[str, Any],
    rule: PriceRule = DEFAULT_RULE,
) -> dict[str, Any]:
    """Return a page of the steps of the walk over a position, oldest first, and its row of the history.

    All of it is of one snapshot. Raises WalletNotFound, TokenNotFound, InvalidParameter.
    """
    limit = min(given["limit"], MAX_LIMIT)
    scope = ("wallets/explain", wallet.blockchain, wallet.address, given["mint"])
    key = cursors.decode_cursor(given["cursor"], scope, _StepKey) if given.get("cursor") else _START
    parameters = {
        **wallet.parameters,
        "mint": given["mint"],
        "limit": limit,
        **msgspec.structs.asdict(key),
        **rule.parameters(now),
    }
    head, [steps, totals] = connection.fetch_lists(_EXPLAIN, parameters, wallet.removed)
    if not totals["mint"]:
        raise TokenNotFound("The wallet never traded this token.")
    last = cursors.last_key(_StepKey, head)
    data = {
        "wallet": wallet.address,
        "blockchain": wallet.blockchain,
        "type": wallet.type,
        **native_price_of(head),
        "mint": given["mint"],
        "totals": rows_of(totals)[0],
        "steps": steps,
        "pagination": cursors.pagination(scope, limit, last, total=head["total"]),
    }
    return with_warnings(data, limit_warnings(given["limit"]))
