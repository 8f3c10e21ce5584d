"""GET /: a page for browsers; for programs the paths of the documentation and of the health check."""

import json
from importlib import resources
from typing import Any

from flask import Blueprint, Response, current_app, request
from markupsafe import escape
from werkzeug.exceptions import NotFound

from wallet_api.api.access.views import keyless
from wallet_api.api.openapi.figures import sentences
from wallet_api.api.responses.envelope import respond
from wallet_api.api.responses.operator import operator_of
from wallet_api.api.responses.pages import cacheable, file_response, page_response, page_text
from wallet_api.api.services import services
from wallet_api.base.chains import CHAINS

blueprint = Blueprint("index", __name__)

_INDEX: dict[str, Any] = {
    "name": "Wallet Intelligence API",
    "documentation": "/docs",
    "openapi": "/v1/openapi.json",
    "health": "/readyz",
}
# The plots are drawn by uPlot; its source and checksums are in uPlot.LICENSE.
_FILES = frozenset(
    file.name
    for file in resources.files("wallet_api.api").joinpath("pages").iterdir()
    if file.name.endswith((".css", ".js", ".svg")) and not file.name.startswith("docs.")
)


@blueprint.get("/")
@keyless
def index() -> Response:
    """Return the page to a browser, in the demo with its key; else the paths."""
    response = _page() if services().settings.page and _wants_html() else respond(_INDEX)
    response.vary.add("Accept")
    return response


@blueprint.get("/page/<name>")
@keyless
def file(name: str) -> Response:
    """Return a script, a style or an image of the page."""
    if name not in _FILES or not services().settings.page:
        raise NotFound
    return file_response("wallet_api.api", f"pages/{name}")


@blueprint.get("/page/figures.json")
@keyless
def figures() -> Response:
    """Return what each figure of the page is, by the name of its field."""
    if not services().settings.page:
        raise NotFound
    return cacheable(Response(json.dumps(sentences(current_app)), content_type="application/json"))


def _wants_html() -> bool:
    return request.accept_mimetypes.best_match(("application/json", "text/html")) == "text/html"


def _page() -> Response:
    hosts, key = services().page_image_hosts, services().demo_key()
    data = {
        "key": key,
        "explorers": json.dumps({name: chain.explorer for name, chain in CHAINS.items()}),
        "image-hosts": json.dumps(hosts),
    }
    given = "".join(f' data-{name}="{escape(text)}"' for name, text in data.items() if text is not None)
    text = page_text("page.html").replace("<body", f"<body{given}", 1)
    text = text.replace("<noscript>", f"{operator_of(current_app).footer}<noscript>", 1)
    return page_response(text, image_hosts=hosts)
