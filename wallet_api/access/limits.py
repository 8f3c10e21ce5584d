"""How often a key may call: flask-limiter, with one limit for all operations together, the key's own."""

import math
import time
from typing import cast

from flask import Flask
from flask_limiter import Limiter
from flask_limiter.util import get_remote_address
from werkzeug.datastructures import Headers

from wallet_api.access.keyring import ApiKey
from wallet_api.access.windows import LeasedStorage
from wallet_api.errors import RateLimited


class KeyLimiter(Limiter):
    """Counts the calls of each key, across all workers when there is a shared store."""

    def __init__(self, app: Flask, valkey_url: str | None) -> None:
        super().__init__(
            # Of limits declared on routes, of which there are none: ours are counted by key, below.
            get_remote_address,
            storage_uri=f"leased+{valkey_url}" if valkey_url else "leased://",
            strategy="fixed-window",
        )
        # flask-limiter hooks itself into every request unless it is there already. Its search through the
        # limits of app, blueprints and routes takes longer than the rest of the gate, to find the only one.
        app.extensions.setdefault("limiter", set()).add(self)
        self.init_app(app)
        self._windows = cast(LeasedStorage, self.storage)

    @property
    def fallback_active(self) -> bool:
        """Whether the shared store is away, so that this process counts by itself."""
        return self._windows.fallback_active

    def close(self) -> None:
        """Return what is counted ahead, and count no more."""
        self._windows.give_back()

    def count(self, key: ApiKey) -> None:
        """Count one call. Raises RateLimited."""
        if not self.limiter.hit(key.limit, key.label):
            reset, _ = self._windows.state(key.window)
            wait = max(1, math.ceil(reset - time.time()))
            raise RateLimited(
                f"This API key may call {key.limit.amount} times per {key.limit.GRANULARITY.name}."
                f" Try again in {wait} seconds.",
                retry_after_seconds=wait,
            )

    def tell(self, key: ApiKey, headers: Headers) -> None:
        """Put the state of the limit into the headers of an answer."""
        # Not by get_window_stats, which puts the name of the window together twice.
        reset, used = self._windows.state(key.window)
        headers.add("X-RateLimit-Limit", str(key.limit.amount))
        headers.add("X-RateLimit-Remaining", str(max(0, key.limit.amount - used)))
        headers.add("X-RateLimit-Reset", str(math.ceil(reset)))
