"""Which trades make the prices of tokens: the parameters of statements that include `token_price.sql`."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple


class PriceRule(NamedTuple):
    """Which trades make prices: those of at least this value and at most this age."""

    min_value_usd: Decimal = Decimal(1)
    max_age_seconds: float = 86_400

    def parameters(self, now: datetime) -> dict[str, Any]:
        """Return the parameters of prices at `now`, which counts in whole seconds."""
        now = now.replace(microsecond=0)
        return {
            "now": now,
            "price_min_usd": self.min_value_usd,
            "price_oldest_at": now - timedelta(seconds=self.max_age_seconds),
        }


DEFAULT_RULE = PriceRule()
