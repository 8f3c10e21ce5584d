"""The ways in which a provider fails us, and what each means for asking again."""

from typing import ClassVar


class ProviderFault(Exception):
    """The provider failed.

    The docstring's first sentence is what callers read; nothing of the provider's own text, nor its URL,
    which may hold a key, is ever part of a fault.
    """

    outcome: ClassVar[str] = "failed"
    """The word for it in logs and metrics."""
    worth_retrying: ClassVar[bool] = False
    """Whether the same call may succeed a moment later."""
    provider_works: ClassVar[bool | None] = False
    """What it says of the provider as a whole; None: nothing."""
    strikes: ClassVar[int | None] = None
    """How many of them in a row open the breaker, where going on asking makes it worse; None: as set."""
    remember_seconds: ClassVar[float] = 0.0
    """For how long at least this will not change."""

    def __init__(self, detail: str = "", *, retry_after_seconds: float | None = None) -> None:
        self.message = (type(self).__doc__ or "").split("\n", 1)[0]
        super().__init__(f"{self.message} ({detail})" if detail else self.message)
        self.detail = detail
        self.retry_after_seconds = retry_after_seconds


class TimedOut(ProviderFault):
    """The provider did not answer in time."""

    outcome = "timeout"
    worth_retrying = True


class Unreachable(ProviderFault):
    """The provider cannot be reached."""

    outcome = "unreachable"
    worth_retrying = True


class Overloaded(ProviderFault):
    """The provider asks for a pause."""

    outcome = "rate_limited"
    worth_retrying = True


class Broken(ProviderFault):
    """The provider is out of order."""

    outcome = "server_error"
    worth_retrying = True


class Malformed(ProviderFault):
    """The provider sent something that cannot be understood."""

    outcome = "malformed"
    worth_retrying = True
    provider_works = None


class Rejected(ProviderFault):
    """The provider refused to answer for this wallet."""

    outcome = "rejected"
    provider_works = True


class TooLarge(ProviderFault):
    """This wallet holds more tokens than the provider can list."""

    outcome = "too_large"
    provider_works = True
    # Each attempt costs the operator as much as a good answer.
    remember_seconds = 600.0


class BadKey(ProviderFault):
    """The provider does not accept this service's key."""

    outcome = "bad_key"


class QuotaExhausted(ProviderFault):
    """This service has used up what the provider allows it."""

    outcome = "quota"
    strikes = 2


class Banned(ProviderFault):
    """The provider has shut this service out for a while."""

    outcome = "banned"
    strikes = 1


class NotConfigured(ProviderFault):
    """This service has no provider set up for this chain."""

    outcome = "not_configured"
    provider_works = None


class BreakerOpen(ProviderFault):
    """The provider failed repeatedly and is not asked for a while."""

    outcome = "breaker_open"
    provider_works = None
