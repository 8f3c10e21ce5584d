"""Cross-origin requests: which web pages may read the responses of /v1/ and /mcp, by CORS_ORIGINS."""

from collections.abc import Sequence

from flask import Flask, Response
from flask_cors import CORS

from wallet_api.api.access.current import current_request

# By the beginning of the path: the methods, and the headers that a page may send.
_SHARED = {
    "/v1/": {"methods": ["GET", "HEAD"], "allow_headers": ["Authorization", "If-None-Match"]},
    "/mcp": {
        "methods": ["POST"],
        "allow_headers": ["Authorization", "Content-Type", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"],
    },
}
_EXPOSED = [
    *("ETag", "Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"),
    *("X-Credits-Remaining", "X-Request-ID", "Link", "X-Next-Cursor", "X-Warnings"),
]
# The longest time for which Chromium caches a preflight.
_MAX_AGE_SECONDS = 7200


def init_app(app: Flask, origins: Sequence[str]) -> None:
    """Let pages of these origins, `*` for all, read the responses of `app`; without any, change nothing.

    Call it before the gate is created: a preflight needs no key, and refusals have the headers too.
    """
    if not origins:
        return
    every_origin = list(origins) == ["*"]

    def complete(response: Response) -> Response:
        if "Access-Control-Allow-Origin" in response.headers:
            response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
        if not every_origin and current_request().path.startswith(tuple(_SHARED)):
            # Flask-CORS adds it only if there are several origins, and this one is allowed.
            response.vary.add("Origin")
        return response

    app.before_request(_respond_to_preflight)
    # The hooks run in reverse order.
    app.after_request(complete)
    CORS(
        app,
        resources={f"^{prefix}": options for prefix, options in _SHARED.items()},
        origins=origins,
        expose_headers=_EXPOSED,
        max_age=_MAX_AGE_SECONDS,
        send_wildcard=True,
        always_send=every_origin,
        vary_header=False,
        # Errors become responses, which have the headers already.
        intercept_exceptions=False,
    )


def _respond_to_preflight() -> Response | None:
    request = current_request()
    if (
        request.method != "OPTIONS"
        or "Access-Control-Request-Method" not in request.headers
        or not request.path.startswith(tuple(_SHARED))
    ):
        return None
    response = Response(status=204)
    del response.headers["Content-Type"]
    return response
