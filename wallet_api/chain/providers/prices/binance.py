"""Binance's public market data: native prices in USDT, which count as US dollars.

https://developers.binance.com/docs/binance-spot-api-docs/rest-api/market-data-endpoints
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import msgspec
import orjson

from wallet_api.base.coins import COINS, Currency
from wallet_api.chain.providers.faults import Malformed
from wallet_api.chain.providers.fetch import Fetch, Fetcher
from wallet_api.chain.providers.prices.quotes import PriceSource, Quote
from wallet_api.chain.providers.replies import Reply, read_as, read_json, reply_time
from wallet_api.settings import Settings

_INTERVAL = "5m"
_ROWS = 1000


class _Ticker(msgspec.Struct):
    symbol: str
    price: Decimal


def binance(settings: Settings, fetcher: Fetcher) -> PriceSource:
    """Return the source of Binance's prices."""
    span = timedelta(minutes=5 * _ROWS)
    return PriceSource("binance", span, fetcher, f"{settings.binance_url}/api/v3", _latest, _past)


def _latest(fetch: Fetch, url: str, currencies: Sequence[Currency]) -> list[Quote]:
    symbols = [COINS[currency].binance_symbol for currency in currencies]
    parameters = {"symbols": orjson.dumps(symbols).decode()}
    tickers = fetch.get(f"{url}/ticker/price", parameters, read_as(list[_Ticker]))
    now = datetime.now(UTC).replace(microsecond=0)
    prices = {ticker.symbol: ticker.price for ticker in tickers}
    return [
        Quote(currency, price, now)
        for currency, symbol in zip(currencies, symbols, strict=True)
        if (price := prices.get(symbol))
    ]


def _past(fetch: Fetch, url: str, currency: Currency, start: datetime, end: datetime) -> Iterable[Quote]:
    """Return the opening prices of candles."""
    parameters = {
        "symbol": COINS[currency].binance_symbol,
        "interval": _INTERVAL,
        "startTime": str(int(start.timestamp()) * 1000),
        "endTime": str(int(end.timestamp()) * 1000 - 1),
        "limit": str(_ROWS),
    }
    candles = fetch.get(f"{url}/klines", parameters, _read_candles)
    return (Quote(currency, price, moment) for moment, price in candles if price)


def _read_candles(reply: Reply) -> list[tuple[datetime, Decimal]]:
    candles = read_json(reply.body, list[list[msgspec.Raw]])
    try:
        return [
            (reply_time(read_json(bytes(row[0]), int) / 1000), read_json(bytes(row[1]), Decimal))
            for row in candles
        ]
    except IndexError as error:
        raise Malformed("a candle without a time or price") from error
