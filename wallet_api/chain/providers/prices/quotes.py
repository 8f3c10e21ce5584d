"""The interface of all sources of native prices, and helpers for the hours that they request."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

from wallet_api.base.coins import Currency
from wallet_api.chain.providers.fetch import Fetch, Fetcher

HOUR = timedelta(hours=1)


class Quote(NamedTuple):
    """The price of a native coin in USD at a moment."""

    currency: Currency
    usd: Decimal
    priced_at: datetime


@dataclass(frozen=True, slots=True)
class PriceSource:
    """A provider of the dollar prices of SOL, BNB and ETH. A request has prices of at most `longest_span`.

    `read_latest` and `read_past` request them from its `url`: the current ones, and those of a span.
    """

    name: str
    longest_span: timedelta
    fetcher: Fetcher
    url: str
    read_latest: Callable[[Fetch, str, Sequence[Currency]], list[Quote]]
    read_past: Callable[[Fetch, str, Currency, datetime, datetime], Iterable[Quote]]

    def latest(self, currencies: Sequence[Currency]) -> list[Quote]:
        """Return the current prices of the currencies, without those it lacks. Raise ProviderFault."""
        with self.fetcher.begin("native") as fetch:
            return self.read_latest(fetch, self.url, currencies)

    def past(self, currency: Currency, hours: Sequence[datetime]) -> list[Quote]:
        """Return prices within hours, which are given by their starts, in order. Raise ProviderFault."""
        wanted = set(hours)
        quotes: list[Quote] = []
        for start, end in _spans(hours, self.longest_span):
            with self.fetcher.begin("native") as fetch:
                read = self.read_past(fetch, self.url, currency, start, end)
            quotes += (quote for quote in read if hour_of(quote.priced_at) in wanted)
        return quotes


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
