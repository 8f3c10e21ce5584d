"""An application that responds over HTTP in the process of the test, where a test client does not reach."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from flask import Flask
from werkzeug.serving import WSGIRequestHandler, make_server

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment


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
