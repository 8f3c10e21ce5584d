"""What a group does in a period: the frame of all modes, and the tokens that most wallets traded."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import orjson

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, load_sql
from wallet_api.periods import PERIOD_LENGTHS
from wallet_api.queries.paging import MAX_LIMIT, limit_warnings, with_warnings
from wallet_api.queries.token_price import DEFAULT_RULE, PriceRule, read_priced
from wallet_api.queries.windows import cut_period

_ANALYTICS = load_sql(__package__, "analytics")


def analytics_data(
    blockchain: str, type: str, mode: str, period: str, limit: int, **rows: Sequence[Any]
) -> dict[str, Any]:
    """Return the data of a mode with its rows by name, and a warning if `limit` is above the maximum."""
    data = {
        "blockchain": blockchain,
        "type": type,
        "currency": CHAINS[blockchain].currency,
        "mode": mode,
        "period": period,
        **rows,
    }
    return with_warnings(data, limit_warnings(limit))


def read_tokens(
    connection: Connection,
    now: datetime,
    blockchain: str,
    type: str,
    period: str,
    rule: PriceRule = DEFAULT_RULE,
) -> list[orjson.Fragment]:
    """Return the tokens traded in (`now` - period, `now`], at most 1000, by wallets, volume and mint.

    `now` counts in whole seconds.
    """
    now = now.replace(microsecond=0)
    row = read_priced(
        connection,
        _ANALYTICS,
        {
            "blockchain": blockchain,
            "type": type,
            "currency": CHAINS[blockchain].currency,
            "limit": MAX_LIMIT,
            **rule.parameters(now),
            **cut_period(now - PERIOD_LENGTHS[period], now),
        },
    )
    assert row is not None
    return [orjson.Fragment(token) for token in row["tokens"]]
