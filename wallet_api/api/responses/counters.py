"""The counters of requests, of one worker and of all."""

import os
import time
from functools import cache, partial
from typing import NamedTuple

from flask import Flask, Response
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.multiprocess import MultiProcessCollector

from wallet_api.api.access.current import current_request

# Set for the workers of one gunicorn, which count into files of one folder.
SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


def init_app(app: Flask, registry: CollectorRegistry) -> None:
    """Count every request of `app`. Call it before other hooks are registered: it runs last."""
    counters = _Counters(registry)
    app.after_request(counters.count)


def of_all_workers(registry: CollectorRegistry) -> CollectorRegistry:
    """Return the sums of the counters of all workers; without others, those of `registry`."""
    if not os.environ.get(SHARED_FOLDER):
        return registry
    sums = CollectorRegistry()
    MultiProcessCollector(sums)  # type: ignore[no-untyped-call]
    return sums


class _Labelled(NamedTuple):
    """The metrics of one operation and status."""

    requests: Counter
    seconds: Histogram
    cached: Counter
    credits: Counter


class _Counters:
    def __init__(self, registry: CollectorRegistry) -> None:
        counter = partial(Counter, registry=registry)
        self._requests = counter("wallet_api_requests", "Requests with a response.", ("operation", "status"))
        self._seconds = Histogram(
            "wallet_api_request_seconds",
            "Seconds until the response.",
            ("operation",),
            buckets=_SECONDS,
            registry=registry,
        )
        refusals = "Responses that are errors, by code and reason."
        self._refusals = counter("wallet_api_refusals", refusals, ("operation", "code", "reason"))
        cached = "Responses whose data was cached."
        self._cached = counter("wallet_api_cached_answers", cached, ("operation",))
        credits = "Credits that responses cost, also those to keys without a limit."
        self._credits = counter("wallet_api_credits_charged", credits, ("operation",))
        alone = "Requests counted by one worker alone, because the shared store of limits was away."
        self._alone = counter("wallet_api_limiter_fallback_calls", alone)
        # Bounded by the numbers of operations and statuses.
        self._metrics_of = cache(self._labelled)

    def count(self, response: Response) -> Response:
        """Count the current request."""
        request = current_request()
        if not request.counts:
            return response
        operation = request.operation
        labelled = self._metrics_of(operation, response.status_code)
        labelled.requests.inc()
        labelled.seconds.observe(time.perf_counter() - request.started)
        if request.refusal is not None:
            self._refusals.labels(operation, *request.refusal).inc()
        if request.cached:
            labelled.cached.inc()
        if request.charged:
            labelled.credits.inc(request.charged)
        if request.counted_alone:
            self._alone.inc()
        return response

    def _labelled(self, operation: str, status: int) -> _Labelled:
        return _Labelled(
            self._requests.labels(operation, status),
            self._seconds.labels(operation),
            self._cached.labels(operation),
            self._credits.labels(operation),
        )
