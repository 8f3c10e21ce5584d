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
# Below this size compression takes longer than it saves.
_MIN_GZIP_BYTES = 1024
_CACHE_BYTES = 8 * 1024 * 1024
_SHORT_SECONDS = 1.0


class Lifetime(Enum):
    """How long data is shared: never, at most a second, ANSWER_TTL_SECONDS, or as long as a leaderboard."""

    NONE = "none"

    NORMAL = "normal"
    SHORT = "short"
    LONG = "long"


class CachedData:
    """The data of a response as JSON.

    `prefix` is the envelope up to `meta`, with the member `top_level` of the data repeated at the top level.
    """

    def __init__(self, data: Any, top_level: str | None = None) -> None:
        data_json = to_json(data)
        self.size = len(data_json)
        repeated = b"" if top_level is None else b',"%b":%b' % (top_level.encode(), to_json(data[top_level]))
        self.prefix = Prefix(b'{"success":true,"data":%b%b,"meta":' % (data_json, repeated))
        # Weak, since meta differs: https://www.rfc-editor.org/rfc/rfc9110#section-8.8.1
        self.etag = f'W/"{xxh3_128_hexdigest(data_json)}"'


def init_app(app: Flask, ttl_seconds: float, long_ttl_seconds: float, bulkhead: Bulkhead) -> None:
    """Give `app` a cache of data for each lifetime that differs."""
    seconds = {
        Lifetime.NONE: 0.0,
        Lifetime.NORMAL: ttl_seconds,
        Lifetime.SHORT: min(ttl_seconds, _SHORT_SECONDS),
        Lifetime.LONG: long_ttl_seconds,
    }
    caches: dict[float, Cache[CachedData]] = {
        ttl: Cache(ttl, max_size=_CACHE_BYTES, size_of=lambda data: data.size, slot=bulkhead.slot)
        for ttl in seconds.values()
    }
    # Computed from values in memory, without a slot.
    app.extensions[_VERSIONS] = Cache(long_ttl_seconds, max_size=_CACHE_BYTES, size_of=lambda data: data.size)
    app.extensions[_EXTENSION] = {lifetime: caches[ttl] for lifetime, ttl in seconds.items()}


def respond_cached(
    arguments: Mapping[str, Any],
    get_data: Callable[[], Any],
    *,
    lifetime: Lifetime = Lifetime.NORMAL,
    top_level: str | None = None,
) -> Response:
    """Respond with what `get_data` returns, or has returned to an earlier request with these arguments.

    `top_level` is the name of a member of the data that is repeated at the top level of the body.
    """
    cache: Cache[CachedData] = current_app.extensions[_EXTENSION][lifetime]
    key = (current_request().endpoint, *arguments.items())

    def compute() -> CachedData:
        made, before = CachedData(get_data(), top_level), cache.find_expired(key)
        # Reuse the compressed prefix if the data has not changed.
        return before if before is not None and before.etag == made.etag else made

    entry = cache.get(key, compute)
    return _respond(entry.value, cached=entry.hit, cache_age_seconds=entry.age_seconds(cache.timer()))


def respond_version(
    arguments: Mapping[str, Any],
    source: Cached[Any],
    get_data: Callable[[], Any],
    version: Hashable = None,
) -> Response:
    """Respond with what `get_data` returns for `source`, a value of another cache.

    The response is cached for each `version`; without one, for each time at which the value was made.
    """
    cache: Cache[CachedData] = current_app.extensions[_VERSIONS]
    key = (current_request().endpoint, version or source.made_at, *arguments.items())
    entry = cache.get(key, lambda: CachedData(get_data()))
    return _respond(entry.value, cached=source.hit, cache_age_seconds=source.age_seconds(cache.timer()))


def _respond(data: CachedData, *, cached: bool, cache_age_seconds: int) -> Response:
    # Only the caller may cache it, and must revalidate it.
    headers = {"ETag": data.etag, "Cache-Control": "private, no-cache"}
    is_large = data.size >= _MIN_GZIP_BYTES
    if is_large:
        headers["Vary"] = "Accept-Encoding"
    request = current_request()
    request.cached = cached
    if request.if_none_match.contains_raw(data.etag):
        return Response(status=304, headers=headers)
    end = to_json(meta(request, cache_age_seconds)) + b"}"
    if is_large and _accepts_gzip(request.environ.get("HTTP_ACCEPT_ENCODING", "")):
        headers["Content-Encoding"] = "gzip"
        return Response(data.prefix.gzip(end), headers=headers, content_type=JSON)
    # Two parts, so that a large one is not copied.
    body = [data.prefix.text, end] if data.size > _CACHE_BYTES else [data.prefix.text + end]
    return Response(body, headers=headers, content_type=JSON)


# There are few different headers.
@lru_cache(256)
def _accepts_gzip(header: str) -> bool:
    accepted: Accept = parse_accept_header(header, Accept)
    return accepted.best_match(("gzip", "identity")) == "gzip"
