"""The settings: one field per environment variable. All invalid values are reported together."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, dataclass, field, fields
from datetime import UTC, datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from wallet_api.base.chains import CHAINS, Chain
from wallet_api.base.errors import CommandError
from wallet_api.settings import readers

# The one of the demo speaks as Alchemy does.
PROVIDERS = ("moralis", "rpc", "alchemy", "demo")
TRADES_PROVIDERS = ("moralis", "rpc")
MARKET_PROVIDERS = ("dexscreener", "geckoterminal", "jupiter")


class SettingsError(CommandError):
    """Some environment variables are invalid."""


def _setting(
    default: Any,
    read: Callable[[str], Any] = str,
    *,
    secret: bool = False,
    of: Callable[[Chain], bool] = lambda chain: True,
) -> Any:
    """Return a field whose environment variable is converted by `read`. A `secret` is not in the repr.

    Of the settings of a chain, `of` returns whether that chain has it.
    """
    return field(default=default, repr=not secret, metadata={"read": read, "of": of})


@dataclass(frozen=True)
class ChainSettings:
    """The settings of one chain. The environment variable of a field is {CHAIN}_{FIELD}, in capitals.

    What is read of Solana is final, so it has no `confirm_seconds`; it alone has a `ws_url`.
    """

    provider: str = _setting("moralis", readers.choice(*PROVIDERS))
    trades_provider: str = _setting("moralis", readers.choice(*TRADES_PROVIDERS))
    confirm_seconds: float = _setting(20.0, readers.number, of=lambda chain: chain.is_evm)
    # URLs of nodes often contain a key, so they are secrets too.
    rpc_url: str | None = _setting(None, readers.url, secret=True)
    ws_url: str | None = _setting(None, readers.websocket, of=lambda chain: not chain.is_evm, secret=True)


@dataclass(frozen=True)
class Settings:
    """The settings of a process. The environment variable of a field has its name in capitals.

    Durations are in seconds; URLs have no trailing slash; None means unset.
    """

    database_url: str | None = _setting(None, readers.postgresql, secret=True)
    database_read_url: str | None = _setting(None, readers.postgresql, secret=True)
    statement_timeout_seconds: float = _setting(10.0, readers.positive)
    valkey_url: str | None = _setting(None, readers.valkey, secret=True)
    wallet_api_home: str = _setting("./var")

    default_rate: str = _setting("300/minute", readers.rate)
    credit_cost: int = _setting(1, readers.whole(1))
    # The names of operations with their costs.
    credit_costs: tuple[tuple[str, int], ...] | None = _setting(None, readers.costs)
    # Shown to callers.
    operator_name: str | None = _setting(None, readers.short_text)
    operator_contact: str | None = _setting(None, readers.contact)
    operator_terms_url: str | None = _setting(None, readers.url)
    key_cache_seconds: float = _setting(5.0, readers.number)

    answer_ttl_seconds: float = _setting(1.0, readers.number)
    leaderboard_ttl_seconds: float = _setting(30.0, readers.number)

    token_price_max_age_seconds: float = _setting(86_400.0, readers.age)
    token_price_min_value_usd: Decimal = _setting(Decimal(1), readers.decimal)  # noqa: RUF009
    native_price_max_age_seconds: float = _setting(21_600.0, readers.age)
    market_price_min_liquidity_usd: Decimal = _setting(Decimal(1000), readers.decimal)  # noqa: RUF009

    token_denylist: str | None = _setting(None)

    history_type: str = _setting("required", readers.choice("required", "detected"))

    holdings_ttl_seconds: float = _setting(60.0, readers.number)
    holdings_wait_seconds: float = _setting(2.0, readers.number)
    holdings_keep_spam: bool = _setting(False, readers.switch)
    holdings_failure_seconds: float = _setting(10.0, readers.positive)
    holdings_fetch_seconds: float = _setting(30.0, readers.positive)
    holdings_backoff_seconds: float = _setting(1.0, readers.number)
    holdings_breaker_failures: int = _setting(8, readers.whole(1))
    holdings_breaker_seconds: float = _setting(30.0, readers.positive)
    holdings_cache_bytes: int = _setting(32 * 1024 * 1024, readers.whole(1))

    sync_requests_per_second: float = _setting(16.0, readers.positive)
    sync_rpc_requests_per_second: float = _setting(4.0, readers.positive)
    sync_threads: int = _setting(8, readers.whole(1))
    sync_overlap_seconds: float = _setting(3600.0, readers.number)
    sync_trades_seconds: float = _setting(300.0, readers.positive)
    follow_seconds: float = _setting(3.0, readers.positive)
    follow_subscriptions: int = _setting(300, readers.whole(0))

    chains: Mapping[str, ChainSettings] = field(
        default_factory=lambda: MappingProxyType({name: ChainSettings() for name in CHAINS})
    )

    moralis_api_key: str | None = _setting(None, secret=True)
    moralis_evm_url: str = _setting("https://deep-index.moralis.io/api/v2.2", readers.url)
    moralis_solana_url: str = _setting("https://solana-gateway.moralis.io", readers.url)
    evm_token_list: str | None = _setting(None)
    alchemy_api_key: str | None = _setting(None, secret=True)
    alchemy_url: str = _setting("https://api.g.alchemy.com/data/v1", readers.url)
    coingecko_url: str = _setting("https://api.coingecko.com/api/v3", readers.url)
    coingecko_api_key: str | None = _setting(None, secret=True)
    coingecko_requests_per_minute: float = _setting(20.0, readers.positive)
    binance_url: str = _setting("https://data-api.binance.vision", readers.url)
    market_prices_provider: str | None = _setting(None, readers.choice(*MARKET_PROVIDERS))
    dexscreener_url: str = _setting("https://api.dexscreener.com", readers.url)
    dexscreener_requests_per_minute: float = _setting(240.0, readers.positive)
    geckoterminal_url: str = _setting("https://api.geckoterminal.com/api/v2", readers.url)
    geckoterminal_requests_per_minute: float = _setting(20.0, readers.positive)
    jupiter_url: str = _setting("https://api.jup.ag", readers.url)
    jupiter_api_key: str | None = _setting(None, secret=True)
    jupiter_requests_per_minute: float = _setting(24.0, readers.positive)

    port: int = _setting(8000, readers.port)
    web_concurrency: int = _setting(os.cpu_count() or 1, readers.whole(1))
    web_threads: int = _setting(8, readers.whole(1))
    proxy_hops: int = _setting(0, readers.whole(0))
    page: bool = _setting(True, readers.switch)
    page_image_hosts: str | None = _setting(None, readers.hosts)
    cors_origins: str | None = _setting(None, readers.origins)
    metrics_networks: str = _setting("127.0.0.0/8,::1/128", readers.networks)
    metrics_token: str | None = _setting(None, secret=True)
    log_format: str = _setting("text", readers.choice("text", "json"))
    log_level: str = _setting("info", readers.choice("debug", "info", "warning", "error"))

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> "Settings":
        """Return the settings. Raises SettingsError, which names all invalid variables without values."""
        values: dict[str, Any] = {}
        own: dict[str, dict[str, Any]] = {name: {} for name in CHAINS}
        faults: list[str] = []
        environment = {**_renamed(environment, faults), **environment}
        for variable, chain, setting in _variables():
            text = environment.get(variable, "").strip()
            if not text:
                continue
            try:
                (own[chain] if chain else values)[setting.name] = setting.metadata["read"](text)
            except ValueError as fault:
                faults.append(f"{variable} {fault}")
        if faults:
            raise SettingsError("; ".join(faults))
        chains = {name: ChainSettings(**each) for name, each in own.items()}
        return cls(**values, chains=MappingProxyType(chains))

    def chain(self, name: str) -> ChainSettings:
        """Return the settings of a chain."""
        return self.chains[name]

    @classmethod
    def variables(cls) -> tuple[str, ...]:
        """Return the names of all environment variables, in the order of the fields."""
        return tuple(variable for variable, _, _ in _variables())


def _variables() -> Iterator[tuple[str, str, Field[Any]]]:
    """Yield each variable with its chain, or "", and its field."""
    for setting in fields(Settings):
        if setting.name != "chains":
            yield setting.name.upper(), "", setting
            continue
        for each in fields(ChainSettings):
            for chain in filter(each.metadata["of"], CHAINS.values()):
                yield f"{chain.name}_{each.name}".upper(), chain.name, each


def outdated(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return a sentence for each variable that has an old name, and counts as another, or none."""
    renamed = _renamed(environment, [])
    gone = [f"{name} is no longer used: {why}" for name, why in _GONE.items() if environment.get(name)]
    return gone + [
        f"{old} has another name and another unit now: it counts as {new}={renamed[new]}"
        for old, new in _OLD.items()
        if new in renamed
    ]


# The last blocks of a chain, which were counted before their number in a second changed.
_OLD = {
    f"{name.upper()}_CONFIRMATIONS": f"{name.upper()}_CONFIRM_SECONDS"
    for name, chain in CHAINS.items()
    if chain.is_evm
}

_GONE = {"FOLLOW_FINAL_SECONDS": "trades of Solana are imported once they are final"}


def _renamed(environment: Mapping[str, str], faults: list[str]) -> dict[str, str]:
    """Return the new variables of those with an old name, unless they are set too; add what is wrong."""
    renamed: dict[str, str] = {}
    today = datetime.now(UTC).date()
    for old, new in _OLD.items():
        text = environment.get(old, "").strip()
        if text and not environment.get(new, "").strip():
            try:
                seconds = (
                    readers.whole(0)(text)
                    * CHAINS[old.partition("_")[0].lower()].rules_on(today).block_seconds
                )
            except ValueError as fault:
                faults.append(f"{old} {fault}")
            else:
                renamed[new] = f"{seconds:g}"
    return renamed
