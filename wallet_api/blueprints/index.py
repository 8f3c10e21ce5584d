"""GET /: the paths of the documentation and of the health check."""

from typing import Any

from flask import Blueprint, Response, abort

from wallet_api.access.current import current_request
from wallet_api.access.gate import keyless
from wallet_api.responses.envelope import opens_websocket, respond
from wallet_api.responses.operation import undocumented

blueprint = Blueprint("index", __name__)

_INDEX: dict[str, Any] = {
    "name": "Wallet Intelligence API",
    "documentation": "/docs",
    "openapi": "/v1/openapi.json",
    "health": "/readyz",
}


@blueprint.get("/")
@keyless
@undocumented
def index() -> Response:
    """Return the paths of the documentation and of the health check."""
    # Clients of the public API open their websocket here.
    if opens_websocket(current_request()):
        abort(404)
    return respond(_INDEX)
