"""GET /docs, /v1/openapi.json, /llms.txt and /skill.md: the documentation for people, programs and models."""

import orjson
from flask import Blueprint, Response, current_app, request
from markupsafe import escape
from werkzeug.exceptions import NotFound

from wallet_api.api.access.views import keyless
from wallet_api.api.openapi.published import published, published_document
from wallet_api.api.responses.pages import cacheable, file_response, page_response, page_text
from wallet_api.api.schemas.arguments import AMOUNTS, FORMATS
from wallet_api.api.services import services
from wallet_api.base.errors import InvalidParameter

blueprint = Blueprint("docs", __name__)

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
    return cacheable(Response(body, content_type="application/json"))


@blueprint.get("/llms.txt")
@keyless
def llms() -> Response:
    """Return the API in short, for models."""
    return cacheable(Response(published(current_app)["llms"], content_type="text/plain; charset=utf-8"))


@blueprint.get("/skill.md")
@keyless
def skill() -> Response:
    """Return the same as a skill for assistants."""
    return cacheable(Response(published(current_app)["skill"], content_type="text/markdown; charset=utf-8"))


@blueprint.get("/docs")
@keyless
def page() -> Response:
    """Return the page of the documentation, with a console; in the demo with its key."""
    text, key = page_text("docs.html"), services().demo_key()
    if key is not None:
        text = text.replace("<main ", _DEMO.format(key=escape(key)), 1)
    return page_response(text)


@blueprint.get("/docs/<name>")
@keyless
def asset(name: str) -> Response:
    """Return a script, a style or an image of the page."""
    if name not in _ASSETS:
        raise NotFound
    return file_response(*_ASSETS[name])
