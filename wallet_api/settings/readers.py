"""What the texts of environment variables mean. Each raises ValueError, which says what is allowed."""

import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from ipaddress import ip_network
from urllib.parse import urlsplit

# As browsers send it: lower-case, without a path.
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[a-z0-9.-]+(:\d+)?")
_HOST = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+")
_CENTURY_SECONDS = 100 * 365 * 86_400
_COST = re.compile(r"[a-z_]+=[1-9][0-9]{0,8}")
_MAIL = re.compile(r"[A-Za-z0-9._+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+")
_RATE = re.compile(r"[1-9]\d*/(second|minute|hour|day)")


def number(text: str) -> float:
    """Return a number of at least 0."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise ValueError("must be a number of at least 0")
    return value


def age(text: str) -> float:
    """Return the seconds of an age."""
    value = number(text)
    # Older than any trade, and within the range of times.
    if value > _CENTURY_SECONDS:
        raise ValueError(f"must be a number of at most {_CENTURY_SECONDS} seconds (100 years)")
    return value


def decimal(text: str) -> Decimal:
    """Return an exact number of at least 0."""
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal(-1)
    if not (value.is_finite() and value >= 0):
        raise ValueError("must be a number of at least 0")
    return value


def positive(text: str) -> float:
    """Return a number above 0."""
    value = number(text)
    if value == 0:
        raise ValueError("must be a number above 0")
    return value


def whole(least: int) -> Callable[[str], int]:
    """Return a reader of whole numbers of at least `least`."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdecimal()) or int(text) < least:
            raise ValueError(f"must be a whole number of at least {least}")
        return int(text)

    return read


def port(text: str) -> int:
    """Return a port."""
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise ValueError("must be a port from 1 to 65535")
    return int(text)


def switch(text: str) -> bool:
    """Return what a word turns on or off."""
    words = {"true": True, "1": True, "yes": True, "on": True}
    words |= {"false": False, "0": False, "no": False, "off": False}
    if text.lower() not in words:
        raise ValueError("must be true or false")
    return words[text.lower()]


def rate(text: str) -> str:
    """Return a rate limit, without blanks."""
    rate = text.replace(" ", "")
    if _RATE.fullmatch(rate) is None:
        raise ValueError("must be COUNT/second, /minute, /hour or /day, such as 300/minute")
    return rate


def costs(text: str) -> tuple[tuple[str, int], ...]:
    """Return the names of operations with their costs."""
    parts = [part.strip().partition("=") for part in text.split(",")]
    costs = {name: int(cost) for name, _, cost in parts if _COST.fullmatch(f"{name}={cost}")}
    if len(costs) != len(parts):
        raise ValueError("must be OPERATION=CREDITS with commas between, such as get_tracker=5")
    return tuple(costs.items())


def choice(*words: str) -> Callable[[str], str]:
    """Return a reader of one of these words."""

    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"must be one of {', '.join(words)}")
        return text

    return read


def networks(text: str) -> str:
    """Return networks with commas between; nothing for `none`."""
    if text == "none":
        return ""
    try:
        return ",".join(str(ip_network(part.strip())) for part in text.split(","))
    except ValueError:
        raise ValueError(
            "must be none, or networks with commas between, such as 127.0.0.0/8, 10.1.0.0/16"
        ) from None


def origins(text: str) -> str:
    """Return origins of browsers with commas between."""
    origins = [part.strip().lower().rstrip("/") for part in text.split(",")]
    if origins != ["*"] and not all(_ORIGIN.fullmatch(origin) for origin in origins):
        raise ValueError("must be * or origins with commas between, such as https://app.example.com")
    return ",".join(origins)


def hosts(text: str) -> str:
    """Return names of hosts with commas between."""
    hosts = [part.strip().lower() for part in text.split(",")]
    if not all(_HOST.fullmatch(host) for host in hosts):
        raise ValueError("must be names of hosts with commas between, such as pbs.twimg.com")
    return ",".join(hosts)


def url(text: str) -> str:
    """Return an http or https URL without a slash at its end."""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ValueError("must be an http or https URL")
    return text.rstrip("/")


def short_text(text: str) -> str:
    """Return a short text that is shown to callers."""
    if len(text) > 100 or not text.isprintable():
        raise ValueError("must be at most 100 printable characters")
    return text


def contact(text: str) -> str:
    """Return an address of e-mail, or a URL."""
    if _MAIL.fullmatch(text):
        return text
    try:
        return url(text)
    except ValueError:
        raise ValueError("must be an address of e-mail, or an http or https URL") from None


def websocket(text: str) -> str:
    """Return a ws or wss URL."""
    parts = urlsplit(text)
    if parts.scheme not in ("ws", "wss") or not parts.netloc:
        raise ValueError("must be a ws or wss URL")
    return text


def postgresql(text: str) -> str:
    """Return the URI of a PostgreSQL server."""
    if not text.startswith(("postgresql://", "postgres://")):
        raise ValueError("must be a postgresql:// URI")
    return text


def valkey(text: str) -> str:
    """Return the URL of a Valkey or Redis server."""
    if urlsplit(text).scheme not in ("valkey", "valkeys", "redis", "rediss", "valkey+unix", "redis+unix"):
        raise ValueError("must be a valkey:// or redis:// URL")
    return text
