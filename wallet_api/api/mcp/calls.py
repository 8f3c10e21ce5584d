"""A call of a tool: the request of its operation, sent to the application itself, and its response."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True)
class ToolCall:
    """A call that can be sent: the operation, its route, and the query string."""

    operation: Operation
    rule: Rule
    query: Mapping[str, str]


def read_call(app: Flask, message: Message) -> ToolCall:
    """Return the call that the message is. Raises Fault."""
    name = message.param("name", str)
    found = _find(app, name)
    if found is None:
        raise message.fault(-32602, f"There is no tool {name[:100]!r}: tools/list has all.")
    rule, operation = found
    given = message.param("arguments", dict[str, msgspec.Raw], {})
    query = {argument: _text(message, argument, value) for argument, value in given.items()}
    defaults = {name: value for name, value in OF_TOOLS.items() if name in operation.arguments.fields}
    return ToolCall(operation, rule, defaults | query)


def send_call(app: Flask, request: ApiRequest, call: ToolCall) -> tuple[Response, list[str] | None]:
    """Return the response to a call within `request`, and the texts of its result; None if it has no result.

    The operation's request is counted and logged in place of the current one.
    """
    query = urlencode(call.query)
    # Neither conditions nor encodings: the response is read here.
    headers = {"Authorization": request.headers.get("Authorization", "")}
    environ = create_environ(call.rule.rule, query_string=query, headers=headers)
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
    request.counts = False
    request.environ["QUERY_STRING"] = urlencode({"tool": call.operation.name}) + (query and f"&{query}")
    request.environ[KEY_NAME] = inner.get(KEY_NAME)
    own = {name: value for name, value in response.headers.items() if name in _HEADERS}
    made = Response(body, response.status_code, own, content_type=response.content_type)
    if response.status_code in _AS_THEY_ARE:
        return made, None
    return made, cut_lists(body, _continuation(call))


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


def _continuation(call: ToolCall) -> Continuation:
    fields = call.operation.arguments.fields
    narrowing = [
        f"{name}=false" if isinstance(field, Switch) else name
        for name, field in fields.items()
        if isinstance(field, Texts) or (name in _NARROWING and not field.required)
    ]
    pages = (call.operation.rows or "") if "cursor" in fields else None
    return Continuation(call.rule.rule, pages, "after" if call.query.get("after") else "cursor", narrowing)
