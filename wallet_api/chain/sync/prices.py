"""Import native prices into the ledger: the current ones, and those of past hours without one."""

import logging
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial

from wallet_api.base.chains import CHAINS
from wallet_api.base.coins import CURRENCIES, Currency
from wallet_api.base.forms import BadRow
from wallet_api.chain.providers.faults import Barred, ProviderFault
from wallet_api.chain.providers.prices.quotes import PriceSource, Quote, hour_of
from wallet_api.chain.sync import report
from wallet_api.chain.sync.summaries import PricesSummary
from wallet_api.database import Connection, load_sql
from wallet_api.ledger.files.rows import PriceRow
from wallet_api.ledger.imports import import_prices

log = logging.getLogger(__name__)

_FILL_PAUSE_SECONDS = 60.0
# A past price that no provider has now will not be there a minute later either.
_PAST_SECONDS = 3600.0
_FAILED_PAST_SECONDS = 300.0
_MISSING_HOURS = load_sql(__package__, "missing_hours")

Hours = Mapping[Currency, Sequence[datetime]]


class Prices:
    """The sources in their order; each one is used only for what those before it do not have."""

    def __init__(self, sources: Sequence[PriceSource]) -> None:
        self._sources = sources
        self._fill_again_at = 0.0
        self._past_again_at = 0.0

    def round(self, connection: Connection, since: datetime) -> PricesSummary:
        """Import the current price of every currency and, once an hour, prices for past hours without one.

        These are the hours since `since`, and earlier ones in which a trade has no dollar value.
        """
        summary = PricesSummary()
        rows = self._latest(summary)
        now = time.monotonic()
        if now >= self._past_again_at:
            rows += self._past(_missing_hours(connection, since), summary)
            self._past_again_at = now + (_FAILED_PAST_SECONDS if summary.failures else _PAST_SECONDS)
        summary.changed = _import(connection, rows)
        priced = [chain.name for chain in CHAINS.values() if chain.currency not in summary.missing]
        ended = partial(report.round_facts, sync="prices", succeeded_at=datetime.now(UTC))
        report.add(connection, (fact for chain in priced for fact in ended(chain)))
        return summary

    def fill(self, connection: Connection, hours: Hours) -> bool:
        """Import prices of these hours. Return False if a source failed and some are still missing.

        Then no source is used for a while, since many wallets may need the same prices, and each would wait.
        """
        if time.monotonic() < self._fill_again_at:
            return False
        summary = PricesSummary()
        _import(connection, self._past(hours, summary))
        incomplete = bool(summary.failures and summary.missing_hours)
        if incomplete:
            self._fill_again_at = time.monotonic() + _FILL_PAUSE_SECONDS
        return not incomplete

    def _latest(self, summary: PricesSummary) -> list[Quote]:
        rows: list[Quote] = []
        summary.missing = list(CURRENCIES)
        for source in self._sources:
            try:
                latest = source.latest(summary.missing)
            except ProviderFault as fault:
                self._note(summary, source, fault)
                continue
            rows += latest
            summary.sources = sorted({*summary.sources, *(source.name for _ in latest)})
            summary.missing = [c for c in summary.missing if c not in {row.currency for row in latest}]
            if not summary.missing:
                break
        return rows

    def _past(self, hours: Hours, summary: PricesSummary) -> list[Quote]:
        rows: list[Quote] = []
        for currency, wanted in hours.items():
            missing = wanted
            for source in self._sources:
                if not missing:
                    break
                try:
                    past = source.past(currency, missing)
                except ProviderFault as fault:
                    if not fault.provider_works:
                        self._note(summary, source, fault)
                    continue
                rows += past
                summary.sources = sorted({*summary.sources, *(source.name for _ in past)})
                filled = {hour_of(row.priced_at) for row in past}
                missing = [hour for hour in missing if hour not in filled]
            summary.missing_hours += len(missing)
        return rows

    def _note(self, summary: PricesSummary, source: PriceSource, fault: ProviderFault) -> None:
        failure = f"{source.name} {fault.outcome}"
        # Each currency may have the same failure.
        if failure not in summary.failures:
            log.warning("prices: %s failed: %s %s", source.name, fault.outcome, fault.detail)
        summary.failures.append(failure)
        if isinstance(fault, Barred):
            # No later request would get another response.
            self._sources = [other for other in self._sources if other is not source]


def _missing_hours(connection: Connection, since: datetime) -> Hours:
    parameters = {"currencies": list(CURRENCIES), "since": since, "now": datetime.now(UTC)}
    hours: dict[Currency, list[datetime]] = {}
    for row in connection.execute(_MISSING_HOURS, parameters):
        hours.setdefault(row["currency"], []).append(row["hour"].astimezone(UTC))
    return hours


def _import(connection: Connection, quotes: Sequence[Quote]) -> int:
    """Import the prices and return how many are new or changed. Invalid prices are rejected."""

    def reject(number: int, line: bytes, fault: BadRow) -> None:
        log.warning("a price of %s was rejected: %s", quotes[number].currency, fault)

    records = ((number, b"", PriceRow(*quote)) for number, quote in enumerate(quotes))
    return import_prices(connection, records, reject).changed if quotes else 0
