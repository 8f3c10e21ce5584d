"""The tokens that most wallets of a group traded in a period."""

from datetime import datetime
from functools import partial
from typing import Any

import orjson

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, load_sql
from wallet_api.queries.board_cache import BoardCache, Group, Kept
from wallet_api.queries.leaderboard import PERIOD_LENGTHS, cut_period
from wallet_api.queries.token_price import DEFAULT_RULE, PriceRule
from wallet_api.queries.windows import MAX_LIMIT, limit_warnings, with_warnings

_ANALYTICS = load_sql(__package__, "analytics")


def most_traded(
    boards: BoardCache, rule: PriceRule, blockchain: str, type: str, mode: str, period: str, limit: int
) -> tuple[Kept[list[orjson.Fragment]], dict[str, Any]]:
    """Return the tokens of a group as they are kept, and the first `limit` of them (at most 1000) as data."""
    kept = boards.get("most traded tokens", partial(read_tokens, rule=rule), (blockchain, type, period))
    data = {
        "blockchain": blockchain,
        "type": type,
        "currency": CHAINS[blockchain].currency,
        "mode": mode,
        "period": period,
        "tokens": kept.board[:limit],
    }
    return kept, with_warnings(data, limit_warnings(limit))


def read_tokens(
    connection: Connection, now: datetime, group: Group, rule: PriceRule = DEFAULT_RULE
) -> list[orjson.Fragment]:
    """Return the tokens traded in (`now` - period, `now`], at most 1000, by wallets, volume and mint.

    `now` counts in whole seconds.
    """
    blockchain, type, period = group
    now = now.replace(microsecond=0)
    found = connection.execute(
        _ANALYTICS,
        {
            "blockchain": blockchain,
            "type": type,
            "currency": CHAINS[blockchain].currency,
            "limit": MAX_LIMIT,
            **rule.parameters(now),
            **cut_period(now - PERIOD_LENGTHS[period], now),
        },
    ).fetchone()
    assert found is not None
    return [orjson.Fragment(token) for token in found["tokens"]]
