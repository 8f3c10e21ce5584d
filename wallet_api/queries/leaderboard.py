"""The ranked wallets of a group over a period."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

import orjson

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, load_sql
from wallet_api.queries.spans import columns, cover

PERIOD_LENGTHS = {
    "6h": timedelta(hours=6),
    "1d": timedelta(days=1),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
}
BUCKET_SECONDS = (86_400,)

_LEADERBOARD = load_sql(__package__, "leaderboard")


@dataclass(frozen=True, slots=True)
class Entry:
    """A ranked wallet: what the order goes by, and the finished JSON."""

    total_volume: Decimal
    wallet: str
    json: orjson.Fragment


def rank_wallets(
    connection: Connection, now: datetime, blockchain: str, type: str, period: str
) -> list[Entry]:
    """All wallets of a group that traded in (`now` - period, `now`], by volume, then address."""
    spans = cover(now - PERIOD_LENGTHS[period], now, BUCKET_SECONDS)
    parameters = {"blockchain": blockchain, "type": type, "currency": CHAINS[blockchain].currency, "now": now}
    rows = connection.execute(_LEADERBOARD, parameters | columns(spans))
    return [Entry(row["total_volume"], row["address"], orjson.Fragment(row["entry"])) for row in rows]
