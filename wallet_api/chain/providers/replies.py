"""A provider's reply: its JSON, decoded without floats, and the fault that an error status means."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import msgspec

from wallet_api.base.http import retry_after_seconds
from wallet_api.chain.decoding import amounts
from wallet_api.chain.providers.faults import (
    BadKey,
    Banned,
    Barred,
    Broken,
    Malformed,
    Overloaded,
    ProviderFault,
    QuotaExhausted,
    Rejected,
    TooLarge,
)

Content = TypeVar("Content")

# A very long Retry-After must not stop all requests for a day, and a quota may be raised at any time.
MAX_PAUSE_SECONDS = 3600.0

# A surrogate pair is one character. A lone surrogate, as in a text that was cut, is invalid, and makes the
# decoder reject the whole document.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_QUOTA = re.compile(r"usage has been consumed|capacity limit exceeded|quota", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reply:
    """A response of any status; `body` is decompressed."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_html(self) -> bool:
        """Return whether the body is HTML, as a gateway sends it in the provider's place."""
        return "html" in self.headers.get("Content-Type", "").lower() or self.body[:64].lstrip().startswith(
            b"<"
        )

    @property
    def text(self) -> str:
        """Return the beginning of the body, to search for known phrases; never to be shown."""
        return self.body[:2048].decode("utf-8", "replace")

    @property
    def retry_after_seconds(self) -> float | None:
        """Return the pause in Retry-After, which may be an HTTP date; None if there is none."""
        return retry_after_seconds(self.headers, MAX_PAUSE_SECONDS)


def read_json(body: bytes, shape: type[Content]) -> Content:
    """Return the JSON document in `body`, decoded as `shape`. Raise Malformed, also for NaN and Infinity."""
    if b"\\ud" in body or b"\\uD" in body:
        body = _ESCAPE.sub(lambda match: b"\\ufffd" if match[1] else match[0], body)
    try:
        return msgspec.json.decode(body, type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Malformed(type(error).__name__) from None


def read_success(body: bytes) -> dict[str, msgspec.Raw]:
    """Return the members of a document. Raise ProviderFault for an error in a response with status 200."""
    document = read_json(body, dict[str, msgspec.Raw])
    for name in ("status", "error"):
        if name in document:
            if b"429" in bytes(document[name]):
                raise Overloaded("a rate limit with status 200")
            raise Malformed("an error with status 200")
    return document


def read_as(shape: type[Content]) -> Callable[[Reply], Content]:
    """Return what reads a reply as read_json() does."""
    return lambda reply: read_json(reply.body, shape)


def reply_quantity(text: str | None) -> int:
    """Return a hexadecimal number without which a reply cannot be used; 0 for None. Raise Malformed."""
    try:
        return amounts.quantity(text)
    except amounts.UnusableRow as error:
        raise Malformed(str(error)) from None


def reply_time(seconds: float) -> datetime:
    """Return the time for Unix seconds without which a reply cannot be used. Raise Malformed."""
    try:
        return amounts.time_of(seconds)
    except amounts.UnusableRow as error:
        raise Malformed(str(error)) from None


def refuse(reply: Reply) -> ProviderFault:
    """Return the fault that an error status means with every provider."""
    pause = reply.retry_after_seconds
    status = f"status {reply.status}"
    if reply.status in (401, 402, 403, 429) and _QUOTA.search(reply.text):
        return QuotaExhausted(status, retry_after_seconds=min(until_midnight(), MAX_PAUSE_SECONDS))
    match reply.status:
        case 401:
            return BadKey(status)
        case 403:
            # Gateways send this page to clients that ignored a rate limit.
            return Banned(status, retry_after_seconds=pause) if reply.is_html else BadKey(status)
        case 418:
            return Banned(status, retry_after_seconds=pause)
        case 413:
            return TooLarge(status)
        case 451:
            return Barred(status)
        case 429:
            return Overloaded(status, retry_after_seconds=pause)
        case code if code >= 500:
            return Broken(status, retry_after_seconds=pause)
        case code if code >= 400:
            return Rejected(status)
    # A redirect, or a success without content.
    return Malformed(status)


def until_midnight() -> float:
    """Return the seconds until midnight UTC, when daily quotas are reset."""
    now = datetime.now(UTC)
    midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return (midnight - now).total_seconds()
