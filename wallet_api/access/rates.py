"""What a rate may look like: COUNT/second, /minute, /hour or /day."""

import re

from limits import RateLimitItem, parse

_RATE = re.compile(r"[1-9]\d{0,11}/(?:second|minute|hour|day)", re.ASCII)


def normal_rate(text: str) -> str:
    """The stored form of a rate, without spaces. Raises ValueError saying what is allowed."""
    rate = text.replace(" ", "").lower()
    if _RATE.fullmatch(rate) is None:
        raise ValueError(
            f"{text[:40]!r} is no rate; allowed: COUNT/second, /minute, /hour or /day, such as 300/minute"
        )
    return rate


def rate_limit(rate: str) -> RateLimitItem:
    """The limit that a stored rate stands for."""
    return parse(rate)
