"""A receiver of webhooks on a free port of loopback, which records what it received."""

import base64
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from standardwebhooks import Webhook, WebhookVerificationError

SECRET = "whsec_" + base64.b64encode(b"s" * 32).decode()
# Responds to a body with a status, and maybe headers; it may sleep before.
Behaviour = Callable[[str], int | tuple[int, dict[str, str]]]


class Received(NamedTuple):
    """A message: its path, id, body and signatures, the status of the response, and when it came."""

    path: str
    id: str
    body: str
    is_signed: bool
    status: int
    at: float

    @property
    def document(self) -> Any:
        """Return its body as JSON."""
        return json.loads(self.body)


class Receiver:
    """What was received, and how each path responds: 204 by default."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.behaviours: dict[str, Behaviour] = {}
        self.url = ""

    def accepted(self, path: str = "/") -> list[Received]:
        """Return the messages to a path that got a 2xx, without those of an id that came before."""
        first = {
            one.id: one for one in reversed(self.received) if one.path == path and 200 <= one.status < 300
        }
        return [one for one in self.received if first.get(one.id) is one]

    def reported(self, path: str = "/") -> list[tuple[str, str]]:
        """Return the type and the transaction of each message that was accepted, in their order."""
        documents = [one.document for one in self.accepted(path)]
        return [(one["type"], one["data"].get("tx_signature", "")) for one in documents]


def is_signed(secret: str, headers: Mapping[str, str], body: bytes) -> bool:
    """Return whether one of the signatures is by a secret, as the library of Standard Webhooks checks it."""
    try:
        Webhook(secret).verify(body, dict(headers))
    except WebhookVerificationError:
        return False
    return True


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Run a receiver."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            body = self.rfile.read(length)
            if len(body) < length:
                # Who sent it was killed meanwhile.
                self.close_connection = True
                return
            # 0 closes the connection without a response.
            answer = receiver.behaviours.get(self.path, lambda body: 204)(body.decode())
            status, headers = answer if isinstance(answer, tuple) else (answer, {})
            signed = is_signed(SECRET, self.headers, body)
            receiver.received.append(
                Received(self.path, self.headers["webhook-id"], body.decode(), signed, status, time.time())
            )
            if status == 0:
                self.close_connection = True
                return
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("location", "/elsewhere")
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiver.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def speaking(speak: Callable[[socket.socket], None]) -> Iterator[int]:
    """Run a server of another kind on loopback, which has each connection in a thread; yield its port."""

    def serve(connection: socket.socket) -> None:
        # The other side may close first.
        with connection, suppress(OSError):
            speak(connection)

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
