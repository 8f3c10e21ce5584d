"""What each key is used for, by day and operation: counted in memory, settled in the background."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime

from prometheus_client import CollectorRegistry, Counter

from wallet_api.api.access.settling import Account, Settler
from wallet_api.base.bulkhead import Bulkhead
from wallet_api.database import Database, Row, had_no_effect, load_statements

log = logging.getLogger(__name__)

# Longer than charges may stay pending, since nothing depends on it, and each key has several rows.
SETTLE_SECONDS = 10.0

_USE = load_statements("wallet_api.api.access", "use")

# A key, a day of UTC, an operation, and what each of its requests cost.
UseName = tuple[int, date, str, int]


@dataclass(slots=True, eq=False)
class NamedUse(Account):
    """The requests of one name."""

    name: UseName


class Use:
    """The use of all keys by one process. A worker that is killed loses its last SETTLE_SECONDS."""

    def __init__(self, database: Database, bulkhead: Bulkhead, registry: CollectorRegistry) -> None:
        self._database = database
        self._bulkhead = bulkhead
        self._uses: dict[UseName, NamedUse] = {}
        self._lost = Counter(
            "wallet_api_use_lost",
            "Requests and credits that are missing in the use of keys, since their settlement failed.",
            registry=registry,
        )
        self._settler = Settler("use", self._write, period_seconds=SETTLE_SECONDS, close_seconds=0.0)

    def count(self, key_id: int, operation: str, credits: int) -> None:
        """Count one request, and the credits that it cost."""
        self._settler.start()
        name = key_id, datetime.now(UTC).date(), operation, credits
        use = self._uses.get(name) or self._uses.setdefault(name, NamedUse(name))
        with use.lock:
            self._settler.add(use, 1)

    def read(self, key_id: int, today: date) -> list[Row]:
        """Return what a key was used for in the month of `today`, and on that day, by operation.

        What a worker has used in the last SETTLE_SECONDS may be missing. Raises DatabaseUnavailable.
        """
        with self._bulkhead.slot(), self._database.read() as connection:
            return connection.execute(_USE["read"], {"key_id": key_id, "today": today}).fetchall()

    def close(self) -> None:
        """Settle all, while the database is open."""
        unsettled = self._settler.close()
        if unsettled:
            self._lose(unsettled)

    def _write(self, requests: dict[NamedUse, int]) -> None:
        key_ids, days, operations, credits = zip(*(use.name for use in requests), strict=True)
        parameters = {
            "key_ids": list(key_ids),
            "days": list(days),
            "operations": list(operations),
            "requests": list(requests.values()),
            "credits": list(credits),
            "now": datetime.now(UTC),
        }
        try:
            with self._database.write() as connection:
                connection.execute(_USE["settle"], parameters)
        except Exception as error:
            if not had_no_effect(error):
                self._confirm(requests)
                self._lose(requests)
            raise
        self._confirm(requests)

    def _confirm(self, requests: Mapping[NamedUse, int]) -> None:
        for use, amount in requests.items():
            # A request that is counted meanwhile stays in the settler.
            self._uses.pop(use.name, None)
            with use.lock:
                use.sent -= amount

    def _lose(self, requests: Mapping[NamedUse, int]) -> None:
        amount = sum(count * (1 + use.name[-1]) for use, count in requests.items())
        self._lost.inc(amount)
        log.warning("The use of keys lacks %d requests and credits: they could not be settled.", amount)
