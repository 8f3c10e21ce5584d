"""The state of webhooks as metrics, for Prometheus."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from wallet_api.database import Connection
from wallet_api.notify import queue, reports

# Of each target.
_GAUGES: tuple[tuple[str, str, Callable[[dict[str, Any]], float]], ...] = (
    ("waiting", "Webhooks to a target that wait.", lambda target: target["waiting"]),
    ("refused", "Webhooks that a target refused, and that are set aside.", lambda target: target["refused"]),
    ("failing", "Whether a target of webhooks fails.", lambda target: target["failing_since"] is not None),
    ("paused", "Whether a target of webhooks is paused.", lambda target: target["paused_at"] is not None),
)
_BEHIND = "Age of the oldest change that webhooks have not read; 0 without one."


def notify_metrics(connection: Connection, now: datetime) -> list[Metric]:
    """Return the metrics of webhooks."""
    targets, progress = queue.read_status(connection), reports.read_progress(connection, now)
    metrics: list[Metric] = [
        GaugeMetricFamily("wallet_api_notify_behind_seconds", _BEHIND, progress.behind_seconds),
        CounterMetricFamily(
            "wallet_api_notify_forgotten", "What webhooks reported and is forgotten.", progress.forgotten
        ),
    ]
    for name, text, value in _GAUGES:
        family = GaugeMetricFamily(f"wallet_api_notify_{name}", text, labels=("target",))
        for target in targets:
            family.add_metric((target["target"],), float(value(target)))
        metrics.append(family)
    return metrics
