"""The headers that every response carries for the caller's safety: https://owasp.org/www-project-secure-headers/"""

from flask import Flask, Response

# Responses are data for one caller: not to be kept by others, framed, or taken for a page.
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_UNLESS_SET = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}


def init_app(app: Flask) -> None:
    """Add them to each response of `app`; to be called before other hooks, which run earlier then."""
    app.after_request(_add)


def _add(response: Response) -> Response:
    response.headers.update(_HEADERS)
    for name, value in _UNLESS_SET.items():
        response.headers.setdefault(name, value)
    return response
