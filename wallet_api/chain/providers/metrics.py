"""The metrics of fetches: counts by outcome, durations and bytes."""

from prometheus_client import CollectorRegistry, Counter, Histogram

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)


class FetchMetrics:
    """The fetch metrics of one app, in its `registry`."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._fetches = Counter(
            "wallet_api_holdings_fetches",
            "Fetches of a wallet's balances, by how they ended.",
            ("provider", "chain", "outcome"),
            registry=registry,
        )
        self._seconds = Histogram(
            "wallet_api_holdings_fetch_seconds",
            "How long fetches of balances took, with their retries.",
            ("provider", "chain"),
            buckets=_SECONDS,
            registry=registry,
        )
        self._bytes = Counter(
            "wallet_api_holdings_fetched_bytes",
            "Bytes of balances that providers sent.",
            ("provider", "chain"),
            registry=registry,
        )
        self._left_out = Counter(
            "wallet_api_holdings_rows_left_out",
            "Rows of balances that could not be read.",
            ("provider", "chain"),
            registry=registry,
        )

    def ended(
        self, place: tuple[str, str], outcome: str, seconds: float, *, size: int, left_out: int
    ) -> None:
        """Count a fetch that has ended, by provider and chain, its bytes, and its rows that were left out."""
        self._fetches.labels(*place, outcome).inc()
        self._seconds.labels(*place).observe(seconds)
        self._bytes.labels(*place).inc(size)
        self._left_out.labels(*place).inc(left_out)
