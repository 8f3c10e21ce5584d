"""GET /, /docs, /v1/openapi.json, /llms.txt and /skill.md: pages for people, and documents for programs."""

import json
from collections.abc import Sequence
from importlib import resources
from typing import Any

import orjson
from flask import Blueprint, Response, current_app, request
from markupsafe import escape
from werkzeug.exceptions import NotFound

from wallet_api.api.access.views import keyless
from wallet_api.api.openapi.figures import sentences
from wallet_api.api.openapi.published import published, published_document
from wallet_api.api.responses.envelope import respond
from wallet_api.api.responses.operator import operator_of
from wallet_api.api.schemas.arguments import AMOUNTS, FORMATS
from wallet_api.api.services import services
from wallet_api.base.chains import CHAINS
from wallet_api.base.errors import InvalidParameter

blueprint = Blueprint("pages", __name__)

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
# Swagger UI, as flask-swagger-ui packages it; the page and the script that starts it are in pages/.
_SWAGGER = "flask_swagger_ui"
_ASSETS = {
    "swagger-ui.css": (_SWAGGER, "dist/swagger-ui.css"),
    "swagger-ui-bundle.js": (_SWAGGER, "dist/swagger-ui-bundle.js"),
    "docs.css": ("wallet_api.api", "pages/docs.css"),
    "docs.js": ("wallet_api.api", "pages/docs.js"),
    "icon.svg": ("wallet_api.api", "pages/icon.svg"),
}
_DEMO = (
    '<p class="demo" data-key="{key}">This is the demo, and its key is filled in: '
    "open an operation and press Execute.</p>\n<main "
)
# Scripts, styles and requests of this origin only, none inline; images also of hosts that are allowed.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:{hosts}; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_TYPES = {"css": "text/css", "html": "text/html", "js": "text/javascript", "svg": "image/svg+xml"}


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
    return _file_response("wallet_api.api", f"pages/{name}")


@blueprint.get("/page/figures.json")
@keyless
def figures() -> Response:
    """Return what each figure of the page is, by the name of its field."""
    if not services().settings.page:
        raise NotFound
    return _cacheable(Response(json.dumps(sentences(current_app)), content_type="application/json"))


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
    text = _page_text("page.html").replace("<body", f"<body{given}", 1)
    text = text.replace("<noscript>", f"{operator_of(current_app).footer}<noscript>", 1)
    return _page_response(text, image_hosts=hosts)


@blueprint.get("/v1/openapi.json")
@keyless
def openapi() -> Response:
    """Return the OpenAPI 3.1 document of this version, of all responses or of some forms of them."""
    for name, allowed in (("amounts", AMOUNTS), ("format", FORMATS[:1])):
        if request.args.get(name, "") not in ("", *allowed):
            message = f"Parameter {name} must be one of {', '.join(allowed)}."
            raise InvalidParameter(message, parameter=name, allowed=allowed)
    amounts, has_tables = request.args.get("amounts") or AMOUNTS[0], not request.args.get("format")
    servers = orjson.dumps({"servers": [{"url": request.root_url.rstrip("/")}]})
    body = servers[:-1] + b"," + published_document(current_app, amounts, tables=has_tables)[1:]
    return _cacheable(Response(body, content_type="application/json"))


@blueprint.get("/llms.txt")
@keyless
def llms() -> Response:
    """Return the API in short, for models."""
    return _cacheable(Response(published(current_app)["llms"], content_type="text/plain; charset=utf-8"))


@blueprint.get("/skill.md")
@keyless
def skill() -> Response:
    """Return the same as a skill for assistants."""
    return _cacheable(Response(published(current_app)["skill"], content_type="text/markdown; charset=utf-8"))


@blueprint.get("/docs")
@keyless
def docs() -> Response:
    """Return the page of the documentation, with a console; in the demo with its key."""
    text, key = _page_text("docs.html"), services().demo_key()
    if key is not None:
        text = text.replace("<main ", _DEMO.format(key=escape(key)), 1)
    return _page_response(text)


@blueprint.get("/docs/<name>")
@keyless
def asset(name: str) -> Response:
    """Return a script, a style or an image of the page."""
    if name not in _ASSETS:
        raise NotFound
    return _file_response(*_ASSETS[name])


def _page_text(name: str) -> str:
    """Return the text of a page in `pages/`."""
    return resources.files("wallet_api.api").joinpath("pages", name).read_text()


def _page_response(text: str, *, image_hosts: Sequence[str] = ()) -> Response:
    """Respond with a page, which loads nothing but files of this origin, and images of these hosts."""
    response = Response(text, content_type="text/html; charset=utf-8")
    hosts = "".join(f" https://{host}" for host in image_hosts)
    response.headers["Content-Security-Policy"] = _POLICY.format(hosts=hosts)
    return _cacheable(response)


def _file_response(package: str, path: str) -> Response:
    """Respond with a script, a style or an image of a package."""
    body = resources.files(package).joinpath(path).read_bytes()
    return _cacheable(Response(body, content_type=f"{_TYPES[path.rpartition('.')[2]]}; charset=utf-8"))


def _cacheable(response: Response) -> Response:
    """Let browsers cache a response, and revalidate it each time."""
    response.headers["Cache-Control"] = "public, no-cache"
    response.add_etag()
    # Ignore If-Match, which is for changes: its 412 would have the page as its body.
    response.make_conditional({**request.environ, "HTTP_IF_MATCH": ""})
    return response
