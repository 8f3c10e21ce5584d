"""What gunicorn itself takes: a WSGI function that returns constant bytes."""

from collections.abc import Callable, Iterable
from typing import Any

_BODY = b'{"success":true,"data":{"blockchain":"solana","type":"kol","mode":"volume","volume":1234.56789}}'


def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """The same bytes to every request."""
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(_BODY)))])
    return [_BODY]
