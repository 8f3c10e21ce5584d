"""The faults after which a round stops, and for how long."""

from wallet_api.providers.faults import (
    BARRED_SECONDS,
    BadKey,
    Banned,
    Barred,
    BreakerOpen,
    ProviderFault,
    QuotaExhausted,
)
from wallet_api.providers.replies import until_midnight

_PAUSE_SECONDS = 600.0
# The provider may reset a quota a little late.
_RESET_SECONDS = 30.0

# Why a round stops, and how many seconds no request is sent.
Refusal = tuple[str, float]

# When many consecutive wallets have failed because of the provider.
DOWN: Refusal = ("the provider seems to be down", 30.0)


def refusal_of(fault: ProviderFault, key_setting: str) -> Refusal | None:
    """Return why the round stops; None if other wallets can still be fetched.

    `key_setting` is the setting that contains the provider's key.
    """
    match fault:
        case QuotaExhausted():
            return "the provider's quota of the day is used up", until_midnight() + _RESET_SECONDS
        case BadKey():
            return f"the provider does not accept our key ({key_setting})", _PAUSE_SECONDS
        case Barred():
            return "the provider does not serve this location (HTTP 451)", BARRED_SECONDS
        case Banned() | BreakerOpen():
            pause = fault.retry_after_seconds
            return "the provider has shut us out for a while", _PAUSE_SECONDS if pause is None else pause
    return None
