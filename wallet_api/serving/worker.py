"""gunicorn's worker for the service: how it takes connections and spreads requests over threads."""

import logging
import select
import selectors
import socket
import time
from collections import deque
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from functools import partial
from itertools import takewhile
from threading import Thread
from typing import Any, NamedTuple, cast

from flask import Flask
from gunicorn.http.errors import (
    ExpectationFailed,
    LimitRequestHeaders,
    LimitRequestLine,
    ParseException,
    UnsupportedTransferCoding,
)
from gunicorn.workers.gthread import DEFAULT_WORKER_DATA_TIMEOUT, TConn, ThreadWorker

from wallet_api import blocking
from wallet_api.errors import ApiError
from wallet_api.responses import headers
from wallet_api.responses.envelope import refuse
from wallet_api.serving.leadership import Leadership

log = logging.getLogger(__name__)

# How long new connections are left to the other workers.
_LEAVE_SECONDS = 0.02
# A thread that takes longer for a request leads no more.
_LATE_SECONDS = 0.005
_LOOP_SECONDS = 1.0
# How long a worker that ends waits for requests on connections that have sent none; as for those kept alive.
_LINGER_SECONDS = 2.0

_STATUS_LINES = {
    400: "400 Bad Request",
    414: "414 URI Too Long",
    417: "417 Expectation Failed",
    431: "431 Request Header Fields Too Large",
    500: "500 Internal Server Error",
    501: "501 Not Implemented",
}


class _Done(NamedTuple):
    """The part of a Future that gunicorn uses."""

    keep: bool

    def cancelled(self) -> bool:
        """Return whether it was cancelled."""
        return False

    def result(self) -> bool:
        """Return whether the connection is kept alive."""
        return self.keep


class Worker(ThreadWorker):
    """One thread waits for requests and handles them itself; another takes over before it blocks.

    gunicorn's own worker hands each request to a thread and takes the connection back. No bytes of a caller
    are logged, and a request that is not valid HTTP gets the JSON error body too.

    A busy worker leaves new connections to the others. gunicorn's own accepts all it can, so that connections
    opened at once often go to one worker while another is idle.
    """

    _accepts = False
    _answered = 0
    _begun = 0
    _looks_at = 0.0
    _seen: list[socket.socket] = []

    def get_thread_pool(self) -> Leadership:  # type: ignore[override]
        """Return the threads besides the first, one more than may handle requests at a time."""
        self._requests: deque[TConn] = deque()
        self._leadership = Leadership(self.cfg.threads, self._stand_in, _LATE_SECONDS)
        blocking.set_hook(self._leadership.give_up)
        return self._leadership

    def run(self) -> None:
        """Run until the worker is stopped. This thread receives signals and relieves late leaders."""
        self._ended: Future[None] = Future()
        Thread(target=self._run_first, name="first", daemon=True).start()
        while not self._ended.done():
            self._leadership.relieve(_LOOP_SECONDS)
        self._ended.result()

    def wait_for_and_dispatch_events(self, timeout: float | None) -> None:
        """Run one turn of the loop of the first thread, which leads at its end."""
        self._answer(timeout)
        if not self._leadership.is_mine:
            self._leadership.take()

    def accept(self, listener: socket.socket) -> None:
        """Accept a connection, or several when each turn of the loop handles many requests."""
        for _ in range(min(max(1, self._answered // 4), self.worker_connections - self.nr_conns)):
            before = self.nr_conns
            super().accept(listener)
            if self.nr_conns == before:
                return

    def enqueue_req(self, conn: TConn) -> None:
        """Queue a request. A new connection has sent none yet, and is added to the poller."""
        if conn.initialized or conn.data_ready:
            self._requests.append(conn)
        else:
            # What gunicorn does after a thread has waited for it in vain.
            conn.sock.setblocking(False)
            conn.timeout = time.monotonic() + DEFAULT_WORKER_DATA_TIMEOUT + self.cfg.keepalive
            self.pending_conns.append(conn)
            readable = partial(self.on_pending_socket_readable, conn)
            self.poller.register(conn.sock, selectors.EVENT_READ, readable)

    def set_accept_enabled(self, enabled: bool | None) -> None:
        """Accept new connections only while this worker has threads to spare."""
        busy = self._is_busy()
        if enabled and busy:
            self._take_what_is_left()
        self._accepts = bool(enabled) and not busy
        super().set_accept_enabled(self._accepts)

    def murder_pending(self) -> None:
        """Close idle connections after their timeout, which is short once the worker stops."""
        if not self.alive:
            latest = time.monotonic() + _LINGER_SECONDS
            for conn in self.pending_conns:
                conn.timeout = min(conn.timeout or latest, latest)
        super().murder_pending()

    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: BaseException) -> None:
        """Respond to what is not a valid request, or to a failure outside the application."""
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

    def _run_first(self) -> None:
        self._leadership.take()
        try:
            super().run()
        except BaseException as error:  # noqa: BLE001 - the worker ends with it
            self._fail(error)
        else:
            self._ended.set_result(None)

    def _stand_in(self) -> None:
        # What gunicorn's loop does at each turn.
        try:
            while self._leadership.is_mine and not self._leadership.is_wanted_back:
                self.notify()
                self.set_accept_enabled(self.alive and self.nr_conns < self.worker_connections)
                self.murder_keepalived()
                self.murder_pending()
                self._answer(_LOOP_SECONDS)
        except BaseException as error:  # noqa: BLE001 - the worker ends with it
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        with suppress(InvalidStateError):
            self._ended.set_exception(error)
        self._leadership.shutdown()

    def _answer(self, timeout: float | None) -> None:
        """Wait for events and handle the requests that arrived, for as long as this thread leads."""
        if not self._is_full():
            if self._requests:
                timeout = 0.0
            elif self.alive and not self._accepts:
                timeout = _LEAVE_SECONDS
        super().wait_for_and_dispatch_events(timeout)
        self._answered = 0
        while self._requests and not self._is_full():
            self._answered += 1
            conn = self._requests.popleft()
            self._leadership.begin()
            done = cast("Future[bool]", _Done(self.handle(conn)))
            if not self._leadership.end():
                self.method_queue.defer(self.finish_request, conn, done)
                return
            self.finish_request(conn, done)
        if self._is_busy():
            self.set_accept_enabled(False)

    def _in_hand(self) -> int:
        """Return the number of requests without a response."""
        return int(self.nr_conns) - len(self.pending_conns) - len(self.keepalived_conns)

    def _is_full(self) -> bool:
        threads: int = self.cfg.threads
        return self._in_hand() - len(self._requests) >= threads

    def _is_busy(self) -> bool:
        threads: int = self.cfg.threads
        # A new connection will bring a request, unless it has been silent for as long as a thread would wait.
        silent = time.monotonic() + self.cfg.keepalive
        new = takewhile(lambda conn: conn.timeout > silent, reversed(self.pending_conns))
        return self._in_hand() + sum(1 for _ in new) >= threads

    def _take_what_is_left(self) -> None:
        # Where all workers are busy, requests on open connections would come before new ones for ever: what
        # waits at two looks in turn, no other takes. Nor does this one while all it has in hand is stuck.
        now = time.monotonic()
        if now < self._looks_at:
            return
        self._looks_at = now + _LEAVE_SECONDS
        is_stuck = self._is_full() and self.nr == self._begun
        self._begun = self.nr
        waiting = select.select(self.sockets, (), (), 0)[0]
        for listener in waiting:
            if listener in self._seen and not is_stuck:
                self.accept(listener)
        self._seen = waiting


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
