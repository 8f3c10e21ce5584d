"""CoinGecko: native prices in US dollars, current and past.

https://docs.coingecko.com/reference/simple-price and
https://docs.coingecko.com/reference/coins-id-market-chart-range.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import msgspec

from wallet_api.base.coins import COINS, Currency
from wallet_api.chain.providers.faults import ProviderFault, Rejected
from wallet_api.chain.providers.fetch import Fetch, Fetcher
from wallet_api.chain.providers.prices.quotes import PriceSource, Quote
from wallet_api.chain.providers.replies import Reply, read_json, read_success, refuse, reply_time
from wallet_api.settings import Settings

# CoinGecko updates prices about every minute; an older one is not the current price.
_STALE = timedelta(minutes=15)
# "Your request exceeds the allowed time range": the public plans offer the last 365 days.
_TOO_LONG_AGO = '"error_code":10012'


class _Price(msgspec.Struct):
    usd: Decimal | None = None
    last_updated_at: int | None = None


class _Chart(msgspec.Struct):
    prices: list[tuple[int, Decimal | None]]


def coingecko(settings: Settings, fetcher: Fetcher) -> PriceSource:
    """Return the source of CoinGecko's prices."""
    url = settings.coingecko_url
    if settings.coingecko_api_key is not None:
        plan = "pro" if "://pro-api." in url else "demo"
        fetcher.session.headers[f"x-cg-{plan}-api-key"] = settings.coingecko_api_key
    # For up to 90 days prices are hourly, for more they are daily.
    return PriceSource("coingecko", timedelta(days=89), fetcher, url, _latest, _past)


def _latest(fetch: Fetch, url: str, currencies: Sequence[Currency]) -> list[Quote]:
    parameters = {
        "ids": ",".join(COINS[currency].coingecko_id for currency in currencies),
        "vs_currencies": "usd",
        "include_last_updated_at": "true",
        "precision": "full",
    }
    prices = fetch.get(f"{url}/simple/price", parameters, _read_prices)
    oldest = datetime.now(UTC) - _STALE
    rows = []
    for currency in currencies:
        # The response leaves out unknown coins.
        price = prices.get(COINS[currency].coingecko_id, _Price())
        if price.usd and price.last_updated_at is not None:
            moment = reply_time(price.last_updated_at)
            if moment >= oldest:
                rows.append(Quote(currency, price.usd, moment))
    return rows


def _past(fetch: Fetch, url: str, currency: Currency, start: datetime, end: datetime) -> Iterable[Quote]:
    parameters = {
        "vs_currency": "usd",
        "from": str(int(start.timestamp())),
        "to": str(int(end.timestamp())),
        "precision": "full",
    }
    url = f"{url}/coins/{COINS[currency].coingecko_id}/market_chart/range"
    chart = fetch.get(url, parameters, _read_chart)
    return (
        Quote(currency, usd, reply_time(milliseconds / 1000)) for milliseconds, usd in chart.prices if usd
    )


def refuse_coingecko(reply: Reply) -> ProviderFault:
    """Return the fault that an error status means."""
    if reply.status == 401 and _TOO_LONG_AGO in reply.text.replace(" ", ""):
        return Rejected("earlier than this plan allows")
    return refuse(reply)


def _read_prices(reply: Reply) -> dict[str, _Price]:
    return {coin: read_json(bytes(price), _Price) for coin, price in read_success(reply.body).items()}


def _read_chart(reply: Reply) -> _Chart:
    read_success(reply.body)
    return read_json(reply.body, _Chart)
