"""Answers that many callers ask for: worked out once, sent compressed, or not at all where unchanged."""

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from flask import Flask, Response
from werkzeug.datastructures import Headers

from wallet_api.access.call import Call, app_in_hand, call_in_hand
from wallet_api.blueprints.encodings import CODINGS, MIN_BYTES, choose
from wallet_api.blueprints.envelope import JSON, meta, to_json
from wallet_api.blueprints.sharing import Answer, SharedAnswers

_EXTENSION = "wallet_api.answers"
# Smaller ones are joined, which costs less than a second call to the socket.
_MIN_SPLIT_BYTES = 64 * 1024


def init_app(app: Flask, ttl_seconds: float, max_bytes: int) -> None:
    """Give `app` its own answers to share; see SharedAnswers."""
    app.extensions[_EXTENSION] = SharedAnswers(ttl_seconds, max_bytes)


def answer_once(arguments: Mapping[str, Any], make: Callable[[], Any]) -> Response:
    """Answer with the data that `make` gives, or has just given to another call with these arguments."""
    own: SharedAnswers = app_in_hand().extensions[_EXTENSION]
    call = call_in_hand()
    found = own.once((call.endpoint, *arguments.items()), make)
    call.cached = found.cached
    return _respond(call, found.answer, found.cache_age_seconds)


def answer_version(
    arguments: Mapping[str, Any],
    version: Hashable,
    make: Callable[[], Any],
    *,
    cached: bool,
    cache_age_seconds: int,
) -> Response:
    """Answer with what `make` gives of data that is kept elsewhere, and changes with `version`."""
    own: SharedAnswers = app_in_hand().extensions[_EXTENSION]
    call = call_in_hand()
    found = own.once((call.endpoint, version, *arguments.items()), make)
    call.cached = cached
    return _respond(call, found.answer, cache_age_seconds)


class _Complete(Response):
    """A response whose headers are complete as soon as its length is known: nothing relative is in them."""

    def get_wsgi_headers(self, environ: dict[str, Any]) -> Headers:
        """The headers themselves, not a copy to set the length in, when it is set."""
        if self.status_code == 200 and "Content-Length" in self.headers:
            return self.headers
        return super().get_wsgi_headers(environ)


def _respond(call: Call, answer: Answer, cache_age_seconds: int) -> Response:
    # To be kept by its caller alone, who asks with the ETag whether it is still so.
    headers = [("ETag", answer.etag), ("Cache-Control", "private, no-cache")]
    large = len(answer.begin) >= MIN_BYTES
    if large:
        headers.append(("Vary", "Accept-Encoding"))
    environ = call.environ
    if "HTTP_IF_NONE_MATCH" in environ and call.if_none_match.contains_raw(answer.etag):
        return Response(status=304, headers=headers)
    end = b',"meta":%b}' % to_json(meta(call, cache_age_seconds))
    coding = choose(environ.get("HTTP_ACCEPT_ENCODING")) if large else None
    parts: tuple[bytes, bytes]
    if coding is None:
        parts = (answer.begin, end)
    else:
        headers.append(("Content-Encoding", coding))
        begun = answer.begun(coding)
        parts = (begun.compressed, CODINGS[coding].end(begun, end))
    body = b"".join(parts) if len(parts[0]) < _MIN_SPLIT_BYTES else parts
    response = _Complete(body, content_type=JSON)
    # After its type and length, for which it looks through those that it has.
    response.headers.extend(headers)
    return response
