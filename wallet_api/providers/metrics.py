"""What holdings count: fetches by outcome, their time and bytes, and the answers given from each state."""

from prometheus_client import CollectorRegistry, Counter, Histogram

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)


class Metrics:
    """The counters of one app; `registry` is the app's own, so that two apps count apart."""

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
        self._answers = Counter(
            "wallet_api_holdings_answers",
            "Holdings answers, by state: fresh, stale, loading, unavailable.",
            ("chain", "state"),
            registry=registry,
        )

    def fetched(self, provider: str, chain: str, outcome: str, seconds: float, size: int) -> None:
        """Count one fetch that has ended."""
        self._fetches.labels(provider, chain, outcome).inc()
        self._seconds.labels(provider, chain).observe(seconds)
        self._bytes.labels(provider, chain).inc(size)

    def answered(self, chain: str, state: str) -> None:
        """Count one answer to a caller."""
        self._answers.labels(chain, state).inc()
