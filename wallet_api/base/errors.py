"""The errors of commands, and those of the API: HTTP status, code of the error body, and default message."""

from collections.abc import Mapping, Sequence
from typing import Any


class CommandError(Exception):
    """A command cannot do its work; the message is for the operator: why, and what to do next."""


class ApiError(Exception):
    """Something went wrong on our side. Try again; if it persists, quote the request_id to the operator."""

    status = 500
    code = "internal_error"
    reason: str | None = None
    parameter: str | None = None
    renews_at: str | None = None
    # For the log: what the operator can do.
    advice = ""

    def __init__(
        self,
        message: str | None = None,
        *,
        reason: str | None = None,
        parameter: str | None = None,
        allowed: Sequence[object] | None = None,
        retry_after_seconds: int | None = None,
    ) -> None:
        self.message = message or " ".join((type(self).__doc__ or "").split())
        super().__init__(self.message)
        self.reason = reason or self.reason
        self.parameter = parameter or self.parameter
        self.allowed = allowed
        self.retry_after_seconds = retry_after_seconds

    def detail(self, request_id: str) -> dict[str, Any]:
        """Return the error object of the response to this request."""
        detail = {
            "code": self.code,
            "message": self.message,
            "request_id": request_id,
            "parameter": self.parameter,
            "allowed": None if self.allowed is None else list(self.allowed),
            "reason": self.reason,
            "retry_after_seconds": self.retry_after_seconds,
            "renews_at": self.renews_at,
        }
        return {name: value for name, value in detail.items() if value is not None}


class MissingParameter(ApiError):
    """A required parameter is missing."""

    status = 400
    code = "missing_parameter"


class InvalidParameter(ApiError):
    """A parameter is invalid."""

    status = 400
    code = "invalid_parameter"


class CursorUnknown(InvalidParameter):
    """The ledger does not have this cursor: it was restored from an older backup. Begin with now or start."""

    parameter = "after"
    reason = "cursor_unknown"


class Unauthorized(ApiError):
    """An API key is required: send it as 'Authorization: Bearer KEY' or as the parameter api_key."""

    status = 401
    code = "unauthorized"
    reason = "missing_api_key"


class Forbidden(ApiError):
    """This API key may not make this request."""

    status = 403
    code = "forbidden"
    messages: Mapping[str, str] = {
        "invalid_api_key": "This API key is not valid.",
        "revoked_api_key": "This API key has been revoked.",
        "expired_api_key": "This API key has expired.",
        "insufficient_credits": "This API key has no credits left.",
        "out_of_scope": "This API key is bound to other operations, chains or types.",
    }

    def __init__(
        self,
        reason: str,
        message: str | None = None,
        *,
        parameter: str | None = None,
        allowed: Sequence[object] | None = None,
        renews_at: str | None = None,
    ) -> None:
        super().__init__(
            message or self.messages.get(reason), reason=reason, parameter=parameter, allowed=allowed
        )
        self.renews_at = renews_at


class NotFound(ApiError):
    """There is nothing here."""

    status = 404
    code = "not_found"


class WalletNotFound(NotFound):
    """The wallet is not tracked."""

    def __init__(self, blockchain: str, address: str, type: str | None = None) -> None:
        as_type = "" if type is None else f" as {type}"
        super().__init__(
            f"The wallet {address} is not tracked on {blockchain}{as_type};"
            " /v1/wallets/lookup returns where it is.",
            reason="wallet_not_found",
        )


class TokenNotFound(NotFound):
    """No tracked wallet of this chain ever traded the token."""

    reason = "token_not_found"


class RateLimited(ApiError):
    """Too many requests with this API key."""

    status = 429
    code = "rate_limited"


class ServiceUnavailable(ApiError):
    """The service is not available right now. Try again shortly."""

    status = 503
    code = "service_unavailable"

    def __init__(
        self,
        message: str | None = None,
        *,
        reason: str | None = None,
        retry_after_seconds: int | None = 1,
        advice: str = "",
    ) -> None:
        super().__init__(message, reason=reason, retry_after_seconds=retry_after_seconds)
        self.advice = advice or self.advice


class Busy(ServiceUnavailable):
    """Too many slow requests are in progress. Try again shortly."""
