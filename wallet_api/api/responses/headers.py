"""The headers of every response: its id, and for security https://owasp.org/www-project-secure-headers/"""

from collections.abc import Callable, Iterable
from typing import Any

from flask import Flask

from wallet_api.api.access.current import REQUEST_ID

Headers = list[tuple[str, str]]

# A response is data for one caller: not to be stored by others, framed, or interpreted as a page.
_HEADERS = [
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
]
_UNLESS_SET = [
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    ("Cache-Control", "no-store"),
]


def init_app(app: Flask) -> None:
    """Add them to each response of `app`."""
    inner = app.wsgi_app

    def guarded(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        def start(status: str, headers: Headers, *exc_info: Any) -> Any:
            own = [*headers, ("X-Request-ID", environ[REQUEST_ID])]
            return start_response(status, completed(own), *exc_info)

        return inner(environ, start)

    app.wsgi_app = guarded  # type: ignore[method-assign]


def completed(headers: Headers) -> Headers:
    """Return the headers of a response with those that it lacks."""
    set_already = dict(headers)
    return headers + _HEADERS + [header for header in _UNLESS_SET if header[0] not in set_already]
