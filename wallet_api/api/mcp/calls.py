"""A call of a tool: the request of its operation, sent to the application itself, and its response."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import msgspec
from flask import Flask, Response
from werkzeug.routing import Rule
from werkzeug.test import create_environ

from wallet_api.api.access.current import KEY_NAME, OF_TOOL, REQUEST_ID, ApiRequest
from wallet_api.api.mcp.messages import Message
from wallet_api.api.mcp.results import Continuation, cut_lists
from wallet_api.api.responses.operation import Operation, is_alias, operation_of
from wallet_api.api.schemas.argument_fields import Switch, Texts
from wallet_api.api.schemas.arguments import OF_TOOLS

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

# The service's own responses, which are no results.
_AS_THEY_ARE = (401, 403, 429, 503)
_HEADERS = {
    *("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Credits-Remaining"),
    *("Retry-After", "WWW-Authenticate"),
}
# Optional arguments that return fewer rows.
_NARROWING = {
    *("mint", "seconds", "minutes", "hours", "since", "until", "period", "transaction_type", "min_value"),
    *("min_wallets", "overview", "trades", "tokens", "dates", "include_wallets"),
}


def call_tool(app: Flask, request: ApiRequest, message: Message) -> tuple[Response, list[str] | None]:
    """Return the response to the call that the message is, within `request`, and the texts of its result.

    They are None if it has no result. The operation's request is counted and logged in place of the current
    one. Raises Fault.
    """
    name = message.param("name", str)
    found = _find(app, name)
    if found is None:
        raise message.fault(-32602, f"There is no tool {name[:100]!r}: tools/list has all.")
    rule, operation = found
    given = message.param("arguments", dict[str, msgspec.Raw], {})
    arguments = {name: value for name, value in OF_TOOLS.items() if name in operation.arguments.fields}
    arguments |= {argument: _text(message, argument, value) for argument, value in given.items()}
    query = urlencode(arguments)
    response, key_name = _sent(app, request, rule.rule, query)
    request.counts = False
    request.environ["QUERY_STRING"] = urlencode({"tool": name}) + (query and f"&{query}")
    request.environ[KEY_NAME] = key_name
    if response.status_code in _AS_THEY_ARE:
        return response, None
    return response, cut_lists(response.get_data(), _continuation(operation, rule.rule, arguments))


def _sent(app: Flask, request: ApiRequest, path: str, query: str) -> tuple[Response, str | None]:
    """Return the response to a request within `request`, and the name of its key."""
    # Neither conditions nor encodings: the response is read here.
    headers = {"Authorization": request.headers.get("Authorization", "")}
    environ = create_environ(path, query_string=query, headers=headers)
    environ["REMOTE_ADDR"] = request.environ.get("REMOTE_ADDR", "")
    environ |= {REQUEST_ID: request.request_id, OF_TOOL: True}
    inner: WSGIEnvironment = {}

    def serve(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        # What the gate notes is in the copy of the environment that werkzeug passes on.
        nonlocal inner
        inner = environ
        return app.wsgi_app(environ, start_response)

    with Response.from_app(serve, environ) as response:
        body = response.get_data()
    own = {name: value for name, value in response.headers.items() if name in _HEADERS}
    made = Response(body, response.status_code, own, content_type=response.content_type)
    return made, inner.get(KEY_NAME)


def _find(app: Flask, name: str) -> tuple[Rule, Operation] | None:
    """Return an operation after its route; None if there is no such one."""
    for rule in app.url_map.iter_rules():
        operation = operation_of(app, rule.endpoint)
        if operation is not None and operation.name == name and not is_alias(rule):
            return rule, operation
    return None


def _text(message: Message, name: str, value: msgspec.Raw) -> str:
    """Return an argument as it is in a query string: a text without quotes, all else as it is written.

    Several values are a list, or a text with commas.
    """
    written = bytes(value)
    if written.startswith(b'"'):
        return message.decoded(name, value, str)
    if written.startswith(b'["'):
        return ",".join(message.decoded(name, value, list[str]))
    # As in a query string, an empty argument is an absent one.
    text = "" if written == b"null" else written.decode(errors="replace")
    return _whole(text) if "." in text else text


def _whole(number: str) -> str:
    """Return a whole number without its point: to JSON Schema, 2.0 is an integer; all else as it is."""
    head, _, decimals = number.partition(".")
    return head if head.isdecimal() and decimals and not decimals.strip("0") else number


def _continuation(operation: Operation, path: str, arguments: Mapping[str, str]) -> Continuation:
    fields = operation.arguments.fields
    narrowing = [
        f"{name}=false" if isinstance(field, Switch) else name
        for name, field in fields.items()
        if isinstance(field, Texts) or (name in _NARROWING and not field.required)
    ]
    pages = (operation.rows or "") if "cursor" in fields else None
    return Continuation(path, pages, "after" if arguments.get("after") else "cursor", narrowing)
