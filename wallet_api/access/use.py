"""What each key is used for, by day and operation: counted in memory, settled in the background."""

import logging
import time
from dataclasses import dataclass
from datetime import UTC, date, datetime

from prometheus_client import CollectorRegistry, Counter

from wallet_api.access.settling import Account, Settler
from wallet_api.database import Database, had_no_effect, load_sql

log = logging.getLogger(__name__)

# Longer than charges may stay pending, since nothing depends on it, and each key has several rows.
SETTLE_SECONDS = 10.0

_DAY_SECONDS = 86_400
_SETTLE = load_sql("wallet_api.access", "settle_use")


@dataclass(slots=True, eq=False)
class Tally(Account):
    """The requests of one key for one operation on one day, or the credits that they cost."""

    key_id: int
    day: int
    operation: str
    of_credits: bool


class Use:
    """The use of all keys by one process. A worker that is killed loses its last SETTLE_SECONDS."""

    def __init__(self, database: Database, registry: CollectorRegistry) -> None:
        self._database = database
        self._tallies: dict[tuple[int, int, str, bool], Tally] = {}
        self._lost = Counter(
            "wallet_api_use_lost",
            "Requests and credits that are missing in the use of keys, since their settlement failed.",
            registry=registry,
        )
        self._settler = Settler("use", self._write, period_seconds=SETTLE_SECONDS, close_seconds=0.0)

    def count(self, key_id: int, operation: str, credits: int) -> None:
        """Count one request, and the credits that it cost."""
        self._settler.start()
        day = int(time.time()) // _DAY_SECONDS
        self._add(key_id, day, operation, False, 1)
        if credits:
            self._add(key_id, day, operation, True, credits)

    def close(self) -> None:
        """Settle all, while the database is open."""
        unsettled = self._settler.close()
        if unsettled:
            self._lose(unsettled)

    def _add(self, key_id: int, day: int, operation: str, of_credits: bool, amount: int) -> None:
        name = (key_id, day, operation, of_credits)
        tally = self._tallies.get(name) or self._tallies.setdefault(name, Tally(*name))
        with tally.lock:
            self._settler.add(tally, amount)

    def _write(self, amounts: dict[Tally, int]) -> None:
        # What is counted from here on is in new tallies; the settler has the others.
        for tally in amounts:
            self._tallies.pop((tally.key_id, tally.day, tally.operation, tally.of_credits), None)
        parameters = {
            "key_ids": [tally.key_id for tally in amounts],
            "days": [_date(tally.day) for tally in amounts],
            "operations": [tally.operation for tally in amounts],
            "requests": [0 if tally.of_credits else amount for tally, amount in amounts.items()],
            "credits": [amount if tally.of_credits else 0 for tally, amount in amounts.items()],
            "now": datetime.now(UTC),
        }
        try:
            with self._database.write() as connection:
                connection.execute(_SETTLE, parameters)
        except Exception as error:
            if not had_no_effect(error):
                self._confirm(amounts)
                self._lose(sum(amounts.values()))
            raise
        self._confirm(amounts)

    def _confirm(self, amounts: dict[Tally, int]) -> None:
        for tally, amount in amounts.items():
            with tally.lock:
                tally.sent -= amount

    def _lose(self, amount: int) -> None:
        self._lost.inc(amount)
        log.warning("The use of keys lacks %d requests and credits: they could not be settled.", amount)


def _date(day: int) -> date:
    return datetime.fromtimestamp(day * _DAY_SECONDS, UTC).date()
