"""Responses whose data many requests share: cached, compressed, or 304 if unchanged."""

from collections.abc import Callable, Hashable, Mapping
from enum import Enum
from functools import lru_cache
from typing import Any

from flask import Flask, Response, current_app
from werkzeug.datastructures import Accept
from werkzeug.http import parse_accept_header

from wallet_api.access.current import current_call
from wallet_api.bulkhead import Bulkhead
from wallet_api.large import LARGE_JSON_BYTES, Large, Share
from wallet_api.responses.cache import CachedData, ResponseCache
from wallet_api.responses.envelope import JSON, meta, to_json

_EXTENSION = "wallet_api.response_cache"
_BULKHEAD = "wallet_api.bulkhead"
_LARGE = "wallet_api.large"
# Below this the time to compress costs a caller more than the bytes do.
_MIN_GZIP_BYTES = 1024
_CACHE_BYTES = 8 * 1024 * 1024
_SHORT_SECONDS = 1.0


class Lifetime(Enum):
    """How long requests share data: ANSWER_TTL_SECONDS, at most a second, or as long as a leaderboard."""

    NORMAL = "normal"
    SHORT = "short"
    LONG = "long"


def init_app(app: Flask, ttl_seconds: float, long_ttl_seconds: float, bulkhead: Bulkhead) -> None:
    """Give `app` a cache of its own for each lifetime that differs (see ResponseCache), and the bulkhead."""
    seconds = {
        Lifetime.NORMAL: ttl_seconds,
        Lifetime.SHORT: min(ttl_seconds, _SHORT_SECONDS),
        Lifetime.LONG: long_ttl_seconds,
    }
    caches = {ttl: ResponseCache(ttl, _CACHE_BYTES) for ttl in seconds.values()}
    app.extensions[_BULKHEAD] = bulkhead
    app.extensions[_LARGE] = Large(LARGE_JSON_BYTES)
    app.extensions[_EXTENSION] = {lifetime: caches[ttl] for lifetime, ttl in seconds.items()}


def respond_cached(
    arguments: Mapping[str, Any],
    make: Callable[[Share], Any],
    *,
    lifetime: Lifetime = Lifetime.NORMAL,
    beside: str | None = None,
) -> Response:
    """Respond with what `make` returns, or has just returned to another request with these arguments.

    `make` reserves JSON that may be large in the share that it gets: one request at a time has any in memory.
    `beside` is the part of the data that also stands beside it.
    """
    bulkhead, large = current_app.extensions[_BULKHEAD], current_app.extensions[_LARGE]
    key = (current_call().endpoint, *arguments.items())
    with large.share() as share:
        found = _cache(lifetime).get(key, lambda: make(share), beside, bulkhead)
        return _respond(found.data, cached=found.cached, cache_age_seconds=found.cache_age_seconds)


def respond_version(
    arguments: Mapping[str, Any],
    version: Hashable,
    make: Callable[[], Any],
    *,
    cached: bool,
    cache_age_seconds: int,
) -> Response:
    """Respond with what `make` returns of data that is cached elsewhere and changes with `version`."""
    found = _cache(Lifetime.LONG).get((current_call().endpoint, version, *arguments.items()), make)
    return _respond(found.data, cached=cached, cache_age_seconds=cache_age_seconds)


def _cache(lifetime: Lifetime) -> ResponseCache:
    own: ResponseCache = current_app.extensions[_EXTENSION][lifetime]
    return own


def _respond(found: CachedData, *, cached: bool, cache_age_seconds: int) -> Response:
    # To be kept by its caller alone, who asks with the ETag whether it is still so.
    headers = {"ETag": found.etag, "Cache-Control": "private, no-cache"}
    is_large = found.size >= _MIN_GZIP_BYTES
    if is_large:
        headers["Vary"] = "Accept-Encoding"
    call = current_call()
    call.cached = cached
    if call.if_none_match.contains_raw(found.etag):
        return Response(status=304, headers=headers)
    end = to_json(meta(call, cache_age_seconds)) + b"}"
    if is_large and _accepts_gzip(call.environ.get("HTTP_ACCEPT_ENCODING", "")):
        headers["Content-Encoding"] = "gzip"
        return Response(found.prefix.gzip(end), headers=headers, content_type=JSON)
    return Response(found.prefix.text + end, headers=headers, content_type=JSON)


# There are few different headers.
@lru_cache(256)
def _accepts_gzip(header: str) -> bool:
    accepted: Accept = parse_accept_header(header, Accept)
    return accepted.best_match(("gzip", "identity")) == "gzip"
