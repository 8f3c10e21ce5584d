"""The settings: one field per environment variable. All invalid values are reported together."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, dataclass, field, fields
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from ipaddress import ip_network
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from wallet_api.chains import CHAINS, Chain

# The one of the demo speaks as Alchemy does.
PROVIDERS = ("moralis", "rpc", "alchemy", "demo")
TRADES_PROVIDERS = ("moralis", "rpc")
MARKET_PROVIDERS = ("dexscreener", "geckoterminal", "jupiter")
# As browsers send it: lower-case, without a path.
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[a-z0-9.-]+(:\d+)?")
_HOST = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+")
_CENTURY_SECONDS = 100 * 365 * 86_400
_COST = re.compile(r"[a-z_]+=[1-9][0-9]{0,8}")
_MAIL = re.compile(r"[A-Za-z0-9._+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+")
_RATE = re.compile(r"[1-9]\d*/(second|minute|hour|day)")


class SettingsError(ValueError):
    """Some environment variables are invalid."""


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise ValueError("must be a number of at least 0")
    return number


def _age(text: str) -> float:
    number = _number(text)
    # Older than any trade, and within the range of times.
    if number > _CENTURY_SECONDS:
        raise ValueError(f"must be a number of at most {_CENTURY_SECONDS} seconds (100 years)")
    return number


def _decimal(text: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal(-1)
    if not (number.is_finite() and number >= 0):
        raise ValueError("must be a number of at least 0")
    return number


def _positive(text: str) -> float:
    number = _number(text)
    if number == 0:
        raise ValueError("must be a number above 0")
    return number


def _whole(least: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not (text.isascii() and text.isdecimal()) or int(text) < least:
            raise ValueError(f"must be a whole number of at least {least}")
        return int(text)

    return read


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise ValueError("must be a port from 1 to 65535")
    return int(text)


def _switch(text: str) -> bool:
    words = {"true": True, "1": True, "yes": True, "on": True}
    words |= {"false": False, "0": False, "no": False, "off": False}
    if text.lower() not in words:
        raise ValueError("must be true or false")
    return words[text.lower()]


def _rate(text: str) -> str:
    rate = text.replace(" ", "")
    if _RATE.fullmatch(rate) is None:
        raise ValueError("must be COUNT/second, /minute, /hour or /day, such as 300/minute")
    return rate


def _costs(text: str) -> tuple[tuple[str, int], ...]:
    parts = [part.strip().partition("=") for part in text.split(",")]
    costs = {name: int(cost) for name, _, cost in parts if _COST.fullmatch(f"{name}={cost}")}
    if len(costs) != len(parts):
        raise ValueError("must be OPERATION=CREDITS with commas between, such as get_tracker=5")
    return tuple(costs.items())


def _one_of(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"must be one of {', '.join(words)}")
        return text

    return read


def _networks(text: str) -> str:
    if text == "none":
        return ""
    try:
        return ",".join(str(ip_network(part.strip())) for part in text.split(","))
    except ValueError:
        raise ValueError(
            "must be none, or networks with commas between, such as 127.0.0.0/8, 10.1.0.0/16"
        ) from None


def _origins(text: str) -> str:
    origins = [part.strip().lower().rstrip("/") for part in text.split(",")]
    if origins != ["*"] and not all(_ORIGIN.fullmatch(origin) for origin in origins):
        raise ValueError("must be * or origins with commas between, such as https://app.example.com")
    return ",".join(origins)


def _hosts(text: str) -> str:
    hosts = [part.strip().lower() for part in text.split(",")]
    if not all(_HOST.fullmatch(host) for host in hosts):
        raise ValueError("must be names of hosts with commas between, such as pbs.twimg.com")
    return ",".join(hosts)


def _url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ValueError("must be an http or https URL")
    return text.rstrip("/")


def _short(text: str) -> str:
    if len(text) > 100 or not text.isprintable():
        raise ValueError("must be at most 100 printable characters")
    return text


def _contact(text: str) -> str:
    if _MAIL.fullmatch(text):
        return text
    try:
        return _url(text)
    except ValueError:
        raise ValueError("must be an address of e-mail, or an http or https URL") from None


def _websocket(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("ws", "wss") or not parts.netloc:
        raise ValueError("must be a ws or wss URL")
    return text


def _postgresql(text: str) -> str:
    if not text.startswith(("postgresql://", "postgres://")):
        raise ValueError("must be a postgresql:// URI")
    return text


def _valkey(text: str) -> str:
    if urlsplit(text).scheme not in ("valkey", "valkeys", "redis", "rediss", "valkey+unix", "redis+unix"):
        raise ValueError("must be a valkey:// or redis:// URL")
    return text


def _setting(default: Any, read: Callable[[str], Any] = str, *, secret: bool = False) -> Any:
    """Return a field whose environment variable is converted by `read`. A `secret` is not in the repr."""
    return field(default=default, repr=not secret, metadata={"read": read})


def _any(chain: Chain) -> bool:
    return True


def _evm(chain: Chain) -> bool:
    return chain.is_evm


def _solana(chain: Chain) -> bool:
    return not chain.is_evm


def _chain_setting(
    default: Any, read: Callable[[str], Any], *, of: Callable[[Chain], bool] = _any, secret: bool = False
) -> Any:
    """Return a field that chains have of which `of` is true."""
    return field(default=default, repr=not secret, metadata={"read": read, "of": of})


@dataclass(frozen=True)
class ChainSettings:
    """The settings of one chain. The environment variable of a field is {CHAIN}_{FIELD}, in capitals.

    What is read of Solana is final, so it has no `confirm_seconds`; it alone has a `ws_url`.
    """

    provider: str = _chain_setting("moralis", _one_of(*PROVIDERS))
    trades_provider: str = _chain_setting("moralis", _one_of(*TRADES_PROVIDERS))
    confirm_seconds: float = _chain_setting(20.0, _number, of=_evm)
    # URLs of nodes often contain a key, so they are secrets too.
    rpc_url: str | None = _chain_setting(None, _url, secret=True)
    ws_url: str | None = _chain_setting(None, _websocket, of=_solana, secret=True)


@dataclass(frozen=True)
class Settings:
    """The settings of a process. The environment variable of a field has its name in capitals.

    Durations are in seconds; URLs have no trailing slash; None means unset.
    """

    database_url: str | None = _setting(None, _postgresql, secret=True)
    database_read_url: str | None = _setting(None, _postgresql, secret=True)
    statement_timeout_seconds: float = _setting(10.0, _positive)
    valkey_url: str | None = _setting(None, _valkey, secret=True)
    wallet_api_home: str = _setting("./var")

    default_rate: str = _setting("300/minute", _rate)
    credit_cost: int = _setting(1, _whole(1))
    # The names of operations with their costs.
    credit_costs: tuple[tuple[str, int], ...] | None = _setting(None, _costs)
    # Shown to callers.
    operator_name: str | None = _setting(None, _short)
    operator_contact: str | None = _setting(None, _contact)
    operator_terms_url: str | None = _setting(None, _url)
    key_cache_seconds: float = _setting(5.0, _number)

    answer_ttl_seconds: float = _setting(1.0, _number)
    leaderboard_ttl_seconds: float = _setting(30.0, _number)

    token_price_max_age_seconds: float = _setting(86_400.0, _age)
    token_price_min_value_usd: Decimal = _setting(Decimal(1), _decimal)  # noqa: RUF009
    native_price_max_age_seconds: float = _setting(21_600.0, _age)
    market_price_min_liquidity_usd: Decimal = _setting(Decimal(1000), _decimal)  # noqa: RUF009

    token_denylist: str | None = _setting(None)

    history_type: str = _setting("required", _one_of("required", "detected"))

    holdings_ttl_seconds: float = _setting(60.0, _number)
    holdings_wait_seconds: float = _setting(2.0, _number)
    holdings_keep_spam: bool = _setting(False, _switch)
    holdings_failure_seconds: float = _setting(10.0, _positive)
    holdings_fetch_seconds: float = _setting(30.0, _positive)
    holdings_backoff_seconds: float = _setting(1.0, _number)
    holdings_breaker_failures: int = _setting(8, _whole(1))
    holdings_breaker_seconds: float = _setting(30.0, _positive)
    holdings_cache_bytes: int = _setting(32 * 1024 * 1024, _whole(1))

    sync_requests_per_second: float = _setting(16.0, _positive)
    sync_rpc_requests_per_second: float = _setting(4.0, _positive)
    sync_threads: int = _setting(8, _whole(1))
    sync_overlap_seconds: float = _setting(3600.0, _number)
    sync_trades_seconds: float = _setting(300.0, _positive)
    follow_seconds: float = _setting(3.0, _positive)
    follow_subscriptions: int = _setting(300, _whole(0))

    chains: Mapping[str, ChainSettings] = field(
        default_factory=lambda: MappingProxyType({name: ChainSettings() for name in CHAINS})
    )

    moralis_api_key: str | None = _setting(None, secret=True)
    moralis_evm_url: str = _setting("https://deep-index.moralis.io/api/v2.2", _url)
    moralis_solana_url: str = _setting("https://solana-gateway.moralis.io", _url)
    evm_token_list: str | None = _setting(None)
    alchemy_api_key: str | None = _setting(None, secret=True)
    alchemy_url: str = _setting("https://api.g.alchemy.com/data/v1", _url)
    coingecko_url: str = _setting("https://api.coingecko.com/api/v3", _url)
    coingecko_api_key: str | None = _setting(None, secret=True)
    coingecko_requests_per_minute: float = _setting(20.0, _positive)
    binance_url: str = _setting("https://data-api.binance.vision", _url)
    market_prices_provider: str | None = _setting(None, _one_of(*MARKET_PROVIDERS))
    dexscreener_url: str = _setting("https://api.dexscreener.com", _url)
    dexscreener_requests_per_minute: float = _setting(240.0, _positive)
    geckoterminal_url: str = _setting("https://api.geckoterminal.com/api/v2", _url)
    geckoterminal_requests_per_minute: float = _setting(20.0, _positive)
    jupiter_url: str = _setting("https://api.jup.ag", _url)
    jupiter_api_key: str | None = _setting(None, secret=True)
    jupiter_requests_per_minute: float = _setting(24.0, _positive)

    port: int = _setting(8000, _port)
    web_concurrency: int = _setting(os.cpu_count() or 1, _whole(1))
    web_threads: int = _setting(8, _whole(1))
    proxy_hops: int = _setting(0, _whole(0))
    page: bool = _setting(True, _switch)
    page_image_hosts: str | None = _setting(None, _hosts)
    cors_origins: str | None = _setting(None, _origins)
    metrics_networks: str = _setting("127.0.0.0/8,::1/128", _networks)
    metrics_token: str | None = _setting(None, secret=True)
    log_format: str = _setting("text", _one_of("text", "json"))
    log_level: str = _setting("info", _one_of("debug", "info", "warning", "error"))

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
                    _whole(0)(text) * CHAINS[old.partition("_")[0].lower()].rules_on(today).block_seconds
                )
            except ValueError as fault:
                faults.append(f"{old} {fault}")
            else:
                renamed[new] = f"{seconds:g}"
    return renamed
