"""The rate limit of each key: flask-limiter, with one limit for all operations together."""

import math
from typing import cast

from flask import Flask
from flask_limiter import Limiter
from flask_limiter.util import get_remote_address
from werkzeug.datastructures import Headers

from wallet_api.access.keyring import ApiKey
from wallet_api.access.limit_storage import MeteredStorage
from wallet_api.errors import RateLimited


class KeyLimiter(Limiter):
    """Count the requests of each key, across all workers if there is a shared store."""

    def __init__(self, app: Flask, valkey_url: str | None) -> None:
        super().__init__(
            # Of limits declared on routes, of which there are none: ours are counted by key, below.
            get_remote_address,
            storage_uri=f"metered+{valkey_url}" if valkey_url else "metered://",
            strategy="fixed-window",
        )
        # This keeps flask-limiter from hooking into each request: see "What was measured alone" in
        # docs/benchmarks-http.md.
        app.extensions.setdefault("limiter", set()).add(self)
        self.init_app(app)
        self.windows = cast(MeteredStorage, self.storage)

    def count(self, key: ApiKey) -> None:
        """Count one request. Raises RateLimited."""
        if not self.limiter.hit(key.limit, key.label):
            reset, _ = self.windows.state(key.window)
            wait = max(1, math.ceil(reset - self.windows.now()))
            raise RateLimited(
                f"This API key may call {key.limit.amount} times per {key.limit.GRANULARITY.name}."
                f" Try again in {wait} seconds.",
                retry_after_seconds=wait,
            )

    def set_headers(self, key: ApiKey, headers: Headers) -> None:
        """Add the rate-limit headers to a response."""
        reset, used = self.windows.state(key.window)
        headers.add("X-RateLimit-Limit", str(key.limit.amount))
        headers.add("X-RateLimit-Remaining", str(max(0, key.limit.amount - used)))
        headers.add("X-RateLimit-Reset", str(math.ceil(reset)))
