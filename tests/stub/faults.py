"""Faults of a provider, as functions that respond in its place."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from flask import Response, request

from tests.stub.moralis import json_response

# Responds in place of the provider, or returns None to leave it to the provider.
Scenario = Callable[[], Response | None]

QUOTA = (
    "Validation service blocked: Your plan: free-plan-daily total included usage has been consumed, "
    "please upgrade your plan here, https://moralis.io/pricing"
)
OVER_2000 = (
    "Cannot fetch token balances as wallet contains over 2000 tokens. "
    "Please contact support for further assistance."
)


def message_response(message: str, status: int) -> Response:
    """Return an error response in the form of Moralis."""
    return json_response({"message": message, "statusCode": status}, status)


def status(code: int, message: str = "as given", **headers: str) -> Scenario:
    """Respond with an error status and the provider's JSON body."""

    def answer() -> Response:
        response = message_response(message, code)
        response.headers.update({name.replace("_", "-"): value for name, value in headers.items()})
        return response

    return answer


def raw(body: bytes, content_type: str = "application/json", code: int = 200) -> Scenario:
    """Respond with these bytes."""
    return lambda: Response(body, status=code, content_type=content_type)


def document(value: Any) -> Scenario:
    """Respond with this JSON."""
    return lambda: json_response(value)


def rpc_error(code: int, message: str = "as given", status: int = 200) -> Scenario:
    """Respond with a JSON-RPC error, to each call of a batch."""

    def answer() -> Response:
        error = {"code": code, "message": message}
        document = json.loads(request.get_data())
        calls = document if isinstance(document, list) else [document]
        errors = [{"jsonrpc": "2.0", "id": call["id"], "error": error} for call in calls]
        response = json_response(errors if isinstance(document, list) else errors[0])
        response.status_code = status
        return response

    return answer


def in_turn(*scenarios: Scenario | None) -> Scenario:
    """Use one scenario for each request, in order; then none."""
    lock = threading.Lock()
    left = iter(scenarios)

    def answer() -> Response | None:
        with lock:
            scenario = next(left, None)
        return scenario() if scenario else None

    return answer


def later_pages(scenario: Scenario) -> Scenario:
    """Use `scenario` for every page but the first."""
    return lambda: scenario() if request.args.get("cursor") else None


def hang(release: threading.Event, seconds: float = 60.0) -> Scenario:
    """Wait until released; then respond as usual."""

    def answer() -> None:
        release.wait(seconds)

    return answer


def drip(body: bytes, pause_seconds: float) -> Scenario:
    """Send the body byte by byte."""

    def bytewise() -> Iterator[bytes]:
        for place in range(len(body)):
            time.sleep(pause_seconds)
            yield body[place : place + 1]

    return lambda: Response(
        bytewise(), content_type="application/json", headers={"Content-Length": str(len(body))}
    )


def drip_headers(pause_seconds: float) -> Scenario:
    """Send headers byte by byte, without end."""

    def answer() -> Response:
        connection: socket.socket = request.environ["werkzeug.socket"]
        try:
            connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            while True:
                time.sleep(pause_seconds)
                connection.sendall(b"x")
        except OSError:
            return Response()

    return answer


def close() -> Scenario:
    """Close the connection without a response."""

    def answer() -> Response:
        request.environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
        return Response()

    return answer


def endless(chunk: bytes) -> Scenario:
    """Send a body without end."""

    def chunks() -> Iterator[bytes]:
        while True:
            yield chunk

    return lambda: Response(chunks(), content_type="application/json")
