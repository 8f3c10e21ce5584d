"""GET /: the paths of the documentation and of the health check."""

from typing import Any

from flask import Blueprint, Response

from wallet_api.access.gate import keyless
from wallet_api.responses.envelope import respond
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
    return respond(_INDEX)
