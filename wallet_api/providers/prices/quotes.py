"""The interface of all sources of native prices, and helpers for the hours that they request."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Protocol

from wallet_api.chains import Currency
from wallet_api.ledger.rows import PriceRow
from wallet_api.providers.faults import Malformed

HOUR = timedelta(hours=1)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class PriceSource(Protocol):
    """A provider of the dollar prices of SOL, BNB and ETH."""

    name: str

    def latest(self, currencies: Sequence[Currency]) -> list[PriceRow]:
        """Return the current prices of the currencies, without those it lacks. Raise ProviderFault."""

    def past(self, currency: Currency, hours: Sequence[datetime]) -> list[PriceRow]:
        """Return prices within these hours, which are given by their starts. Raise ProviderFault."""

    def close(self) -> None:
        """Close the connections."""


def spans(hours: Sequence[datetime], longest: timedelta) -> Iterator[tuple[datetime, datetime]]:
    """Yield the fewest spans, each of at most `longest`, that cover the hours, which are in order.

    A span may include other hours, since one request with a gap costs less than two.
    """
    start: datetime | None = None
    end = None
    for hour in hours:
        if start is None or hour + HOUR - start > longest:
            if start is not None and end is not None:
                yield start, end
            start = hour
        end = hour + HOUR
    if start is not None and end is not None:
        yield start, end


def hour_of(moment: datetime) -> datetime:
    """Return the start of the hour."""
    return moment.replace(minute=0, second=0, microsecond=0)


def moment_of(milliseconds: int) -> datetime:
    """Return the time for Unix milliseconds. Raise Malformed if it is out of range."""
    try:
        return _EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError as error:
        raise Malformed("a time out of range") from error
