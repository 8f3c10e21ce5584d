"""GET /docs, /v1/openapi.json and /llms.txt: the documentation for people, programs and models."""

from importlib import resources

from flask import Blueprint, Response, current_app, request
from markupsafe import escape
from werkzeug.exceptions import NotFound

from wallet_api.access.gate import keyless
from wallet_api.openapi.published import published
from wallet_api.responses.operation import undocumented
from wallet_api.services import services

blueprint = Blueprint("docs", __name__)

# Swagger UI, as flask-swagger-ui packages it; the page and the script that starts it are in pages/.
_SWAGGER = "flask_swagger_ui"
_ASSETS = {
    "swagger-ui.css": (_SWAGGER, "dist/swagger-ui.css", "text/css"),
    "swagger-ui-bundle.js": (_SWAGGER, "dist/swagger-ui-bundle.js", "text/javascript"),
    "docs.css": ("wallet_api", "pages/docs.css", "text/css"),
    "docs.js": ("wallet_api", "pages/docs.js", "text/javascript"),
    "icon.svg": ("wallet_api", "pages/icon.svg", "image/svg+xml"),
}

# Scripts, styles and requests of this origin only, none inline.
_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

_DEMO = (
    '<p class="demo" data-key="{key}">This is the demo, and its key is filled in: '
    "open an operation and press Execute.</p>\n<main "
)


@blueprint.get("/v1/openapi.json")
@keyless
@undocumented
def openapi() -> Response:
    """Return the OpenAPI 3.1 document of this version."""
    return _cacheable(Response(published(current_app)["openapi"], content_type="application/json"))


@blueprint.get("/llms.txt")
@keyless
@undocumented
def llms() -> Response:
    """Return what a model needs to know of the API."""
    return _cacheable(Response(published(current_app)["llms"], content_type="text/plain; charset=utf-8"))


@blueprint.get("/docs")
@keyless
@undocumented
def page() -> Response:
    """Return the page of the documentation, with a console; in the demo with its key."""
    text = _read("wallet_api", "pages/docs.html").decode()
    file = services().demo_key_file
    if file is not None and file.exists():
        text = text.replace("<main ", _DEMO.format(key=escape(file.read_text().strip())), 1)
    response = Response(text, content_type="text/html; charset=utf-8")
    response.headers["Content-Security-Policy"] = _PAGE_POLICY
    return _cacheable(response)


@blueprint.get("/docs/<name>")
@keyless
@undocumented
def asset(name: str) -> Response:
    """Return a script, a style or an image of the page."""
    if name not in _ASSETS:
        raise NotFound
    package, path, content_type = _ASSETS[name]
    return _cacheable(Response(_read(package, path), content_type=f"{content_type}; charset=utf-8"))


def _read(package: str, path: str) -> bytes:
    return resources.files(package).joinpath(path).read_bytes()


def _cacheable(response: Response) -> Response:
    """Let browsers cache a response, and revalidate it each time."""
    response.headers["Cache-Control"] = "public, no-cache"
    response.add_etag()
    # Ignore If-Match, which is for changes: its 412 would have the page as its body.
    response.make_conditional({**request.environ, "HTTP_IF_MATCH": ""})
    return response
