"""What a group put into tokens and took out of them, in several windows."""

from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from wallet_api.boards import FLOW_PERIODS, PERIOD_LENGTHS
from wallet_api.chains import CHAINS
from wallet_api.database import Connection, Row, load_sql
from wallet_api.queries.leaderboard import cut_period
from wallet_api.queries.windows import MAX_LIMIT

_NET_FLOW = load_sql(__package__, "net_flow")
_NONE = dict.fromkeys(
    ("buy", "sell", "net_flow", "net_flow_usd", "buyers", "sellers", "new_wallets", "wallet_count"), 0
)


def net_flows(
    connection: Connection,
    now: datetime,
    blockchain: str,
    type: str,
    period: str,
    limit: int,
    sort: str | None = None,
    order: str = "desc",
    min_wallets: int = 1,
) -> list[dict[str, Any]]:
    """Return the tokens traded in (`now` - period, `now`], at most `limit`, with their flows in all windows.

    Those with the largest flow in either direction come first, or of the figure `sort` of the period.
    `now` counts in whole seconds.
    """
    now = now.replace(microsecond=0)
    first, second, third, fourth = (now - PERIOD_LENGTHS[window] for window in FLOW_PERIODS)
    older = cut_period(fourth, third)
    rows = connection.execute(
        _NET_FLOW,
        {
            "blockchain": blockchain,
            "type": type,
            "currency": CHAINS[blockchain].currency,
            "now": now,
            "first_since": first,
            "second_since": second,
            "third_since": third,
            "fourth_since": fourth,
            "first_day": older["first_day"],
            "end_day": older["end_day"],
            "starts": [*older["starts"], third],
            "ends": [*older["ends"], now],
            "since": now - PERIOD_LENGTHS[period],
            "is_longest": period == FLOW_PERIODS[-1],
            "min_wallets": min_wallets,
            "sort": sort or "",
            "is_ascending": order == "asc",
            "limit": min(limit, MAX_LIMIT),
        },
    ).fetchall()
    return [_token(list(of_token)) for _, of_token in groupby(rows, itemgetter("mint"))]


def _token(rows: list[Row]) -> dict[str, Any]:
    flows = {row["place"]: row for row in rows}
    windows = {name: flows.get(place, _NONE) for place, name in enumerate(FLOW_PERIODS, 1)}
    return {**rows[0], "windows": windows}
