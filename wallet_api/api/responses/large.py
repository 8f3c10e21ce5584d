"""A limit of memory: one large response at a time."""

from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any

from flask import Flask, current_app, request
from werkzeug.wsgi import ClosingIterator

from wallet_api.base.errors import Busy

# About 4 MB of JSON, of which there are a few copies while the response is made.
LARGE_TOKENS = 10_000
_WAIT_SECONDS = 2.0
_LOCK = "wallet_api.large"
_HELD = "wallet_api.large.held"


def init_app(app: Flask) -> None:
    """Give `app` a lock for large responses, which is released when the response has been sent."""
    app.extensions[_LOCK] = Lock()
    inner = app.wsgi_app

    def released(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        # Flask responds to any exception.
        body = inner(environ, start_response)
        return ClosingIterator(body, environ[_HELD].release) if _HELD in environ else body

    app.wsgi_app = released  # type: ignore[method-assign]


def await_turn(tokens: int) -> None:
    """Wait until no other response about more than LARGE_TOKENS is in memory, if this one is. Raises Busy."""
    if tokens <= LARGE_TOKENS or _HELD in request.environ:
        return
    lock: Lock = current_app.extensions[_LOCK]
    if not lock.acquire(timeout=_WAIT_SECONDS):
        raise Busy
    request.environ[_HELD] = lock
