"""Responses whose data many requests share: cached, compressed, or 304 if unchanged."""

from collections.abc import Callable, Hashable, Mapping
from enum import Enum
from functools import lru_cache
from typing import Any

from flask import Flask, Response, current_app
from werkzeug.datastructures import Accept
from werkzeug.http import parse_accept_header
from xxhash import xxh3_128_hexdigest

from wallet_api.access.current import current_request
from wallet_api.bulkhead import Bulkhead
from wallet_api.cache import Cache, Cached
from wallet_api.responses.compression import Prefix
from wallet_api.responses.envelope import JSON, meta, to_json

_EXTENSION = "wallet_api.response_caches"
_VERSIONS = "wallet_api.version_cache"
# Below this the time to compress costs a caller more than the bytes do.
_MIN_GZIP_BYTES = 1024
_CACHE_BYTES = 8 * 1024 * 1024
_SHORT_SECONDS = 1.0


class Lifetime(Enum):
    """How long requests share data: ANSWER_TTL_SECONDS, at most a second, or as long as a leaderboard."""

    NORMAL = "normal"
    SHORT = "short"
    LONG = "long"


class CachedData:
    """The data of a response as JSON.

    `prefix` is the envelope up to `meta`, with the member of the data named `beside` once more beside it.
    """

    def __init__(self, data: Any, beside: str | None = None) -> None:
        own = to_json(data)
        self.size = len(own)
        more = b"" if beside is None else b',"%b":%b' % (beside.encode(), to_json(data[beside]))
        self.prefix = Prefix(b'{"success":true,"data":%b%b,"meta":' % (own, more))
        # Weak, since meta differs: https://www.rfc-editor.org/rfc/rfc9110#section-8.8.1
        self.etag = f'W/"{xxh3_128_hexdigest(own)}"'


def init_app(app: Flask, ttl_seconds: float, long_ttl_seconds: float, bulkhead: Bulkhead) -> None:
    """Give `app` a cache of data for each lifetime that differs."""
    seconds = {
        Lifetime.NORMAL: ttl_seconds,
        Lifetime.SHORT: min(ttl_seconds, _SHORT_SECONDS),
        Lifetime.LONG: long_ttl_seconds,
    }
    caches: dict[float, Cache[CachedData]] = {
        ttl: Cache(ttl, max_size=_CACHE_BYTES, size_of=lambda data: data.size, slot=bulkhead.slot)
        for ttl in seconds.values()
    }
    # Made of what is in memory, they wait for nothing.
    app.extensions[_VERSIONS] = Cache(long_ttl_seconds, max_size=_CACHE_BYTES, size_of=lambda data: data.size)
    app.extensions[_EXTENSION] = {lifetime: caches[ttl] for lifetime, ttl in seconds.items()}


def respond_cached(
    arguments: Mapping[str, Any],
    get_data: Callable[[], Any],
    *,
    lifetime: Lifetime = Lifetime.NORMAL,
    beside: str | None = None,
) -> Response:
    """Respond with what `get_data` returns, or has just returned to another request with these arguments.

    `beside` is the member of the data that also stands beside it.
    """
    cache: Cache[CachedData] = current_app.extensions[_EXTENSION][lifetime]
    key = (current_request().endpoint, *arguments.items())

    def compute() -> CachedData:
        made, before = CachedData(get_data(), beside), cache.find_expired(key)
        # Reuse the compressed prefix if the data has not changed.
        return before if before is not None and before.etag == made.etag else made

    found = cache.get(key, compute)
    return _respond(found.value, cached=found.hit, cache_age_seconds=found.age_seconds(cache.timer()))


def respond_version(
    arguments: Mapping[str, Any],
    source: Cached[Any],
    get_data: Callable[[], Any],
    version: Hashable = None,
) -> Response:
    """Respond with what `get_data` returns of a value of another cache.

    It changes with the `version`, or else with when the value was made.
    """
    cache: Cache[CachedData] = current_app.extensions[_VERSIONS]
    key = (current_request().endpoint, version or source.made_at, *arguments.items())
    found = cache.get(key, lambda: CachedData(get_data()))
    return _respond(found.value, cached=source.hit, cache_age_seconds=source.age_seconds(cache.timer()))


def _respond(found: CachedData, *, cached: bool, cache_age_seconds: int) -> Response:
    # Only the caller may cache it, and must revalidate it.
    headers = {"ETag": found.etag, "Cache-Control": "private, no-cache"}
    is_large = found.size >= _MIN_GZIP_BYTES
    if is_large:
        headers["Vary"] = "Accept-Encoding"
    request = current_request()
    request.cached = cached
    if request.if_none_match.contains_raw(found.etag):
        return Response(status=304, headers=headers)
    end = to_json(meta(request, cache_age_seconds)) + b"}"
    if is_large and _accepts_gzip(request.environ.get("HTTP_ACCEPT_ENCODING", "")):
        headers["Content-Encoding"] = "gzip"
        return Response(found.prefix.gzip(end), headers=headers, content_type=JSON)
    # Two parts, so that a large one is not copied.
    body = [found.prefix.text, end] if found.size > _CACHE_BYTES else [found.prefix.text + end]
    return Response(body, headers=headers, content_type=JSON)


# There are few different headers.
@lru_cache(256)
def _accepts_gzip(header: str) -> bool:
    accepted: Accept = parse_accept_header(header, Accept)
    return accepted.best_match(("gzip", "identity")) == "gzip"
