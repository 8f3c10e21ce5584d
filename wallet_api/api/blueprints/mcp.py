"""POST /mcp: the operations as tools of MCP, for assistants.

A `tools/call` is answered by the response of the application to the request of its operation, so that the
key, the limit, the credits, the arguments, the cache and the counts are those of that operation. Other
messages are an operation of their own, without a cost.
"""

from functools import partial
from typing import Any

import msgspec
from flask import Blueprint, Response, current_app
from werkzeug.exceptions import RequestEntityTooLarge

from wallet_api import __version__
from wallet_api.api.access.current import ApiRequest, current_request
from wallet_api.api.access.views import View
from wallet_api.api.keys import bearer_key
from wallet_api.api.mcp.calls import call_tool
from wallet_api.api.mcp.messages import EARLIER, SUPPORTED, Fault, Message, parse
from wallet_api.api.openapi.published import published
from wallet_api.api.responses.envelope import JSON
from wallet_api.api.services import services
from wallet_api.base.errors import Forbidden, Unauthorized

blueprint = Blueprint("mcp", __name__)

# Of a body.
MAX_BYTES = 64 * 1024
_SERVER = {"name": "wallet-api", "version": __version__}
_CAPABILITIES: dict[str, Any] = {"tools": {}}
_OTHER_ORIGIN = "Pages of this origin may not use this API: it is not in CORS_ORIGINS."


@blueprint.post("/mcp")
# Some clients add a slash.
@blueprint.post("/mcp/")
@partial(View, access="own")
def mcp() -> Response:
    """Return the response to a message; one that is no call of an operation costs nothing."""
    request, gate = current_request(), services().gate
    _check_headers(request)
    try:
        message = parse(_body(request), request.headers.get)
        if message.is_call:
            return _called(message, *call_tool(current_app, request, message))
        request.free_of_charge = True
        gate.admit(request)
        return _reply(message)
    except Fault as fault:
        if request.key is None:
            request.free_of_charge = True
            gate.admit(request)
        return _refusal(request, fault)


def _check_headers(request: ApiRequest) -> None:
    """Raise Forbidden or Unauthorized if it is of another page, or without a key in the header."""
    origins = services().cors_origins
    if request.origin is not None and "*" not in origins and request.origin not in origins:
        raise Forbidden("origin_not_allowed", _OTHER_ORIGIN)
    # What is in the URL gets into logs.
    if bearer_key(request.environ.get("HTTP_AUTHORIZATION")) is None:
        raise Unauthorized("An API key is required: send it as the header 'Authorization: Bearer KEY'.")


def _body(request: ApiRequest) -> bytes:
    # A body without a length ends silently where this one is reached.
    request.max_content_length = MAX_BYTES + 1
    body = request.get_data()
    if len(body) > MAX_BYTES:
        raise RequestEntityTooLarge
    return body


def _called(message: Message, response: Response, texts: list[str] | None) -> Response:
    """Return the response of an operation as the result of its tool; as it is without texts."""
    if texts is None:
        return response
    content = [{"type": "text", "text": text} for text in texts]
    made = _result(message, {"content": content, "isError": response.status_code != 200})
    response.status_code = 200
    response.content_type = made.content_type
    response.set_data(made.get_data())
    return response


def _reply(message: Message) -> Response:
    """Return the response to a message that is no call. Raises Fault."""
    if message.id is not None:
        return _result(message, _answer_to(message))
    response = Response(status=202)
    del response.headers["Content-Type"]
    return response


def _answer_to(message: Message) -> dict[str, Any]:
    """Return the result of a request. Raises Fault."""
    texts = published(current_app)
    about = {"capabilities": _CAPABILITIES, "instructions": msgspec.Raw(texts["instructions"])}
    match message.method, message.is_latest:
        case "tools/list", _:
            if "cursor" in message.params:
                raise message.fault(-32602, "There is no such cursor: the list has one page.")
            return {"tools": msgspec.Raw(texts["tools"])} | _cacheable(message)
        case "server/discover", True:
            return {"supportedVersions": SUPPORTED, **about, **_cacheable(message)}
        case "initialize", False:
            requested = message.param("protocolVersion", str)
            version = requested if requested in EARLIER else EARLIER[0]
            return {"protocolVersion": version, "serverInfo": _SERVER, **about}
        case "ping", False:
            return {}
    raise message.fault(-32601, f"There is no method {message.method[:100]!r} here.")


def _cacheable(message: Message) -> dict[str, Any]:
    # The same for all keys, until the service is updated.
    return {"ttlMs": 3_600_000, "cacheScope": "public"} if message.is_latest else {}


def _result(message: Message, result: dict[str, Any]) -> Response:
    # Clients of earlier revisions refuse members that these do not have.
    latest = {"resultType": "complete", "_meta": {"io.modelcontextprotocol/serverInfo": _SERVER}}
    return _json(message.id, result=(latest | result) if message.is_latest else result)


def _refusal(request: ApiRequest, fault: Fault) -> Response:
    request.refusal = ("invalid_request", str(fault.code))
    error = {"code": fault.code, "message": fault.message, **({"data": fault.data} if fault.data else {})}
    response = _json(fault.id, error=error)
    response.status_code = fault.status
    return response


def _json(id: msgspec.Raw | None, **members: Any) -> Response:
    body = msgspec.json.encode({"jsonrpc": "2.0", "id": id, **members})
    return Response(body, content_type=JSON)
