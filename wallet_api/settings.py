"""The settings: one field per environment variable. All invalid values are reported together."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal, InvalidOperation
from ipaddress import ip_network
from typing import Any
from urllib.parse import urlsplit

PROVIDERS = ("moralis", "rpc", "alchemy")
TRADES_PROVIDERS = ("moralis", "rpc")
# Environment variables of earlier versions.
_REMOVED = (
    *("ANSWER_CACHE_BYTES", "HOLDINGS_CONNECT_SECONDS", "HOLDINGS_FETCH_THREADS", "HOLDINGS_MAX_BYTES"),
    *("HOLDINGS_READ_SECONDS", "SYNC_PRICES_SECONDS"),
)
# As browsers send it: lower-case, without a path.
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[a-z0-9.-]+(:\d+)?")
_CENTURY_SECONDS = 100 * 365 * 86_400
_RATE = re.compile(r"[1-9]\d*/(second|minute|hour|day)")


class SettingsError(ValueError):
    """Some environment variables are invalid."""


def _setting(variable: str, default: Any, kind: str = "text", *, secret: bool = False) -> Any:
    """Return a field that is read from `variable` by the reader of `kind`. A `secret` is not in the repr."""
    return field(default=default, repr=not secret, metadata={"variable": variable, "kind": kind})


@dataclass(frozen=True)
class Settings:
    """The settings of a process. Durations are in seconds; URLs have no trailing slash; None means unset."""

    database_url: str | None = _setting("DATABASE_URL", None, "postgresql", secret=True)
    database_read_url: str | None = _setting("DATABASE_READ_URL", None, "postgresql", secret=True)
    statement_timeout_seconds: float = _setting("STATEMENT_TIMEOUT_SECONDS", 10.0, "positive")
    valkey_url: str | None = _setting("VALKEY_URL", None, "valkey", secret=True)
    wallet_api_home: str = _setting("WALLET_API_HOME", "./var")

    default_rate: str = _setting("DEFAULT_RATE", "300/minute", "rate")
    credit_cost: int = _setting("CREDIT_COST", 1, "count")
    key_cache_seconds: float = _setting("KEY_CACHE_SECONDS", 5.0, "seconds")

    answer_ttl_seconds: float = _setting("ANSWER_TTL_SECONDS", 1.0, "seconds")
    leaderboard_ttl_seconds: float = _setting("LEADERBOARD_TTL_SECONDS", 30.0, "seconds")

    token_price_max_age_seconds: float = _setting("TOKEN_PRICE_MAX_AGE_SECONDS", 86_400.0, "age")
    token_price_min_value_usd: Decimal = _setting("TOKEN_PRICE_MIN_VALUE_USD", Decimal(1), "decimal")  # noqa: RUF009

    history_type: str = _setting("HISTORY_TYPE", "required", "history type")

    holdings_ttl_seconds: float = _setting("HOLDINGS_TTL_SECONDS", 60.0, "seconds")
    holdings_wait_seconds: float = _setting("HOLDINGS_WAIT_SECONDS", 2.0, "seconds")
    holdings_keep_spam: bool = _setting("HOLDINGS_KEEP_SPAM", False, "switch")
    holdings_failure_seconds: float = _setting("HOLDINGS_FAILURE_SECONDS", 10.0, "positive")
    holdings_fetch_seconds: float = _setting("HOLDINGS_FETCH_SECONDS", 30.0, "positive")
    holdings_backoff_seconds: float = _setting("HOLDINGS_BACKOFF_SECONDS", 1.0, "seconds")
    holdings_breaker_failures: int = _setting("HOLDINGS_BREAKER_FAILURES", 8, "count")
    holdings_breaker_seconds: float = _setting("HOLDINGS_BREAKER_SECONDS", 30.0, "positive")
    holdings_cache_bytes: int = _setting("HOLDINGS_CACHE_BYTES", 32 * 1024 * 1024, "count")

    sync_requests_per_second: float = _setting("SYNC_REQUESTS_PER_SECOND", 16.0, "positive")
    sync_rpc_requests_per_second: float = _setting("SYNC_RPC_REQUESTS_PER_SECOND", 4.0, "positive")
    sync_threads: int = _setting("SYNC_THREADS", 8, "count")
    sync_overlap_seconds: float = _setting("SYNC_OVERLAP_SECONDS", 3600.0, "seconds")
    sync_trades_seconds: float = _setting("SYNC_TRADES_SECONDS", 300.0, "positive")

    solana_provider: str = _setting("SOLANA_PROVIDER", "moralis", "provider")
    eth_provider: str = _setting("ETH_PROVIDER", "moralis", "provider")
    bnb_provider: str = _setting("BNB_PROVIDER", "moralis", "provider")
    base_provider: str = _setting("BASE_PROVIDER", "moralis", "provider")
    solana_trades_provider: str = _setting("SOLANA_TRADES_PROVIDER", "moralis", "trades provider")

    moralis_api_key: str | None = _setting("MORALIS_API_KEY", None, secret=True)
    moralis_evm_url: str = _setting("MORALIS_EVM_URL", "https://deep-index.moralis.io/api/v2.2", "url")
    moralis_solana_url: str = _setting("MORALIS_SOLANA_URL", "https://solana-gateway.moralis.io", "url")
    # URLs of nodes often contain a key, so they are secrets too.
    solana_rpc_url: str | None = _setting("SOLANA_RPC_URL", None, "url", secret=True)
    eth_rpc_url: str | None = _setting("ETH_RPC_URL", None, "url", secret=True)
    bnb_rpc_url: str | None = _setting("BNB_RPC_URL", None, "url", secret=True)
    base_rpc_url: str | None = _setting("BASE_RPC_URL", None, "url", secret=True)
    evm_token_list: str | None = _setting("EVM_TOKEN_LIST", None)
    alchemy_api_key: str | None = _setting("ALCHEMY_API_KEY", None, secret=True)
    alchemy_url: str = _setting("ALCHEMY_URL", "https://api.g.alchemy.com/data/v1", "url")
    coingecko_url: str = _setting("COINGECKO_URL", "https://api.coingecko.com/api/v3", "url")
    coingecko_api_key: str | None = _setting("COINGECKO_API_KEY", None, secret=True)
    coingecko_requests_per_minute: float = _setting("COINGECKO_REQUESTS_PER_MINUTE", 20.0, "positive")
    binance_url: str = _setting("BINANCE_URL", "https://data-api.binance.vision", "url")

    port: int = _setting("PORT", 8000, "port")
    web_concurrency: int = _setting("WEB_CONCURRENCY", os.cpu_count() or 1, "count")
    web_threads: int = _setting("WEB_THREADS", 8, "count")
    proxy_hops: int = _setting("PROXY_HOPS", 0, "whole")
    cors_origins: str | None = _setting("CORS_ORIGINS", None, "origins")
    metrics_networks: str = _setting("METRICS_NETWORKS", "127.0.0.0/8,::1/128", "networks")
    metrics_token: str | None = _setting("METRICS_TOKEN", None, secret=True)
    log_format: str = _setting("LOG_FORMAT", "text", "log format")
    log_level: str = _setting("LOG_LEVEL", "info", "log level")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> "Settings":
        """Return the settings. Raises SettingsError, which names all invalid variables without values."""
        values: dict[str, Any] = {}
        faults: list[str] = []
        for setting in fields(cls):
            variable = setting.metadata["variable"]
            text = environment.get(variable, "").strip()
            if not text:
                continue
            try:
                values[setting.name] = _READERS[setting.metadata["kind"]](text)
            except ValueError as fault:
                faults.append(f"{variable} {fault}")
        if faults:
            raise SettingsError("; ".join(faults))
        return cls(**values)

    @classmethod
    def variables(cls) -> tuple[str, ...]:
        """Return the names of all environment variables, in the order of the fields."""
        return tuple(setting.metadata["variable"] for setting in fields(cls))


def removed_warning(environment: Mapping[str, str] = os.environ) -> str | None:
    """Return a warning about variables that are set but no longer settings, or None."""
    found = ", ".join(name for name in _REMOVED if environment.get(name))
    return f"{found}: no longer a setting and ignored. Remove it from the environment." if found else None


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
    # Of any trade, and within the range of times.
    if number > _CENTURY_SECONDS:
        raise ValueError("must be a number of at most a hundred years of seconds")
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


def _url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ValueError("must be an http or https URL")
    return text.rstrip("/")


def _postgresql(text: str) -> str:
    if not text.startswith(("postgresql://", "postgres://")):
        raise ValueError("must be a postgresql:// URI")
    return text


def _valkey(text: str) -> str:
    if urlsplit(text).scheme not in ("valkey", "valkeys", "redis", "rediss", "valkey+unix", "redis+unix"):
        raise ValueError("must be a valkey:// or redis:// URL")
    return text


_READERS: Mapping[str, Callable[[str], Any]] = {
    "text": str,
    "seconds": _number,
    "age": _age,
    "decimal": _decimal,
    "positive": _positive,
    "count": _whole(1),
    "whole": _whole(0),
    "port": _port,
    "switch": _switch,
    "rate": _rate,
    "provider": _one_of(*PROVIDERS),
    "trades provider": _one_of(*TRADES_PROVIDERS),
    "history type": _one_of("required", "detected"),
    "url": _url,
    "postgresql": _postgresql,
    "valkey": _valkey,
    "networks": _networks,
    "origins": _origins,
    "log format": _one_of("text", "json"),
    "log level": _one_of("debug", "info", "warning", "error"),
}
