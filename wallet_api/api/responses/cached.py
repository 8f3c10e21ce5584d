"""Responses whose data many requests share: cached, compressed, or 304 if unchanged."""

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from typing import Any

from flask import Flask, Response, current_app
from werkzeug.datastructures import Accept
from werkzeug.http import parse_accept_header

from wallet_api.api.access.current import ApiRequest
from wallet_api.api.responses.compression import Prefix
from wallet_api.api.responses.envelope import JSON, end_envelope
from wallet_api.base.bulkhead import Bulkhead
from wallet_api.base.cache import Cache, Cached

_EXTENSION = "wallet_api.response_caches"
# Below this size compression takes longer than it saves.
_MIN_GZIP_BYTES = 1024
_CACHE_BYTES = 8 * 1024 * 1024
_SHORT_SECONDS = 1.0
# Those that depend on the data. All headers together stay below 4,096 bytes, which any proxy accepts.
_HEADER_BYTES = 3000


class Lifetime(Enum):
    """How long data is shared: never, at most a second, ANSWER_TTL_SECONDS, or as long as a leaderboard."""

    NONE = "none"
    NORMAL = "normal"
    SHORT = "short"
    LONG = "long"


class Body:
    """The body of a response up to what differs among requests, and its headers.

    `next_page` is its URL, and is left out where it is too long for a header; `cursor` alone always fits.
    `warnings` are those of rows alone, which have no place for them. `meta` is what meta says of the data,
    without regard to which it is unchanged.
    """

    def __init__(
        self,
        prefix: bytes,
        etag: str,
        content_type: str = JSON,
        warnings: Sequence[str] = (),
        next_page: str | None = None,
        cursor: str | None = None,
        meta: Mapping[str, str] | None = None,
    ) -> None:
        self.size = len(prefix)
        self.prefix = Prefix(prefix)
        self.meta = meta
        # Weak, since meta differs: https://www.rfc-editor.org/rfc/rfc9110#section-8.8.1
        self.etag = f'W/"{etag}"'
        self.content_type = content_type
        # Those that hold data, which a 304 does not have.
        self.headers: dict[str, str] = {}
        room = _HEADER_BYTES
        if cursor is not None:
            self.headers["X-Next-Cursor"] = cursor
            room -= len(cursor)
        link = f'<{next_page}>; rel="next"'
        if next_page is not None and len(link) <= room // 2:
            self.headers["Link"] = link
            room -= len(link)
        if warnings:
            self.headers["X-Warnings"] = _warnings_within(room, warnings)


def _warnings_within(room: int, warnings: Sequence[str]) -> str:
    """Return the warnings as a JSON list of at most so many bytes, with the number of those left out."""
    for count in range(len(warnings), -1, -1):
        left_out = len(warnings) - count
        note = [f"{left_out} more warnings are left out here."] if left_out else []
        text = json.dumps([*warnings[:count], *note])
        if len(text) <= room:
            break
    return text


def init_app(app: Flask, ttl_seconds: float, long_ttl_seconds: float, bulkhead: Bulkhead) -> None:
    """Give `app` a cache of data for each lifetime that differs."""
    seconds = {
        Lifetime.NONE: 0.0,
        Lifetime.NORMAL: ttl_seconds,
        Lifetime.SHORT: min(ttl_seconds, _SHORT_SECONDS),
        Lifetime.LONG: long_ttl_seconds,
    }
    caches: dict[float, Cache[Body]] = {
        ttl: Cache(ttl, max_size=_CACHE_BYTES, size_of=lambda data: data.size, slot=bulkhead.slot)
        for ttl in seconds.values()
    }
    # Computed from values in memory, without a slot.
    versions: Cache[Body] = Cache(long_ttl_seconds, max_size=_CACHE_BYTES, size_of=lambda data: data.size)
    app.extensions[_EXTENSION] = {None: versions} | {
        lifetime: caches[ttl] for lifetime, ttl in seconds.items()
    }


def respond_cached(
    request: ApiRequest,
    get_body: Callable[[], Body],
    arguments: Mapping[str, Any],
    lifetime: Lifetime,
    source: Cached[Any] | None = None,
    version: Hashable = None,
) -> Response:
    """Respond to `request` with what `get_body` returns, or has returned to one before with these arguments.

    A body that is computed from `source`, a value of another cache, is cached for each time at which that was
    made. One that is computed from a `version` of it and more is cached for its lifetime.
    """
    caches = current_app.extensions[_EXTENSION]
    cache: Cache[Body] = caches[lifetime]
    if source is not None and version is None:
        cache, version = caches[None], source.made_at
    key = (request.endpoint, request.format, request.data_form, version, *arguments.items())

    def compute() -> Body:
        made, before = get_body(), cache.find_expired(key)
        # Reuse the compressed prefix if the data has not changed.
        if before is not None and before.etag == made.etag:
            made.prefix = before.prefix
        return made

    entry = cache.get(key, compute)
    origin = source or entry
    request.cached = origin.hit
    return _respond(request, entry.value, origin.age_seconds(cache.timer()))


def _respond(request: ApiRequest, data: Body, cache_age_seconds: int) -> Response:
    # Only the caller may cache it, and must revalidate it.
    headers = {"ETag": data.etag, "Cache-Control": "private, no-cache"}
    is_large = data.size >= _MIN_GZIP_BYTES
    if is_large:
        headers["Vary"] = "Accept-Encoding"
    if _has_version(request, data.etag):
        return Response(status=304, headers=headers)
    headers |= data.headers
    # Rows alone have no meta.
    end = end_envelope(request, cache_age_seconds, data.meta) if data.content_type == JSON else b""
    if is_large and _accepts_gzip(request.environ.get("HTTP_ACCEPT_ENCODING", "")):
        headers["Content-Encoding"] = "gzip"
        return Response(data.prefix.gzip(end), headers=headers, content_type=data.content_type)
    # Two parts, so that a large one is not copied.
    body = [data.prefix.text, end] if data.size > _CACHE_BYTES else [data.prefix.text + end]
    return Response(body, headers=headers, content_type=data.content_type)


def _has_version(request: ApiRequest, etag: str) -> bool:
    """Return whether the caller has this version of the data already."""
    # Few callers name one, and parsing takes a while without any, too.
    if "HTTP_IF_NONE_MATCH" not in request.environ:
        return False
    named = request.if_none_match
    # `*` is no version that a caller has.
    return not named.star_tag and named.contains_raw(etag)


# There are few different headers.
@lru_cache(256)
def _accepts_gzip(header: str) -> bool:
    accepted: Accept = parse_accept_header(header, Accept)
    return accepted.best_match(("gzip", "identity")) == "gzip"
