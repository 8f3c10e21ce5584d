"""Native prices into the ledger: of now, and of past hours that have none."""

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from wallet_api.chains import CHAINS, CURRENCIES, Currency
from wallet_api.database import Connection, load_sql
from wallet_api.ledger.fields import BadRow
from wallet_api.ledger.imports import import_prices
from wallet_api.ledger.lines import Record
from wallet_api.ledger.rows import PriceRow
from wallet_api.providers.faults import ProviderFault
from wallet_api.providers.prices.quotes import PriceSource, hour_of
from wallet_api.sync.heartbeats import beat

log = logging.getLogger(__name__)

_FILL_PAUSE_SECONDS = 60.0
_MISSING_HOURS = load_sql(__package__, "missing_hours")

Hours = Mapping[Currency, Sequence[datetime]]


@dataclass
class PricesSummary:
    """What a round did: prices new to the ledger, and currencies (of now) and past hours without one."""

    changed: int = 0
    missing: list[Currency] = field(default_factory=list)
    missing_hours: int = 0
    sources: set[str] = field(default_factory=set)
    failures: list[str] = field(default_factory=list)


class Prices:
    """The sources, asked in their order: the next one only for what the one before does not have."""

    def __init__(self, sources: Sequence[PriceSource]) -> None:
        self._sources = sources
        self._fill_again_at = 0.0

    def round(self, connection: Connection, since: datetime | None) -> PricesSummary:
        """Take in the price of now of every currency, and with `since` the hours from then on that have none.

        Hours before `since` are filled too where a trade lacks its dollar value.
        """
        summary = PricesSummary()
        rows = self._latest(summary)
        if since is not None:
            rows += self._past(missing_hours(connection, since), summary)
        summary.changed = take_in(connection, rows)
        now = datetime.now(UTC)
        told = [chain.name for chain in CHAINS.values() if chain.currency not in summary.missing]
        beat(connection, "prices", dict.fromkeys(told, (0, 0)), now)
        return summary

    def fill(self, connection: Connection, hours: Hours) -> bool:
        """Take in prices of these hours; False if some are still missing that a source may tell later.

        Then nobody is asked for a while: many wallets may need the same, and all would wait.
        """
        if time.monotonic() < self._fill_again_at:
            return False
        summary = PricesSummary()
        take_in(connection, self._past(hours, summary))
        may_come = bool(summary.failures and summary.missing_hours)
        if may_come:
            self._fill_again_at = time.monotonic() + _FILL_PAUSE_SECONDS
        return not may_come

    def _latest(self, summary: PricesSummary) -> list[PriceRow]:
        rows: list[PriceRow] = []
        summary.missing = list(CURRENCIES)
        for source in self._sources:
            try:
                told = source.latest(summary.missing)
            except ProviderFault as fault:
                _note(summary, source, fault)
                continue
            rows += told
            summary.sources |= {source.name for _ in told}
            summary.missing = [c for c in summary.missing if c not in {row.currency for row in told}]
            if not summary.missing:
                break
        return rows

    def _past(self, hours: Hours, summary: PricesSummary) -> list[PriceRow]:
        rows: list[PriceRow] = []
        for currency, wanted in hours.items():
            missing = wanted
            for source in self._sources:
                if not missing:
                    break
                try:
                    told = source.past(currency, missing)
                except ProviderFault as fault:
                    if not fault.provider_works:
                        _note(summary, source, fault)
                    continue
                rows += told
                summary.sources |= {source.name for _ in told}
                filled = {hour_of(row.priced_at) for row in told}
                missing = [hour for hour in missing if hour not in filled]
            summary.missing_hours += len(missing)
        return rows


def missing_hours(connection: Connection, since: datetime) -> Hours:
    """The hours from `since` on, and those of trades without a dollar value, that have no price."""
    parameters = {"currencies": list(CURRENCIES), "since": since, "now": datetime.now(UTC)}
    hours: dict[Currency, list[datetime]] = {}
    for row in connection.execute(_MISSING_HOURS, parameters):
        hours.setdefault(row["currency"], []).append(row["hour"].astimezone(UTC))
    return hours


def take_in(connection: Connection, rows: Sequence[PriceRow]) -> int:
    """Import the prices; how many are new or changed. One that cannot be a price is left out."""

    def records() -> Iterator[Record[PriceRow]]:
        yield from ((number, b"", row) for number, row in enumerate(rows, 1))

    def reject(number: int, line: bytes, fault: BadRow) -> None:
        log.warning("a price of %s was left out: %s", rows[number - 1].currency, fault)

    return import_prices(connection, records(), reject).changed if rows else 0


def _note(summary: PricesSummary, source: PriceSource, fault: ProviderFault) -> None:
    summary.failures.append(f"{source.name} {fault.outcome}")
    log.warning("prices: %s failed: %s %s", source.name, fault.outcome, fault.detail)
