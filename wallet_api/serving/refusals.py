"""The responses to what is not a valid request."""

from flask import Flask
from gunicorn.http.errors import (
    ExpectationFailed,
    LimitRequestHeaders,
    LimitRequestLine,
    ParseException,
    UnsupportedTransferCoding,
)

from wallet_api.errors import ApiError
from wallet_api.responses import headers
from wallet_api.responses.envelope import refuse

_STATUS_LINES = {
    400: "400 Bad Request",
    414: "414 URI Too Long",
    417: "417 Expectation Failed",
    431: "431 Request Header Fields Too Large",
    500: "500 Internal Server Error",
    501: "501 Not Implemented",
}


def refusal(exc: BaseException) -> ApiError:
    """Return the error of the API for what gunicorn has raised."""
    statuses = (
        (LimitRequestLine, 414, "The request line is too long."),
        (LimitRequestHeaders, 431, "The headers are too long or too many."),
        (ExpectationFailed, 417, "Expect may only be 100-continue."),
        (UnsupportedTransferCoding, 501, "This transfer coding is not supported."),
        (ParseException, 400, "This is not a valid HTTP request."),
    )
    for kind, status, message in statuses:
        if isinstance(exc, kind):
            error = ApiError(message)
            error.status = status
            error.code = "invalid_request" if status < 500 else "not_implemented"
            return error
    return ApiError()


def response(app: Flask, error: ApiError) -> bytes:
    """Return the whole response to it, after which the connection is closed."""
    with app.test_request_context():
        refused = app.process_response(refuse(error))
    refused.headers["Connection"] = "close"
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.completed(list(refused.headers)))
    return f"HTTP/1.1 {_STATUS_LINES[error.status]}\r\n{head}\r\n".encode("latin1") + refused.get_data()
