"""How often a key may call: flask-limiter, with one limit for all operations together, the key's own."""

import math
import time

from flask import Flask, g
from flask_limiter import Limiter, RequestLimit
from werkzeug.datastructures import Headers

from wallet_api.access.windows import LeasedStorage
from wallet_api.errors import RateLimited


class KeyLimiter(Limiter):
    """Counts each call that has a key in g, across all workers when there is a shared store."""

    def __init__(self, valkey_url: str | None) -> None:
        super().__init__(
            lambda: g.api_key.label,
            storage_uri=f"leased+{valkey_url}" if valkey_url else "leased://",
            strategy="fixed-window",
        )

    @property
    def fallback_active(self) -> bool:
        """Whether the shared store is away, so that this process counts by itself."""
        storage = self.storage
        return isinstance(storage, LeasedStorage) and storage.fallback_active

    def _check_request_limit(self, callable_name: str | None = None, in_middleware: bool = True) -> None:
        # What flask-limiter runs before each request. Its own way, through the limits of the app, the
        # blueprints and the routes, takes longer than the rest of the gate, to find the one there is.
        key = g.get("api_key")
        if key is None:
            return
        counted = self.limiter.hit(key.limit, key.label)
        current = RequestLimit(self, key.limit, [key.label], not counted, True)
        self.context.view_rate_limit = current
        if not counted:
            wait = max(1, math.ceil(current.window.reset_time - time.time()))
            raise RateLimited(
                f"This API key may call {key.limit.amount} times per {key.limit.GRANULARITY.name}."
                f" Try again in {wait} seconds.",
                retry_after_seconds=wait,
            )

    def tell(self, headers: Headers) -> None:
        """Put the state of the limit into the headers of an answer."""
        current = self.current_limit
        if current is not None:
            reset, remaining = current.window
            headers["X-RateLimit-Limit"] = str(current.limit.amount)
            headers["X-RateLimit-Remaining"] = str(remaining)
            headers["X-RateLimit-Reset"] = str(math.ceil(reset))


def init_app(app: Flask, valkey_url: str | None) -> KeyLimiter:
    """The limiter of `app`, counting from the first request on."""
    limiter = KeyLimiter(valkey_url)
    limiter.init_app(app)
    return limiter
