"""An application in the process of the test: one for several tests, and one that responds over HTTP."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flask import Flask
from werkzeug.serving import WSGIRequestHandler, make_server

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer
from wallet_api.database import Connection

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment


@dataclass(frozen=True)
class Shared:
    """A service that several tests ask, the URL of its database, and a connection to that."""

    url: str
    app: Flask
    connection: Connection

    @cached_property
    def caller(self) -> Caller:
        """A caller with its own key."""
        return Caller.new(self.app.test_client(), self.connection)

    @property
    def importer(self) -> Importer:
        """Imports rows into its ledger."""
        return Importer(self.url)


class QuietHandler(WSGIRequestHandler):
    """Keeps connections open, and logs nothing."""

    protocol_version = "HTTP/1.1"

    def log(self, type: str, message: str, *args: Any) -> None:
        """Log nothing."""


@contextmanager
def served(app: Flask, threads: int = 3) -> Iterator[str]:
    """Let the application respond in this block, and yield its URL without a trailing slash.

    So many requests run at once, and others wait: of four threads three may wait for the database, so that
    none is refused because others are slow.
    """
    slots = threading.Semaphore(threads)

    def respond(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        with slots:
            return app(environ, start_response)

    server = make_server("127.0.0.1", 0, respond, threaded=True, request_handler=QuietHandler)
    # A browser keeps its connections.
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
