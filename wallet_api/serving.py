"""How gunicorn serves the application, in production and under `wallet-api up`: its settings and its worker.

gunicorn reads the names of its settings from this module: https://docs.gunicorn.org/en/stable/settings.html
"""

import fcntl
import logging
import os
import select
import shutil
import socket
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from flask import Flask
from gunicorn.arbiter import Arbiter
from gunicorn.http.errors import (
    ExpectationFailed,
    LimitRequestHeaders,
    LimitRequestLine,
    ParseException,
    UnsupportedTransferCoding,
)
from gunicorn.workers.gthread import TConn, ThreadWorker
from prometheus_client import values

# Loaded here, before the fork, the code is read once and its memory is shared by all workers.
import wallet_api.app  # noqa: F401
from wallet_api.blueprints import headers
from wallet_api.blueprints.envelope import refuse
from wallet_api.blueprints.metrics import SHARED_FOLDER
from wallet_api.errors import ApiError
from wallet_api.settings import Settings, SettingsError
from wallet_api.turns import Turns

log = logging.getLogger(__name__)

_STATUS_LINES = {
    400: "400 Bad Request",
    414: "414 URI Too Long",
    417: "417 Expectation Failed",
    431: "431 Request Header Fields Too Large",
    500: "500 Internal Server Error",
    501: "501 Not Implemented",
}


_COUNTS = "wallet-api-metrics-"
_FRESH_SECONDS = 60.0
_LEAVE_SECONDS = 0.02
_AT_ONCE = 2
_LATE_SECONDS = 0.02


def _settings() -> Settings:
    try:
        return Settings.from_environment()
    except SettingsError as error:
        # gunicorn would print any other exception with its traceback.
        raise SystemExit(f"Error: {error}") from None


_own = _settings()

worker_class = "wallet_api.serving.Worker"
workers = _own.web_concurrency
threads = _own.web_threads
bind = f"127.0.0.1:{_own.port}"
timeout = 30
graceful_timeout = 20
# Longer than a reverse proxy keeps its connections to us, so that none is closed under a request.
keepalive = 75
limit_request_line = 8190
limit_request_fields = 64
limit_request_field_size = 8190
control_socket_disable = True
# The heartbeat files stay off the disk, whose delays would look like a stuck worker.
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108
accesslog = "-"
errorlog = "-"
loglevel = _own.log_level
logger_class = "wallet_api.logs.GunicornLogger"


def on_starting(server: Arbiter) -> None:
    """Make the folder in which the workers of this gunicorn count together."""
    _clear_counts()
    folder = os.environ[SHARED_FOLDER] = tempfile.mkdtemp(prefix=_COUNTS, dir=worker_tmp_dir)
    # Never closed, and so held until the last of this gunicorn's processes has ended, in whatever way.
    fcntl.flock(os.open(folder, os.O_RDONLY), fcntl.LOCK_SH)


def _clear_counts() -> None:
    """Remove what gunicorns that were killed have left: folders of ours that nobody holds any more."""
    for folder in Path(worker_tmp_dir or tempfile.gettempdir()).glob(f"{_COUNTS}*"):
        # Another user's, or removed meanwhile by another one who starts.
        with suppress(OSError):
            # One that was made just now may not be locked yet.
            if time.time() - folder.stat().st_mtime < _FRESH_SECONDS:
                continue
            holder = os.open(folder, os.O_RDONLY)
            try:
                fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(holder)


def on_exit(server: Arbiter) -> None:
    """Remove that folder."""
    shutil.rmtree(os.environ[SHARED_FOLDER], ignore_errors=True)


def post_fork(server: Arbiter, worker: ThreadWorker) -> None:
    """Let the counters that this worker will make count into files of that folder."""
    # Chosen by the variable when the library was loaded, which was before there was a folder.
    values.ValueClass = values.MultiProcessValue()  # type: ignore[no-untyped-call]


def worker_exit(server: Arbiter, worker: ThreadWorker) -> None:
    """End what the worker has open: left to the end of Python, its threads would be waited for in vain."""
    services = getattr(worker.wsgi, "extensions", {}).get("wallet_api")
    if services is not None:
        services.close()


def on_reload(server: Arbiter) -> None:
    """After SIGHUP, new workers run the code that is on the disk by then, and all of it."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "wallet_api"]:
        del sys.modules[name]


class Worker(ThreadWorker):
    """Threads that answer even what is not HTTP with our error body, and log nothing of what was sent.

    While all of its threads are busy, a worker leaves new connections to the others. gunicorn's own takes
    every one it can: of sixteen opened at once, all often wait for one worker while another has no work.
    """

    _looks_at = 0.0
    _seen: list[socket.socket] = []

    def get_thread_pool(self) -> Turns:  # type: ignore[override]
        """The threads, a few of which work at a time."""
        self._turns = Turns(self.cfg.threads, _AT_ONCE)
        return self._turns

    def wait_for_and_dispatch_events(self, timeout: float | None) -> None:
        """Go once through the loop; a client that is slow to send or to read holds up no other for long."""
        super().wait_for_and_dispatch_events(_LATE_SECONDS if self._turns.waiting else timeout)
        self._turns.relieve(_LATE_SECONDS)

    def enqueue_req(self, conn: TConn) -> None:
        """Hand a request to the threads."""
        super().enqueue_req(conn)
        if self._is_busy():
            super().set_accept_enabled(False)

    def set_accept_enabled(self, enabled: bool | None) -> None:
        """Called on every turn of the loop that finds new connections not being taken."""
        busy = self._is_busy()
        if enabled and busy:
            self._take_what_is_left()
        super().set_accept_enabled(bool(enabled) and not busy)

    def _is_busy(self) -> bool:
        threads: int = self.cfg.threads
        return self.nr_conns - len(self.pending_conns) - len(self.keepalived_conns) >= threads

    def _take_what_is_left(self) -> None:
        # Where all workers are busy, requests on open connections would come before new ones for ever: what
        # waits at two looks in turn, no other takes.
        now = time.monotonic()
        if now < self._looks_at:
            return
        self._looks_at = now + _LEAVE_SECONDS
        waiting = select.select(self.sockets, (), (), 0)[0]
        for listener in waiting:
            if listener in self._seen:
                self.accept(listener)
        self._seen = waiting

    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: BaseException) -> None:
        """Refuse what never became a request, or what failed outside the application."""
        error = _refusal(exc)
        address = addr[0] if addr else "a local socket"
        if error.status == 500:
            log.error("Failed outside the application, for %s: %s", address, type(exc).__name__)
        else:
            log.warning("Refused what %s sent with %d: %s", address, error.status, type(exc).__name__)
        try:
            client.sendall(_response(cast(Flask, self.wsgi), error))
        except OSError:
            log.debug("The caller had left before the refusal.")


def _refusal(exc: BaseException) -> ApiError:
    statuses = (
        (LimitRequestLine, 414, "The request line is too long."),
        (LimitRequestHeaders, 431, "The headers are too long or too many."),
        (ExpectationFailed, 417, "Expect may only be 100-continue."),
        (UnsupportedTransferCoding, 501, "This transfer coding is not supported."),
        (ParseException, 400, "This is not a valid HTTP request."),
    )
    for kind, status, message in statuses:
        if isinstance(exc, kind):
            error = ApiError(message)
            error.status = status
            error.code = "invalid_request" if status < 500 else "not_implemented"
            return error
    return ApiError()


def _response(app: Flask, error: ApiError) -> bytes:
    with app.test_request_context():
        response = app.process_response(refuse(error))
    response.headers["Connection"] = "close"
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.completed(list(response.headers)))
    return f"HTTP/1.1 {_STATUS_LINES[error.status]}\r\n{head}\r\n".encode("latin1") + response.get_data()
