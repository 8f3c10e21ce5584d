"""Which faults of a provider say that asking for further wallets is of no use, and for how long."""

from datetime import UTC, datetime, timedelta

from wallet_api.providers.faults import BadKey, Banned, BreakerOpen, ProviderFault, QuotaExhausted

_PAUSE_SECONDS = 600.0

Refusal = tuple[str, float]

# What so many wallets in a row show that fail for the provider's own reasons.
DOWN: Refusal = ("the provider seems to be down", 30.0)


def refusal_of(fault: ProviderFault | None) -> Refusal | None:
    """Why no further wallet should be tried, and for how many seconds; None: others can be."""
    match fault:
        case QuotaExhausted():
            return "the provider's quota of the day is used up", _until_midnight(datetime.now(UTC))
        case BadKey():
            return "the provider does not accept our key", _PAUSE_SECONDS
        case Banned() | BreakerOpen():
            pause = fault.retry_after_seconds
            return "the provider has shut us out for a while", _PAUSE_SECONDS if pause is None else pause
    return None


def _until_midnight(now: datetime) -> float:
    # Quotas of the day begin anew at midnight UTC; their clock need not be ours.
    midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return (midnight - now).total_seconds() + 30
