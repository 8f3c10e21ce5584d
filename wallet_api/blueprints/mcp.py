"""POST /mcp: the operations as tools of MCP, for assistants.

A `tools/call` becomes the request of its operation before the gate, so that the key, the limit, the
credits, the arguments, the cache and the counts are those of that operation; after all that has been counted,
its response becomes the result of the tool. Other messages are an operation of their own, without a cost.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any
from urllib.parse import urlencode

import msgspec
from flask import Blueprint, Flask, Response, current_app, g
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.routing import Rule

from wallet_api import __version__
from wallet_api.access.current import OPERATION_ID, current_request
from wallet_api.access.gate import creditless
from wallet_api.errors import Forbidden
from wallet_api.mcp.messages import EARLIER, SUPPORTED, Fault, Message, parse
from wallet_api.mcp.results import Rest, cut_lists
from wallet_api.openapi import is_alias
from wallet_api.openapi.definitions import GENERAL, OF_FIELDS
from wallet_api.openapi.published import published
from wallet_api.responses.envelope import JSON
from wallet_api.responses.operation import Operation, operation_of, undocumented
from wallet_api.schemas.argument_fields import Texts
from wallet_api.schemas.arguments import OF_FORM

blueprint = Blueprint("mcp", __name__)

# Of a body.
MAX_BYTES = 64 * 1024
_SERVER = {"name": "wallet-api", "title": "Wallet Intelligence API", "version": __version__}
_CAPABILITIES: dict[str, Any] = {"tools": {}}
_INSTRUCTIONS = " ".join([*GENERAL, *OF_FIELDS.values()])
# The same for all keys, until the service is updated.
_CACHEABLE = {"ttlMs": 3_600_000, "cacheScope": "public"}
# The service's own responses, with the headers that say when to come again.
_AS_THEY_ARE = (401, 403, 429, 503)
# Arguments of operations that no tool has: the key is in the header, and a result is JSON.
_LEFT_OUT = ("api_key", *OF_FORM)
# Optional arguments that return fewer rows.
_NARROWING = {
    *("mint", "seconds", "minutes", "hours", "period", "transaction_type", "min_value", "min_wallets"),
    *("overview", "trades", "tokens", "include_wallets"),
}


class OriginNotAllowed(Forbidden):
    """Pages of this origin may not use this API: it is not in CORS_ORIGINS."""

    def __init__(self) -> None:
        super().__init__(reason="origin_not_allowed")


def init_app(app: Flask, origins: Sequence[str]) -> None:
    """Read the messages of `app`, of pages of these origins, `*` for all.

    Call it before other hooks are registered: it has to run first and last.
    """
    app.before_request(partial(_receive, origins))
    app.after_request(_answer)


@blueprint.post("/mcp")
@creditless
@undocumented
def mcp() -> Response:
    """Return the response to all messages but a `tools/call` of an operation."""
    message: Message | Fault = g.mcp
    if isinstance(message, Fault):
        return _refusal(message)
    if message.id is None:
        response = Response(status=202)
        del response.headers["Content-Type"]
        return response
    try:
        return _result(message, _answer_to(message))
    except Fault as fault:
        return _refusal(fault)


def _receive(origins: Sequence[str]) -> None:
    """Read the message in the body, and let a `tools/call` be the request of its operation."""
    request = current_request()
    if request.endpoint != f"{blueprint.name}.{mcp.__name__}":
        return
    # The key is in the header alone: what is in the URL gets into logs.
    request.query_string = b""
    if request.origin is not None and "*" not in origins and request.origin not in origins:
        raise OriginNotAllowed
    # A body without a length ends silently where this one is reached.
    request.max_content_length = MAX_BYTES + 1
    body = request.get_data()
    if len(body) > MAX_BYTES:
        raise RequestEntityTooLarge
    try:
        message = g.mcp = parse(body, request.headers.get)
        if message.id is not None and message.method == "tools/call":
            _become_the_call(message)
    except Fault as fault:
        g.mcp = fault


def _become_the_call(message: Message) -> None:
    """Turn the current request into the one that the message stands for. Raises Fault."""
    request, name = current_request(), message.param("name", str)
    rule = _rule_of(name)
    if rule is None:
        raise message.fault(-32602, f"There is no tool {name[:100]!r}: tools/list has all.")
    arguments = message.param("arguments", dict[str, msgspec.Raw], {})
    query = urlencode([(argument, _text(message, argument, value)) for argument, value in arguments.items()])
    request.query_string = query.encode()
    request.url_rule, request.view_args = rule, {}
    # For the access log.
    request.environ["QUERY_STRING"] = urlencode({"tool": name}) + (f"&{query}" if query else "")
    # The response is read here, not by the caller.
    for header in ("HTTP_IF_NONE_MATCH", "HTTP_ACCEPT_ENCODING"):
        request.environ.pop(header, None)
    g.mcp_call = message


def _rule_of(name: str) -> Rule | None:
    """Return the route of an operation; None if there is no such one."""
    views = current_app.view_functions
    for rule in current_app.url_map.iter_rules():
        if getattr(views[rule.endpoint], OPERATION_ID, None) == name and not is_alias(rule):
            return rule
    return None


def _text(message: Message, name: str, value: msgspec.Raw) -> str:
    """Return an argument as it is in a query string: a text without quotes, all else as it is written."""
    if name in _LEFT_OUT:
        raise message.fault(-32602, f"No tool has the argument {name}.")
    written = bytes(value)
    if written.startswith(b'"'):
        return message.decoded(name, value, str)
    # As in a query string, an empty argument is an absent one.
    return "" if written == b"null" else written.decode(errors="replace")


def _answer(response: Response) -> Response:
    """Return the response of an operation as the result of its tool."""
    call: Message | None = g.pop("mcp_call", None)
    if call is None or response.status_code in _AS_THEY_ARE:
        return response
    request = current_request()
    operation = operation_of(current_app, str(request.endpoint))
    assert operation is not None
    assert request.url_rule is not None
    texts = cut_lists(response.get_data(), _rest(operation, request.url_rule.rule))
    result = {
        "content": [{"type": "text", "text": text} for text in texts],
        "isError": response.status_code != 200,
    }
    made = _result(call, result)
    response.status_code = 200
    response.content_type = made.content_type
    response.set_data(made.get_data())
    for header in ("ETag", "Link", "X-Next-Cursor", "Cache-Control"):
        response.headers.pop(header, None)
    return response


def _rest(operation: Operation, path: str) -> Rest:
    fields = operation.arguments.fields
    narrowing = [
        name
        for name, field in fields.items()
        if isinstance(field, Texts) or (name in _NARROWING and not field.required)
    ]
    place = "after" if current_request().args.get("after") else "cursor"
    return Rest(path, (operation.rows or "") if "cursor" in fields else None, place, narrowing)


def _answer_to(message: Message) -> dict[str, Any]:
    """Return the result of a request. Raises Fault."""
    about = {"capabilities": _CAPABILITIES, "instructions": _INSTRUCTIONS}
    match message.method, message.is_latest:
        case "tools/list", _:
            if "cursor" in message.params:
                raise message.fault(-32602, "There is no such cursor: the list has one page.")
            return {"tools": msgspec.Raw(published(current_app)["tools"]), **_CACHEABLE}
        case "server/discover", True:
            return {"supportedVersions": SUPPORTED, **about, **_CACHEABLE}
        case "initialize", False:
            requested = message.param("protocolVersion", str)
            return {
                "protocolVersion": requested if requested in EARLIER else EARLIER[0],
                "serverInfo": _SERVER,
                **about,
            }
        case "ping", False:
            return {}
    raise message.fault(-32601, f"There is no method {message.method[:100]!r} here.")


def _result(message: Message, result: dict[str, Any]) -> Response:
    meta = {"io.modelcontextprotocol/serverInfo": _SERVER}
    return _json(message.id, result={"resultType": "complete", **result, "_meta": meta})


def _refusal(fault: Fault) -> Response:
    current_request().refusal = ("invalid_request", str(fault.code))
    error = {"code": fault.code, "message": fault.message, **({"data": fault.data} if fault.data else {})}
    response = _json(fault.id, error=error)
    response.status_code = fault.status
    return response


def _json(id: msgspec.Raw | None, **members: Any) -> Response:
    body = msgspec.json.encode({"jsonrpc": "2.0", "id": id, **members})
    return Response(body, content_type=JSON)
