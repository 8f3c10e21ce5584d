"""The pages for browsers, and the files that they load."""

from collections.abc import Sequence
from importlib import resources

from flask import Response, request

# Scripts, styles and requests of this origin only, none inline; images also of hosts that are allowed.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:{hosts}; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_TYPES = {"css": "text/css", "html": "text/html", "js": "text/javascript", "svg": "image/svg+xml"}


def page_text(name: str) -> str:
    """Return the text of a page in `pages/`."""
    return resources.files("wallet_api.api").joinpath("pages", name).read_text()


def page_response(text: str, *, image_hosts: Sequence[str] = ()) -> Response:
    """Respond with a page, which loads nothing but files of this origin, and images of these hosts."""
    response = Response(text, content_type="text/html; charset=utf-8")
    hosts = "".join(f" https://{host}" for host in image_hosts)
    response.headers["Content-Security-Policy"] = _POLICY.format(hosts=hosts)
    return cacheable(response)


def file_response(package: str, path: str) -> Response:
    """Respond with a script, a style or an image of a package."""
    body = resources.files(package).joinpath(path).read_bytes()
    return cacheable(Response(body, content_type=f"{_TYPES[path.rpartition('.')[2]]}; charset=utf-8"))


def cacheable(response: Response) -> Response:
    """Let browsers cache a response, and revalidate it each time."""
    response.headers["Cache-Control"] = "public, no-cache"
    response.add_etag()
    # Ignore If-Match, which is for changes: its 412 would have the page as its body.
    response.make_conditional({**request.environ, "HTTP_IF_MATCH": ""})
    return response
