"""A client that sends any path, and the checks of error responses."""

import http.client
import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tests.processes import Gunicorn

# No body may contain markup or internal details.
FORBIDDEN = (
    "<!doctype",
    "<html",
    "</",
    "psycopg",
    "postgres",
    "relation",
    "column",
    "traceback",
    "select ",
    "line 1",
    "werkzeug",
)


class _AnyPath(http.client.HTTPConnection):
    """A connection that also sends paths with invalid characters."""

    def _validate_path(self, url: str) -> None:
        pass


@dataclass
class Answer:
    """A response, with its body read."""

    status: int
    headers: http.client.HTTPMessage
    text: str
    body: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.body = json.loads(self.text) if self.text else {}

    @property
    def error(self) -> dict[str, Any]:
        """The error object."""
        error: dict[str, Any] = self.body["error"]
        return error


class Service:
    """A running service and an unlimited key."""

    def __init__(self, server: Gunicorn, key: str) -> None:
        self.server = server
        self.key = key

    def ask(self, path: str, *, key: str | None = "", method: str = "GET", **headers: str) -> Answer:
        """Send a request with this exact path. An empty `key` is the unlimited one; None sends none."""
        address = urlsplit(self.server.url)
        connection = _AnyPath(str(address.hostname), address.port, timeout=30)
        sent = dict(headers) if key is None else {"Authorization": f"Bearer {key or self.key}", **headers}
        try:
            connection.request(method, path, headers=sent)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read().decode())
        finally:
            connection.close()

    def refused(self, path: str, status: int, code: str, **options: Any) -> Answer:
        """Send a request and assert that the response is this error."""
        answer = self.ask(path, **options)
        assert (answer.status, answer.error["code"]) == (status, code), (path, answer.text)
        assert_shape(answer)
        return answer


def assert_shape(answer: Answer) -> None:
    """Assert the shape of an error response."""
    assert answer.headers["Content-Type"] == "application/json"
    assert set(answer.body) == {"success", "error", "meta"}
    assert answer.body["success"] is False
    assert set(answer.error) <= {"code", "message", "request_id", "parameter", "allowed", "reason"}
    assert answer.error["code"]
    assert answer.error["message"]
    assert None not in answer.error.values()
    meta = answer.body["meta"]
    assert set(meta) == {"request_id", "cached", "cache_age_seconds", "version", "timestamp"}
    assert (meta["cached"], meta["cache_age_seconds"]) == (False, 0)
    assert answer.error["request_id"] == meta["request_id"] == answer.headers["X-Request-ID"]
    assert meta["request_id"].startswith("req_")
    assert not [word for word in FORBIDDEN if word in answer.text.lower()], answer.text
