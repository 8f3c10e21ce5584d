"""GET /: a page for browsers; for programs the paths of the documentation and of the health check."""

from typing import Any

from flask import Blueprint, Response, current_app, request
from markupsafe import escape
from werkzeug.exceptions import NotFound

from wallet_api.access.gate import keyless
from wallet_api.responses.envelope import respond
from wallet_api.responses.operation import undocumented
from wallet_api.responses.operator import operator_of
from wallet_api.responses.pages import file_response, page_response, page_text
from wallet_api.services import services

blueprint = Blueprint("index", __name__)

_INDEX: dict[str, Any] = {
    "name": "Wallet Intelligence API",
    "documentation": "/docs",
    "openapi": "/v1/openapi.json",
    "health": "/readyz",
}
# The plots are drawn by uPlot; its source and checksums are in uPlot.LICENSE.
_FILES = ("page.css", "page.js", "uPlot.min.css", "uPlot.iife.min.js", "icon.svg")


@blueprint.get("/")
@keyless
@undocumented
def index() -> Response:
    """Return the page to a browser, in the demo with its key; else the paths."""
    response = _page() if services().has_page and _wants_html() else respond(_INDEX)
    response.vary.add("Accept")
    return response


@blueprint.get("/page/<name>")
@keyless
@undocumented
def file(name: str) -> Response:
    """Return a script, a style or an image of the page."""
    if name not in _FILES or not services().has_page:
        raise NotFound
    return file_response("wallet_api", f"pages/{name}")


def _wants_html() -> bool:
    return request.accept_mimetypes.best_match(("application/json", "text/html")) == "text/html"


def _page() -> Response:
    text, key = page_text("page.html"), services().demo_key()
    if key is not None:
        text = text.replace("<body", f'<body data-key="{escape(key)}"', 1)
    return page_response(text.replace("<noscript>", operator_of(current_app).footer + "<noscript>", 1))
