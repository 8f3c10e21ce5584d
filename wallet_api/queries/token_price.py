"""Which trades and quotes make the prices of tokens: the parameters for `token_price.sql`."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple


class PriceRule(NamedTuple):
    """Which trades make prices: those of at least this value and at most this age."""

    min_value_usd: Decimal = Decimal(1)
    max_age_seconds: float = 86_400

    def parameters(self, now: datetime, *, is_past: bool = False) -> dict[str, Any]:
        """Return the parameters of prices at `now`, which counts in whole seconds.

        At a moment that `is_past`, quotes count of the hours alone that were over: the others are not kept.
        """
        now = now.replace(microsecond=0)
        return {
            "now": now,
            "price_min_usd": self.min_value_usd,
            "price_oldest_at": now - timedelta(seconds=self.max_age_seconds),
            "quotes_until": now.replace(minute=0, second=0) if is_past else None,
        }


DEFAULT_RULE = PriceRule()
