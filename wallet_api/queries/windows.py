"""The window of an operation, which ends now, and the warnings of what was capped."""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from wallet_api.queries.spans import columns, cover

# Pages of trades have no more rows.
MAX_LIMIT = 1000

BUCKET_SECONDS = (1, 60, 3600)
# The trades of one token are too few to be worth a rollup by minutes.
TOKEN_BUCKET_SECONDS = (1, 3600)


class Window(NamedTuple):
    """(since, now], `seconds` long, with its buckets in volume_rollup as parameters."""

    since: datetime
    now: datetime
    seconds: int
    parameters: dict[str, Any]
    warnings: list[str]


def window_until(now: datetime, seconds: int, most_seconds: int, mint: str | None) -> Window:
    """Return the window of a group, or of one token in it, that ends at `now`, counted in whole seconds."""
    now = now.replace(microsecond=0)
    effective = min(seconds, most_seconds)
    since = now - timedelta(seconds=effective)
    spans = cover(since, now, BUCKET_SECONDS if mint is None else TOKEN_BUCKET_SECONDS)
    warnings = (
        [f"The window was capped from {seconds} to {effective} seconds."] if effective < seconds else []
    )
    return Window(since, now, effective, {"now": now} | columns(spans), warnings)


def limit_warnings(limit: int) -> list[str]:
    """Return the warning of a `limit` above the maximum, if it is."""
    return [f"limit was capped from {limit} to {MAX_LIMIT}."] if limit > MAX_LIMIT else []


def with_warnings(data: dict[str, Any], warnings: list[str]) -> dict[str, Any]:
    """Return the data of a response with its warnings, if there are any."""
    return data | {"warnings": warnings} if warnings else data
