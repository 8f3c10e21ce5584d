"""The interface of all sources of native prices, and helpers for the hours that they request."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import NamedTuple, Protocol

from wallet_api.base.chains import Currency

HOUR = timedelta(hours=1)


class Quote(NamedTuple):
    """The price of a native coin in USD at a moment."""

    currency: Currency
    usd: Decimal
    priced_at: datetime


class PriceSource(Protocol):
    """A provider of the dollar prices of SOL, BNB and ETH. A request has prices of at most `longest_span`."""

    name: str
    longest_span: timedelta

    def latest(self, currencies: Sequence[Currency]) -> list[Quote]:
        """Return the current prices of the currencies, without those it lacks. Raise ProviderFault."""

    def past(self, currency: Currency, start: datetime, end: datetime) -> Iterator[Quote]:
        """Yield the prices of this span. Raise ProviderFault."""


def past_prices(source: PriceSource, currency: Currency, hours: Sequence[datetime]) -> list[Quote]:
    """Return prices within these hours, which are given by their starts, in order. Raise ProviderFault."""
    wanted = set(hours)
    return [
        price
        for start, end in _spans(hours, source.longest_span)
        for price in source.past(currency, start, end)
        if hour_of(price.priced_at) in wanted
    ]


def _spans(hours: Sequence[datetime], longest: timedelta) -> list[tuple[datetime, datetime]]:
    """Return the fewest spans, each of at most `longest`, that cover the hours.

    A span may include other hours, since one request with a gap costs less than two.
    """
    spans: list[tuple[datetime, datetime]] = []
    for hour in hours:
        end = hour + HOUR
        if spans and end - spans[-1][0] <= longest:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((hour, end))
    return spans


def hour_of(moment: datetime) -> datetime:
    """Return the start of the hour."""
    return moment.replace(minute=0, second=0, microsecond=0)
