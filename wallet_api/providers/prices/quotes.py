"""What every source of native prices tells, and which hours of a past it is asked for."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Protocol

from wallet_api.chains import Currency
from wallet_api.ledger.rows import PriceRow
from wallet_api.providers.faults import Malformed

HOUR = timedelta(hours=1)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class PriceSource(Protocol):
    """One outside service that tells what SOL, BNB and ETH cost in dollars."""

    name: str

    def latest(self, currencies: Sequence[Currency]) -> list[PriceRow]:
        """A price of now for each of the currencies, as far as it has one. Raises ProviderFault."""

    def past(self, currency: Currency, hours: Sequence[datetime]) -> list[PriceRow]:
        """Prices within these hours, each named by its beginning, in order. Raises ProviderFault."""

    def close(self) -> None:
        """Give back the connections."""


def spans(hours: Sequence[datetime], longest: timedelta) -> Iterator[tuple[datetime, datetime]]:
    """As few spans as cover the hours, which are in order, each from a beginning to an end within `longest`.

    A span goes on over hours that are not asked for: one call over a gap costs less than two calls.
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
    """The beginning of the hour that holds the moment."""
    return moment.replace(minute=0, second=0, microsecond=0)


def moment_of(milliseconds: int) -> datetime:
    """The moment so many milliseconds after 1970 began. Raises Malformed for one beyond all calendars."""
    try:
        return _EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError as error:
        raise Malformed("a time beyond all calendars") from error
