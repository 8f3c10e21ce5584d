"""The envelope of responses, and the handlers that give all errors the same shape."""

import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from flask import Flask, Response
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from wallet_api import __version__
from wallet_api.api.access.current import ApiRequest, current_request
from wallet_api.api.schemas.envelope import ErrorSchema
from wallet_api.api.schemas.shapes import to_json
from wallet_api.base.errors import ApiError
from wallet_api.base.times import shown_time

log = logging.getLogger(__name__)

_error = ErrorSchema()

JSON = "application/json"

# What to use in place of an operation that is not offered.
_INSTEAD = {"/v1/signals/history": " Use /v1/signals with as_of."}

# The codes of errors that Flask raises.
_HTTP_CODES = {404: "not_found", 405: "method_not_allowed", 413: "request_too_large", 429: "rate_limited"}


def init_app(app: Flask) -> None:
    """Register the error handlers of `app`."""
    app.register_error_handler(ApiError, _respond_to_api_error)
    app.register_error_handler(HTTPException, _respond_to_http_exception)
    app.register_error_handler(Exception, _respond_to_crash)


def respond(data: Any) -> Response:
    """Return a 200 with `data` in the envelope, for the current request alone."""
    body = begin_envelope(to_json(data)) + end_envelope(current_request())
    return Response(body, content_type=JSON)


def begin_envelope(data: bytes, repeated: bytes = b"") -> bytes:
    """Return the body of a response up to its meta; `repeated` are members of the data at the top level."""
    return b'{"success":true,"data":%b%b,"meta":' % (data, repeated)


def end_envelope(
    request: ApiRequest, cache_age_seconds: int = 0, of_data: Mapping[str, str] | None = None
) -> bytes:
    """Return the rest of the body of the response to `request`; `of_data` is what meta says of the data."""
    return to_json(_meta(request, cache_age_seconds) | dict(of_data or {})) + b"}"


def error_response(error: ApiError, response: Response | None = None) -> Response:
    """Return the response to `error`. If `response` is given, its headers are kept."""
    request = current_request()
    request.refusal = (error.code, error.reason or "")
    # An error does not come from a cache.
    request.cached = False
    body = {"success": False, "error": error.detail(request.request_id), "meta": _meta(request, 0)}
    response = response or Response()
    response.set_data(_error.write([body])[0])
    response.content_type = JSON
    response.status_code = error.status
    if error.status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    if error.retry_after_seconds is not None:
        response.headers["Retry-After"] = str(error.retry_after_seconds)
    return response


def opens_websocket(request: ApiRequest) -> bool:
    """Return whether the request is the handshake of a websocket."""
    return request.headers.get("Upgrade", "").lower() == "websocket"


def _respond_to_api_error(error: ApiError) -> Response:
    if error.status >= 500:
        # One line, since an outage fails many requests.
        log.warning("%s: %s (%s)", error.code, error.message, _cause(error))
    return error_response(error)


def _respond_to_http_exception(error: HTTPException) -> Response:
    request = current_request()
    default = error.get_response(request.environ)
    failure = ApiError(error.description or error.name)
    failure.status = error.code or 500
    failure.code = _HTTP_CODES.get(
        failure.status, "invalid_request" if failure.status < 500 else "internal_error"
    )
    if isinstance(error, MethodNotAllowed):
        failure.message = f"The method {request.method[:16]!r} is not allowed here."
        failure.allowed = sorted(error.valid_methods or ())
    # Flask refuses the handshake of a websocket with a 400.
    if failure.status == 404 or opens_websocket(request):
        failure.status, failure.code = 404, _HTTP_CODES[404]
        failure.message = _no_operation(request)
    # Flask's response has Allow and Retry-After.
    return error_response(failure, Response(headers=default.headers))


def _no_operation(request: ApiRequest) -> str:
    if opens_websocket(request):
        problem = "A websocket is not offered here."
    else:
        instead = _INSTEAD.get(request.path, "")
        problem = f"The operation {request.path[:128]!r} is not offered here.{instead}"
    return f"{problem} The operations are listed at /docs."


def _respond_to_crash(error: Exception) -> Response:
    request = current_request()
    log.error("%s crashed on %s", request.request_id, request.endpoint, exc_info=error)
    return error_response(ApiError())


def _cause(error: ApiError) -> str:
    cause = error.__cause__
    if cause is None:
        return "no cause"
    text = f"{type(cause).__name__}: {cause}".partition("\n")[0]
    return f"{text}; {error.advice}" if error.advice else text


def _meta(request: ApiRequest, cache_age_seconds: int) -> dict[str, Any]:
    return {
        "request_id": request.request_id,
        "cached": request.cached,
        "cache_age_seconds": cache_age_seconds,
        "version": __version__,
        "timestamp": shown_time(datetime.now(UTC)),
    }
