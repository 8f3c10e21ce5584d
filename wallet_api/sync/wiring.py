"""The sources that the settings name, each asked within its limit."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from prometheus_client import CollectorRegistry

from wallet_api.holdings.fetch import Fetcher, Limits
from wallet_api.holdings.metrics import Metrics
from wallet_api.settings import Settings, SettingsError
from wallet_api.sync.binance import Binance
from wallet_api.sync.coingecko import CoinGecko, refuse_coingecko
from wallet_api.sync.moralis import MoralisTrades
from wallet_api.sync.pace import Pace, at_pace
from wallet_api.sync.prices import Prices
from wallet_api.sync.quotes import PriceSource
from wallet_api.sync.swaps import TradeSource

# A page of a hundred swaps may take long; all of its tries together may not.
_PAGE_SILENCE_SECONDS = 30.0
_PAGE_SECONDS = 90.0
_TRADE_TRIES = 4
_PRICE_TRIES = 2
_BINANCE_CALLS_PER_SECOND = 5.0


@contextmanager
def trade_source(settings: Settings) -> Iterator[tuple[TradeSource, Pace]]:
    """The source of trades, and the pace at which it is asked. Raises SettingsError without a key."""
    if settings.moralis_api_key is None:
        raise SettingsError("MORALIS_API_KEY is not set; trades are read from Moralis (https://moralis.com)")
    pace = Pace(settings.sync_requests_per_second, settings.holdings_backoff_seconds)
    limits = replace(
        Limits.of(settings),
        silence_seconds=max(_PAGE_SILENCE_SECONDS, settings.holdings_read_seconds),
        total_seconds=max(_PAGE_SECONDS, settings.holdings_fetch_seconds),
        tries=_TRADE_TRIES,
        connections=settings.sync_threads,
    )
    source = MoralisTrades(
        settings, _fetcher("moralis", limits, {"X-API-Key": settings.moralis_api_key}, pace)
    )
    try:
        yield source, pace
    finally:
        source.close()


@contextmanager
def price_sources(settings: Settings) -> Iterator[tuple[Prices, Mapping[str, Pace]]]:
    """CoinGecko, and Binance for what that does not have, with the pace of each."""
    limits = replace(Limits.of(settings), tries=_PRICE_TRIES)
    hold = settings.holdings_backoff_seconds
    paces = {
        "coingecko": Pace(settings.coingecko_requests_per_minute / 60, hold),
        "binance": Pace(_BINANCE_CALLS_PER_SECOND, hold),
    }
    gecko = _fetcher("coingecko", limits, {}, paces["coingecko"])
    gecko.refuse = refuse_coingecko
    sources: tuple[PriceSource, ...] = (
        CoinGecko(settings, gecko),
        Binance(settings, _fetcher("binance", limits, {}, paces["binance"])),
    )
    with ExitStack() as stack:
        for source in sources:
            stack.callback(source.close)
        yield Prices(sources), paces


def _fetcher(provider: str, limits: Limits, headers: Mapping[str, str], pace: Pace) -> Fetcher:
    # One wallet that always fails says nothing about the provider: the round itself notices when it is down.
    # Only what a single refusal tells (a ban, a quota used up) opens the breaker.
    limits = replace(limits, breaker_failures=2**31)
    return at_pace(Fetcher(provider, limits, Metrics(CollectorRegistry()), headers), pace)
