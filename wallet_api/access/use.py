"""What each key is used for, by day and operation: counted in memory, settled in the background."""

import logging
from collections.abc import Mapping
from datetime import UTC, date, datetime
from threading import Lock

from prometheus_client import CollectorRegistry, Counter

from wallet_api.bulkhead import Bulkhead
from wallet_api.database import Database, Row, had_no_effect, load_sql
from wallet_api.recurring import Recurring

log = logging.getLogger(__name__)

# Longer than charges may stay pending, since nothing depends on it, and each key has several rows.
SETTLE_SECONDS = 10.0

_SETTLE = load_sql("wallet_api.access", "settle_use")
_READ = load_sql("wallet_api.access", "read_use")

# A key, a day of UTC and an operation.
Name = tuple[int, date, str]
# The requests, and the credits that they cost.
Amounts = tuple[int, int]


class Use:
    """The use of all keys by one process. A worker that is killed loses its last SETTLE_SECONDS."""

    def __init__(self, database: Database, bulkhead: Bulkhead, registry: CollectorRegistry) -> None:
        self._database = database
        self._bulkhead = bulkhead
        self._lock = Lock()
        self._used: dict[Name, Amounts] = {}
        # What is being settled.
        self._sent: dict[Name, Amounts] = {}
        self._lost = Counter(
            "wallet_api_use_lost",
            "Requests and credits that are missing in the use of keys, since their settlement failed.",
            registry=registry,
        )
        self._settler = Recurring("use", self._settle, SETTLE_SECONDS, close_seconds=0.0)

    def count(self, key_id: int, operation: str, credits: int) -> None:
        """Count one request, and the credits that it cost."""
        self._settler.start()
        self._add((key_id, datetime.now(UTC).date(), operation), (1, credits))

    def read(self, key_id: int, today: date) -> list[Row]:
        """Return what a key was used for in the month of `today`, and on that day, by operation.

        What a worker has used in the last SETTLE_SECONDS may be missing. Raises DatabaseUnavailable.
        """
        with self._bulkhead.slot(), self._database.read() as connection:
            return connection.execute(_READ, {"key_id": key_id, "today": today}).fetchall()

    def close(self) -> None:
        """Settle all, while the database is open."""
        self._settler.close()
        for unsettled in (self._sent, self._used):
            if unsettled:
                self._lose(unsettled)

    def _add(self, name: Name, more: Amounts) -> None:
        with self._lock:
            requests, credits = self._used.get(name, (0, 0))
            self._used[name] = requests + more[0], credits + more[1]

    def _settle(self) -> None:
        with self._lock:
            self._sent, self._used = self._used, {}
        try:
            if self._sent:
                self._write(self._sent)
        except Exception as error:
            if had_no_effect(error):
                for name, amounts in self._sent.items():
                    self._add(name, amounts)
            else:
                self._lose(self._sent)
            raise
        finally:
            self._sent = {}

    def _write(self, used: Mapping[Name, Amounts]) -> None:
        key_ids, days, operations = zip(*used, strict=True)
        requests, credits = zip(*used.values(), strict=True)
        parameters = {
            "key_ids": list(key_ids),
            "days": list(days),
            "operations": list(operations),
            "requests": list(requests),
            "credits": list(credits),
            "now": datetime.now(UTC),
        }
        with self._database.write() as connection:
            connection.execute(_SETTLE, parameters)

    def _lose(self, used: Mapping[Name, Amounts]) -> None:
        amount = sum(map(sum, used.values()))
        self._lost.inc(amount)
        log.warning("The use of keys lacks %d requests and credits: they could not be settled.", amount)
