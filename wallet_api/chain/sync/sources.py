"""Build the sources of trades and prices from the settings, each with its rate limit."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType

from wallet_api.base.chains import CHAINS
from wallet_api.chain.decoding.swaps import TrackedWallet
from wallet_api.chain.providers.fetch import SILENCE, Fetcher, Limits
from wallet_api.chain.providers.jsonrpc import Node
from wallet_api.chain.providers.markets.dexscreener import dexscreener
from wallet_api.chain.providers.markets.geckoterminal import geckoterminal
from wallet_api.chain.providers.markets.jupiter import jupiter
from wallet_api.chain.providers.markets.source import MarketSource
from wallet_api.chain.providers.metadata.evm import EvmTokens
from wallet_api.chain.providers.metadata.faces import ReadFaces
from wallet_api.chain.providers.metadata.solana import SolanaTokens
from wallet_api.chain.providers.pace import Pace
from wallet_api.chain.providers.prices.binance import binance
from wallet_api.chain.providers.prices.coingecko import coingecko, refuse_coingecko
from wallet_api.chain.providers.trades.evm_rpc import EvmRpcTrades
from wallet_api.chain.providers.trades.moralis import MoralisTrades
from wallet_api.chain.providers.trades.solana_rpc import SolanaRpcTrades
from wallet_api.chain.providers.trades.solana_stream import SolanaStream
from wallet_api.chain.providers.trades.source import Chunk, Notice, TradeSource
from wallet_api.chain.sync.prices import Prices
from wallet_api.settings import Settings, SettingsError

# Longer than for balances, since a page of a hundred swaps may take long.
_PAGE_SECONDS = 90.0
_TRADE_TRIES = 4
_PRICE_TRIES = 2
_BINANCE_REQUESTS_PER_SECOND = 5.0
# A single wallet that always fails must not open the breaker; the round detects a provider that is down, and
# pauses. Faults with a limit of their own, such as a ban, open it for the time that the provider names.
_NO_BREAKER = 2**31
NOTICE_THREADS = 4
"""The threads that read what a node has notified of, beside those that read wallets."""
# A websocket without a new slot for so many FOLLOW_SECONDS counts as lost.
_SILENT_PERIODS = 10


@dataclass(frozen=True, slots=True)
class Provider:
    """A source of trades, the chains that it supplies, its pace, and the settings of its key and its URL.

    `methods` counts the calls of a node. `stream` makes what notifies of new transactions, and `read_notice`
    reads one, if the node can.
    """

    source: TradeSource
    chains: Sequence[str]
    pace: Pace
    key_setting: str
    url_setting: str
    methods: Counter[str] = field(default_factory=Counter)
    stream: Callable[[Callable[[Notice], None]], SolanaStream] | None = field(default=None, repr=False)
    read_notice: Callable[[TrackedWallet, Notice], Chunk] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class _TradesProvider:
    """A word of TRADES_PROVIDERS: what makes its source, its required setting, and what is said without it.

    Of a provider that `is_shared` one source supplies all chains; it is that of chains without a setting.
    """

    make: Callable[[Settings, Limits, Sequence[str], ExitStack], Provider]
    required: Callable[[Settings, str], str | None]
    missing: str
    is_shared: bool = False


def supplied_chains(settings: Settings, chains: Sequence[str] = ()) -> list[list[str]]:
    """Return the chains that a provider supplies together: those of Moralis, or that of a node.

    Without arguments, these are all configured chains. Raise SettingsError if no provider is configured at
    all, or for one of the given chains.
    """
    groups: dict[str, list[str]] = {}
    why = None
    for chain in chains or CHAINS:
        provider = _provider(settings, chain)
        missing = provider.missing.format(CHAIN=chain.upper())
        if provider.required(settings, chain) is not None:
            groups.setdefault("" if provider.is_shared else chain, []).append(chain)
        elif chains or not provider.is_shared:
            raise SettingsError(missing)
        else:
            why = missing
    if not groups:
        raise SettingsError(why)
    return list(groups.values())


def _provider(settings: Settings, chain: str) -> _TradesProvider:
    name = settings.chain(chain).trades_provider
    if name not in _PROVIDERS:
        raise SettingsError(f"{chain.upper()}_TRADES_PROVIDER={name}: no trades are read from {name}")
    return _PROVIDERS[name]


def trade_limits(settings: Settings) -> Limits:
    """Return the limits of the requests for trades."""
    page_seconds = max(_PAGE_SECONDS, settings.holdings_fetch_seconds)
    return replace(
        Limits.from_settings(settings),
        silence_seconds=page_seconds * SILENCE,
        total_seconds=page_seconds,
        tries=_TRADE_TRIES,
        connections=settings.sync_threads + NOTICE_THREADS,
        breaker_failures=_NO_BREAKER,
        breaker_seconds=0.0,
    )


@contextmanager
def trade_providers(settings: Settings, chains: Sequence[str] = ()) -> Iterator[list[Provider]]:
    """Yield the providers of these chains, or of all. Raise SettingsError as supplied_chains()."""
    limits = trade_limits(settings)
    with ExitStack() as stack:
        providers = []
        for names in supplied_chains(settings, chains):
            providers.append(_provider(settings, names[0]).make(settings, limits, names, stack))
        yield providers


def _moralis(settings: Settings, limits: Limits, chains: Sequence[str], stack: ExitStack) -> Provider:
    pace = Pace(settings.sync_requests_per_second, settings.holdings_backoff_seconds)
    fetcher = Fetcher("moralis", limits, pace=pace)
    fetcher.session.headers["X-API-Key"] = str(settings.moralis_api_key)
    stack.callback(fetcher.close)
    urls = {"MORALIS_EVM_URL" if CHAINS[chain].is_evm else "MORALIS_SOLANA_URL" for chain in chains}
    source = MoralisTrades(settings, fetcher)
    return Provider(source, chains, pace, "MORALIS_API_KEY", ", ".join(sorted(urls)))


def node_url(settings: Settings, chain: str) -> str:
    """Return the URL of the node of a chain. Raise SettingsError if there is none."""
    url = settings.chain(chain).rpc_url
    if url is None:
        raise SettingsError(f"{chain.upper()}_RPC_URL is not set; it names the node of {chain}")
    return url


def _node_of(settings: Settings, limits: Limits, chain: str, stack: ExitStack) -> tuple[Node, Pace]:
    pace = Pace(settings.sync_rpc_requests_per_second, settings.holdings_backoff_seconds)
    node = Node(node_url(settings, chain), limits, pace=pace)
    stack.callback(node.fetcher.close)
    return node, pace


def _node(settings: Settings, limits: Limits, chains: Sequence[str], stack: ExitStack) -> Provider:
    (chain,) = chains
    node, pace = _node_of(settings, limits, chain, stack)
    setting, own = f"{chain.upper()}_RPC_URL", settings.chain(chain)
    if not CHAINS[chain].is_evm:
        stream = partial(
            SolanaStream,
            own.ws_url or str(own.rpc_url).replace("http", "ws", 1),
            settings.follow_subscriptions,
            settings.follow_seconds * _SILENT_PERIODS,
        )
        trades = SolanaRpcTrades(node)
        return Provider(
            trades, chains, pace, setting, setting, node.methods, stream, read_notice=trades.read_notice
        )
    source = EvmRpcTrades(CHAINS[chain], node, own.confirm_seconds)
    return Provider(source, chains, pace, setting, setting, node.methods)


_PROVIDERS: Mapping[str, _TradesProvider] = MappingProxyType(
    {
        "moralis": _TradesProvider(
            _moralis,
            lambda settings, _: settings.moralis_api_key,
            "MORALIS_API_KEY is not set; trades are read from Moralis (https://moralis.com)",
            is_shared=True,
        ),
        "rpc": _TradesProvider(
            _node,
            lambda settings, chain: settings.chain(chain).rpc_url,
            "{CHAIN}_RPC_URL is not set; with {CHAIN}_TRADES_PROVIDER=rpc it names the node",
        ),
    }
)


@contextmanager
def face_sources(
    settings: Settings, chains: Sequence[str] = ()
) -> Iterator[tuple[dict[str, ReadFaces], list[Pace]]]:
    """Yield what reads faces from the nodes of these chains, or of all that have one, with the pace of each.

    Raise SettingsError if none has one, or one of the given chains.
    """
    limits = replace(Limits.from_settings(settings), tries=_TRADE_TRIES, breaker_failures=_NO_BREAKER)
    with ExitStack() as stack:
        sources: dict[str, ReadFaces] = {}
        paces = []
        for chain in chains or [chain for chain in CHAINS if settings.chain(chain).rpc_url is not None]:
            node, pace = _node_of(settings, limits, chain, stack)
            paces.append(pace)
            tokens = EvmTokens(CHAINS[chain], node) if CHAINS[chain].is_evm else SolanaTokens(node)
            sources[chain] = tokens.read
        if not sources:
            raise SettingsError("no node is configured (SOLANA_RPC_URL, ETH_RPC_URL …)")
        yield sources, paces


@contextmanager
def price_sources(settings: Settings) -> Iterator[tuple[Prices, list[Pace]]]:
    """Yield CoinGecko, and Binance for what CoinGecko lacks, with the pace of each."""
    limits = replace(Limits.from_settings(settings), tries=_PRICE_TRIES, breaker_failures=_NO_BREAKER)
    hold = settings.holdings_backoff_seconds
    paces = [
        Pace(settings.coingecko_requests_per_minute / 60, hold),
        Pace(_BINANCE_REQUESTS_PER_SECOND, hold),
    ]
    first = Fetcher("coingecko", limits, refuse=refuse_coingecko, pace=paces[0])
    second = Fetcher("binance", limits, pace=paces[1])
    with closing(first), closing(second):
        yield Prices((coingecko(settings, first), binance(settings, second))), paces


@contextmanager
def market_source(settings: Settings) -> Iterator[tuple[MarketSource | None, Sequence[Pace]]]:
    """Yield the provider of market prices, and its paces; None if none is configured."""
    name = settings.market_prices_provider
    if name is None:
        yield None, ()
        return
    limits = replace(Limits.from_settings(settings), tries=_PRICE_TRIES)
    make, per_minute = {
        "dexscreener": (dexscreener, settings.dexscreener_requests_per_minute),
        "geckoterminal": (geckoterminal, settings.geckoterminal_requests_per_minute),
        "jupiter": (jupiter, settings.jupiter_requests_per_minute),
    }[name]
    pace = Pace(per_minute / 60, settings.holdings_backoff_seconds)
    fetcher = Fetcher(name, limits, pace=pace)
    with closing(fetcher):
        yield make(settings, fetcher), [pace]
