"""GET /metrics: the metrics of all workers, for Prometheus."""

import hmac
import math
import os
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from ipaddress import ip_address, ip_network
from typing import NamedTuple

from flask import Blueprint, Flask, Response, request
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_1_0_0
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from wallet_api.access.current import current_request
from wallet_api.access.gate import keyless
from wallet_api.database import Database
from wallet_api.errors import Forbidden, ServiceUnavailable
from wallet_api.keys import bearer_key
from wallet_api.keys.usage import count_expiring
from wallet_api.queries.freshness import freshness
from wallet_api.responses.operation import undocumented
from wallet_api.services import services
from wallet_api.sync.metrics import sync_metrics

blueprint = Blueprint("metrics", __name__)

# Set for the workers of one gunicorn, which count into files of one folder.
SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_FRESHNESS = {
    "trades": (
        "wallet_api_newest_trade_age_seconds",
        "Age of a group's newest trade.",
        ("blockchain", "type"),
    ),
    "prices": ("wallet_api_newest_price_age_seconds", "Age of a coin's newest price.", ("currency",)),
}
# Headers in which a proxy names itself or the caller.
_FORWARDED = re.compile(
    r"forwarded|^(via|cdn-loop|x-remote-addr|x-envoy-external-address)$|(^|-)(real|client|remote|user|connecting|"
    r"originating|proxyuser)-?(ip|host)$",
    re.IGNORECASE,
)


class MetricsNotAllowed(Forbidden):
    """Metrics are for the addresses of METRICS_NETWORKS, or with the METRICS_TOKEN as a Bearer token."""

    def __init__(self) -> None:
        super().__init__(reason="metrics_not_allowed")


@blueprint.get("/metrics")
@keyless
@undocumented
def metrics() -> Response:
    """Return the counters of all workers, and the age of the data."""
    if not _may_see():
        raise MetricsNotAllowed
    current = services()
    counters = current.registry
    if os.environ.get(SHARED_FOLDER):
        counters = CollectorRegistry()
        MultiProcessCollector(counters)  # type: ignore[no-untyped-call]
    data = CollectorRegistry()
    data.register(_Data(current.database))
    return Response(generate_latest(counters) + generate_latest(data), content_type=CONTENT_TYPE_PLAIN_1_0_0)


def init_app(app: Flask, registry: CollectorRegistry) -> None:
    """Count every request of `app`. Call it before other hooks are registered: it runs last."""
    counters = _Counters(registry)
    app.after_request(counters.count)


class _Labelled(NamedTuple):
    """The metrics of one operation and status."""

    requests: Counter
    seconds: Histogram
    cached: Counter
    credits: Counter


class _Counters:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._requests = Counter(
            "wallet_api_requests",
            "Requests with a response.",
            ("operation", "status"),
            registry=registry,
        )
        self._seconds = Histogram(
            "wallet_api_request_seconds",
            "Seconds until the response.",
            ("operation",),
            buckets=_SECONDS,
            registry=registry,
        )
        self._refusals = Counter(
            "wallet_api_refusals",
            "Responses that are errors, by code and reason.",
            ("operation", "code", "reason"),
            registry=registry,
        )
        self._cached = Counter(
            "wallet_api_cached_answers",
            "Responses whose data was cached.",
            ("operation",),
            registry=registry,
        )
        self._credits = Counter(
            "wallet_api_credits_charged",
            "Credits that responses cost, also those to keys without a limit.",
            ("operation",),
            registry=registry,
        )
        self._alone = Counter(
            "wallet_api_limiter_fallback_calls",
            "Requests counted by one worker alone, because the shared store of limits was away.",
            registry=registry,
        )
        # Bounded by the numbers of operations and statuses.
        self._metrics_of = cache(self._labelled)

    def count(self, response: Response) -> Response:
        """Count the current request."""
        request = current_request()
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


class _Data(Collector):
    """Metrics that are read from the database at each scrape."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def collect(self) -> Iterator[Metric]:
        """Yield the ages of the data, or only which server is away."""
        yield GaugeMetricFamily(
            "wallet_api_primary_up",
            "Whether the primary accepts writes: without it no key with credits is served.",
            float(self._database.primary_fault() is None),
        )
        up = GaugeMetricFamily("wallet_api_database_up", "Whether the database can be read.", 1.0)
        now = datetime.now(UTC)
        try:
            with self._database.read() as connection:
                moments = freshness(connection)
                syncs = sync_metrics(connection, now)
                expiring = count_expiring(connection, now)
        except ServiceUnavailable:
            up.samples[0] = up.samples[0]._replace(value=0.0)
            yield up
            return
        yield up
        for kind, (name, text, labels) in _FRESHNESS.items():
            family = GaugeMetricFamily(name, text, labels=labels)
            for moment in moments:
                if moment.kind == kind:
                    # A price that is missing is older than any limit of an alert.
                    at_seconds = -math.inf if moment.at_seconds is None else moment.at_seconds
                    age_seconds = max(0.0, now.timestamp() - at_seconds)
                    family.add_metric((moment.first, moment.second)[: len(labels)], age_seconds)
            yield family
        yield GaugeMetricFamily("wallet_api_keys_expiring", "Keys that expire within 14 days.", expiring)
        yield from syncs


def _may_see() -> bool:
    settings = services().settings
    token = bearer_key(request.headers.get("Authorization"))
    if settings.metrics_token is not None and token is not None:
        return hmac.compare_digest(token.encode(), settings.metrics_token.encode())
    # Through a proxy, the address is not the caller's. Without one, these headers are forged, and with
    # PROXY_HOPS the address comes from them.
    if any(_FORWARDED.search(name) for name, _ in request.headers):
        return False
    try:
        address = ip_address(request.remote_addr or "")
    except ValueError:
        return False
    networks = filter(None, settings.metrics_networks.split(","))
    return any(address in ip_network(network) for network in networks)
