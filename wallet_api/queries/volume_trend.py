"""How much a group traded over a period, bucket by bucket."""

from datetime import datetime
from typing import Any

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, load_sql
from wallet_api.periods import BUCKETS, PERIOD_LENGTHS

_VOLUME_TREND = load_sql(__package__, "volume_trend")
_NONE = dict.fromkeys(("buy", "sell", "volume", "volume_usd", "txn", "wallets"), 0)


def volume_trend(
    connection: Connection, now: datetime, blockchain: str, type: str, period: str
) -> list[dict[str, Any]]:
    """Return all buckets of (`now` - period, `now`], oldest first, also those without a trade.

    A bucket is open where it starts and closed at its `timestamp`. `now` counts in whole seconds.
    """
    now = now.replace(microsecond=0)
    since, length = now - PERIOD_LENGTHS[period], BUCKETS[period]
    rows = connection.execute(
        _VOLUME_TREND,
        {
            "blockchain": blockchain,
            "type": type,
            "currency": CHAINS[blockchain].currency,
            "since": since,
            "now": now,
            "bucket_seconds": int(length.total_seconds()),
        },
    )
    traded = {row["ends_at"]: row for row in rows}
    ends = [since + length * number for number in range(1, PERIOD_LENGTHS[period] // length + 1)]
    return [{"timestamp": f"{end:%Y-%m-%dT%H:%M:%SZ}", **traded.get(end, _NONE)} for end in ends]
