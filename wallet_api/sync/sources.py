"""Build the sources of trades and prices from the settings, each with its rate limit."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pkgutil import resolve_name

from prometheus_client import CollectorRegistry

from wallet_api.chains import CHAINS
from wallet_api.providers.fetch import SILENCE, Fetcher, Limits
from wallet_api.providers.jsonrpc import Node
from wallet_api.providers.metrics import FetchMetrics
from wallet_api.providers.pace import Pace
from wallet_api.providers.prices.binance import Binance
from wallet_api.providers.prices.coingecko import CoinGecko, refuse_coingecko
from wallet_api.providers.prices.quotes import PriceSource
from wallet_api.providers.trades.moralis import MoralisTrades
from wallet_api.providers.trades.swaps import TradeSource
from wallet_api.settings import Settings, SettingsError
from wallet_api.sync.prices import Prices

# Longer than for balances, since a page of a hundred swaps may take long.
_PAGE_SECONDS = 90.0
_TRADE_TRIES = 4
_PRICE_TRIES = 2
_BINANCE_REQUESTS_PER_SECOND = 5.0
# A single wallet that always fails must not open the breaker; the round detects a provider that is down, and
# pauses. Faults with a limit of their own, such as a ban, open it for the time that the provider names.
_NO_BREAKER = 2**31


@dataclass(frozen=True, slots=True)
class Provider:
    """A source of trades, the chains that it supplies, its pace, and the setting that contains its key."""

    source: TradeSource
    chains: Sequence[str]
    pace: Pace
    key_setting: str


def chains_by_provider(settings: Settings, chains: Sequence[str] = ()) -> dict[str, list[str]]:
    """Return which provider supplies which of the chains; without arguments, of all configured chains.

    Raise SettingsError if no provider is configured at all, or for one of the given chains.
    """
    providers = dict.fromkeys(chains or CHAINS, "moralis")
    if "solana" in providers:
        providers["solana"] = settings.solana_trades_provider
    missing = {}
    if settings.moralis_api_key is None:
        missing["moralis"] = "MORALIS_API_KEY is not set; trades are read from Moralis (https://moralis.com)"
    if settings.solana_rpc_url is None:
        missing["rpc"] = "SOLANA_RPC_URL is not set; with SOLANA_TRADES_PROVIDER=rpc it names the node"
    supplied: dict[str, list[str]] = {}
    for chain, provider in providers.items():
        if provider not in missing:
            supplied.setdefault(provider, []).append(chain)
        elif chains or provider == "rpc":
            raise SettingsError(missing[provider])
    if not supplied:
        raise SettingsError(missing["moralis"])
    return supplied


@contextmanager
def trade_providers(settings: Settings, chains: Sequence[str] = ()) -> Iterator[list[Provider]]:
    """Yield the providers of these chains, or of all. Raise SettingsError as chains_by_provider()."""
    page_seconds = max(_PAGE_SECONDS, settings.holdings_fetch_seconds)
    limits = replace(
        Limits.of(settings),
        silence_seconds=page_seconds * SILENCE,
        total_seconds=page_seconds,
        tries=_TRADE_TRIES,
        connections=settings.sync_threads,
        breaker_failures=_NO_BREAKER,
        breaker_seconds=0.0,
    )
    with ExitStack() as stack:
        providers = []
        for name, names in chains_by_provider(settings, chains).items():
            make = _moralis if name == "moralis" else _solana_rpc
            providers.append(make(settings, limits, names))
            stack.callback(providers[-1].source.close)
        yield providers


def _moralis(settings: Settings, limits: Limits, chains: Sequence[str]) -> Provider:
    pace = Pace(settings.sync_requests_per_second, settings.holdings_backoff_seconds)
    metrics = FetchMetrics(CollectorRegistry())
    headers = {"X-API-Key": str(settings.moralis_api_key)}
    source = MoralisTrades(settings, Fetcher("moralis", limits, metrics, headers, pace=pace))
    return Provider(source, chains, pace, "MORALIS_API_KEY")


def _solana_rpc(settings: Settings, limits: Limits, chains: Sequence[str]) -> Provider:
    pace = Pace(settings.sync_rpc_requests_per_second, settings.holdings_backoff_seconds)
    node = Node(str(settings.solana_rpc_url), limits, FetchMetrics(CollectorRegistry()), pace)
    # Imported only if it is selected, since its library for addresses needs much memory.
    make = resolve_name("wallet_api.providers.trades.solana_rpc:SolanaRpcTrades")
    return Provider(make(node), chains, pace, "SOLANA_RPC_URL")


@contextmanager
def price_sources(settings: Settings) -> Iterator[tuple[Prices, list[Pace]]]:
    """Yield CoinGecko, and Binance for what CoinGecko lacks, with the pace of each."""
    limits = replace(Limits.of(settings), tries=_PRICE_TRIES, breaker_failures=_NO_BREAKER)
    hold = settings.holdings_backoff_seconds
    paces = [
        Pace(settings.coingecko_requests_per_minute / 60, hold),
        Pace(_BINANCE_REQUESTS_PER_SECOND, hold),
    ]
    metrics = FetchMetrics(CollectorRegistry())
    gecko = Fetcher("coingecko", limits, metrics, refuse=refuse_coingecko, pace=paces[0])
    binance = Fetcher("binance", limits, metrics, pace=paces[1])
    sources: tuple[PriceSource, ...] = (CoinGecko(settings, gecko), Binance(settings, binance))
    with ExitStack() as stack:
        for source in sources:
            stack.callback(source.close)
        yield Prices(sources), paces
