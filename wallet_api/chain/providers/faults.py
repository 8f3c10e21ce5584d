"""The ways in which a provider fails, and whether a retry can help."""

from typing import ClassVar, Self

# The location does not change while the process runs.
BARRED_SECONDS = 365 * 86400.0


class ProviderFault(Exception):
    """The provider failed.

    The first line of the docstring is the message for callers. A fault never contains text of
    the provider, or its URL, which may contain a key.
    """

    outcome: ClassVar[str] = "failed"
    """Its name in logs and metrics."""
    worth_retrying: ClassVar[bool] = False
    """Whether the same request may succeed a moment later."""
    provider_works: ClassVar[bool | None] = False
    """Whether the provider as a whole works; None if the fault does not show it."""
    strikes: ClassVar[int | None] = None
    """How many consecutive ones open the breaker, if not the usual number."""
    remember_seconds: ClassVar[float] = 0.0
    """The shortest time before the next attempt for the same wallet."""
    stops: ClassVar[str] = ""
    """Why no other request can succeed for a while; empty if one can."""
    general: ClassVar[str] = ""
    """The message where no wallet was requested, if it is another one."""

    def __init__(self, detail: str = "", *, retry_after_seconds: float | None = None) -> None:
        self.message = (type(self).__doc__ or "").split("\n", 1)[0]
        super().__init__(f"{self.message} ({detail})" if detail else self.message)
        self.detail = detail
        self.retry_after_seconds = retry_after_seconds

    def for_method(self, method: str) -> Self:
        """Return the fault, whose detail begins with the method that was requested of a node."""
        if not self.detail.startswith(method):
            self.detail = f"{method}: {self.detail}" if self.detail else method
        return self

    def told(self, setting: str) -> str:
        """Return the message for an operator, about the provider at the address in this setting."""
        message = (self.general or self.message).replace("The provider", f"The provider of {setting}", 1)
        message = message.rstrip(".")
        return f"{message} ({self.detail})." if self.detail else f"{message}."


class TimedOut(ProviderFault):
    """The provider did not respond in time."""

    outcome = "timeout"
    worth_retrying = True


class Unreachable(ProviderFault):
    """The provider cannot be reached."""

    outcome = "unreachable"
    worth_retrying = True


class Overloaded(ProviderFault):
    """The provider's rate limit is exceeded."""

    outcome = "rate_limited"
    worth_retrying = True


class Broken(ProviderFault):
    """The provider reported an internal error."""

    outcome = "server_error"
    worth_retrying = True


class Malformed(ProviderFault):
    """The provider sent a malformed response."""

    outcome = "malformed"
    worth_retrying = True
    provider_works = None


class Rejected(ProviderFault):
    """The provider refused the request for this wallet."""

    outcome = "rejected"
    provider_works = True
    general = "The provider refused the request."


class TooLarge(ProviderFault):
    """This wallet holds more tokens than the provider can list."""

    outcome = "too_large"
    provider_works = True
    general = "The provider cannot list so much at once."
    # Each attempt costs the operator as much as a successful one.
    remember_seconds = 600.0


class Oversized(TooLarge):
    """The provider sent more than a response may have."""

    # Whether the wallet's own list is so large, only the one who requested it can say.
    outcome = "oversized"
    provider_works = False
    general = __doc__
    remember_seconds = 0.0


class Crowded(ProviderFault):
    """Other large wallets are being read."""

    outcome = "crowded"
    provider_works = True


class BadKey(ProviderFault):
    """The provider does not accept this service's key."""

    outcome = "bad_key"
    stops = "the provider does not accept our key"


class QuotaExhausted(ProviderFault):
    """This service has used up what the provider allows it."""

    outcome = "quota"
    stops = "the provider's quota of the day is used up"
    strikes = 2


class Banned(ProviderFault):
    """The provider has shut this service out for a while."""

    outcome = "banned"
    stops = "the provider has shut us out for a while"
    strikes = 1


class Barred(ProviderFault):
    """The provider does not serve this service's location."""

    outcome = "barred"
    stops = "the provider does not serve this location (HTTP 451)"
    strikes = 1

    def __init__(self, detail: str = "") -> None:
        super().__init__(detail, retry_after_seconds=BARRED_SECONDS)


class NotConfigured(ProviderFault):
    """This service has no provider set up for this chain."""

    outcome = "not_configured"
    provider_works = None


class BreakerOpen(ProviderFault):
    """The provider failed repeatedly, and gets no requests for a while."""

    outcome = "breaker_open"
    stops = Banned.stops
    provider_works = None
