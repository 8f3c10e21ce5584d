"""GET /metrics: the counters of all workers, and the state of the data, for Prometheus."""

import math
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime

from flask import Blueprint, Flask, Response, current_app, request
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_1_0_0
from prometheus_client.registry import Collector

from wallet_api.api.access.scrapers import check_scraper
from wallet_api.api.access.views import keyless
from wallet_api.api.keys.usage import count_expiring, count_short
from wallet_api.api.responses import counters
from wallet_api.api.services import services
from wallet_api.base.errors import ServiceUnavailable
from wallet_api.database import Connection, Database
from wallet_api.queries.group_states import newest_trades
from wallet_api.queries.native_price import read_coins

blueprint = Blueprint("metrics", __name__)

# It reads the metrics of a part of the service, as of a time.
Reader = Callable[[Connection, datetime], Iterable[Metric]]
_EXTENSION = "wallet_api.metrics"


def init_app(app: Flask, *readers: Reader) -> None:
    """Add the metrics of parts that views do not use."""
    app.extensions[_EXTENSION] = readers


@blueprint.get("/metrics")
@keyless
def metrics() -> Response:
    """Return the counters of all workers, and the age of the data."""
    current = services()
    check_scraper(request, current.settings.metrics_token, current.settings.metrics_networks)
    data = CollectorRegistry()
    readers = current_app.extensions[_EXTENSION]
    data.register(_Data(current.database, current.gate.credits.usual_cost, readers))
    text = generate_latest(counters.of_all_workers(current.registry)) + generate_latest(data)
    return Response(text, content_type=CONTENT_TYPE_PLAIN_1_0_0)


class _Data(Collector):
    """Metrics that are read from the database at each scrape."""

    def __init__(self, database: Database, cost: int, readers: Iterable[Reader]) -> None:
        self._database = database
        self._cost = cost
        self._readers = readers

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
                trades, coins = newest_trades(connection), read_coins(connection, now)
                expiring = count_expiring(connection, now)
                short = count_short(connection, now, self._cost)
                parts = [metric for read in self._readers for metric in read(connection, now)]
        except ServiceUnavailable:
            up.samples[0] = up.samples[0]._replace(value=0.0)
            yield up
            return
        yield up
        text = "Age of a group's newest trade."
        family = GaugeMetricFamily("wallet_api_newest_trade_age_seconds", text, labels=("blockchain", "type"))
        for row in trades:
            family.add_metric((row["blockchain"], row["type"]), _age(now, row["ends_at"]))
        yield family
        text = "Age of a coin's newest price."
        family = GaugeMetricFamily("wallet_api_newest_price_age_seconds", text, labels=("currency",))
        for row in coins:
            if row["priced_at"] is not None or row["is_tracked"]:
                family.add_metric((row["currency"],), _age(now, row["priced_at"]))
        yield family
        yield GaugeMetricFamily("wallet_api_keys_expiring", "Keys that expire within 14 days.", expiring)
        text = "Keys that have no credits left, or less than they are charged in a week."
        family = GaugeMetricFamily("wallet_api_keys_short_of_credits", text, labels=("state",))
        for state, count in short.items():
            family.add_metric((state,), count)
        yield family
        yield from parts


def _age(now: datetime, at: datetime | None) -> float:
    """Return the seconds since a time; of none they are more than any limit of an alert."""
    return math.inf if at is None else max(0.0, (now - at).total_seconds())
