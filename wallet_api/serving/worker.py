"""gunicorn's worker for the service: how it takes connections and spreads requests over threads."""

import logging
import select
import selectors
import socket
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import contextmanager, suppress
from itertools import takewhile
from threading import Thread
from typing import Any, cast

from flask import Flask
from gunicorn.http.errors import LimitRequestHeaders, NoMoreData
from gunicorn.workers.gthread import TConn, ThreadWorker

from wallet_api import blocking
from wallet_api.serving.connections import Connection, Waiting
from wallet_api.serving.leadership import Leadership
from wallet_api.serving.refusals import refusal, response

log = logging.getLogger(__name__)

# How long new connections are left to the other workers.
_LEAVE_SECONDS = 0.02
# So soon a new connection brings a request, or else it may never.
_NEW_SECONDS = 0.05
# A thread that takes longer for a request leads no more.
_LATE_SECONDS = 0.005
_LOOP_SECONDS = 1.0
# More threads are not added for those that wait for a response which another makes.
_MOST_ASIDE = 64
# How long a caller may take for the head of a request, and to take a part of a response.
_HEAD_SECONDS = 10.0
_SEND_SECONDS = 10.0
# How long a caller may take to close, and to send the last request to a worker that ends.
_LINGER_SECONDS = 2.0
_CHECK_SECONDS = 0.5
# More is not kept for callers who do not take their responses.
_MAX_UNSENT_BYTES = 128 * 1024 * 1024


class Worker(ThreadWorker):
    """One thread waits for requests and handles them itself; another takes over before it blocks.

    gunicorn's own worker hands each request to a thread and takes the connection back. No bytes of a caller
    are logged, and a request that is not valid HTTP gets the JSON error body too.

    No thread waits for a caller: heads arrive, responses leave and connections close in the loop. When there
    are too many connections, a new one takes the place of the one that has waited longest for its caller.

    A busy worker leaves new connections to the others. gunicorn's own accepts all it can, so that connections
    opened at once often go to one worker while another is idle.
    """

    _accepts = False
    _answered = 0
    _finished = 0
    _finished_before = 0
    _looks_at = 0.0
    _checks_at = 0.0
    _seen: Sequence[socket.socket] = ()

    def get_thread_pool(self) -> Leadership:  # type: ignore[override]
        """Return the threads besides the first, one more than may handle requests at a time."""
        self._requests: deque[Connection] = deque()
        # Those that have sent nothing yet, in the order of their arrival.
        self._silent: dict[Connection, None] = {}
        # At its own limit gunicorn would accept no more; this worker makes room.
        self._most_connections = self.worker_connections
        self.worker_connections = sys.maxsize
        self._leadership = Leadership(self.cfg.threads, self._stand_in, _LATE_SECONDS, _MOST_ASIDE)
        blocking.set_hooks(self._leadership.give_up, self._step_aside)
        return self._leadership

    def run(self) -> None:
        """Run until the worker is stopped. This thread receives signals and relieves late leaders."""
        self._waiting = Waiting(self.poller, self._close)
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
        """Accept a connection, or several when each turn of the loop handles many requests.

        A thread that comes back from aside may have filled the worker since it began to wait for one.
        """
        if not self._is_full():
            self._accept(listener)

    def _accept(self, listener: socket.socket) -> None:
        for _ in range(max(1, self._answered // 4)):
            if self.nr_conns >= self._most_connections:
                if not self._waiting:
                    return
                self._waiting.close_longest()
            try:
                sock, client = listener.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            self.nr_conns += 1
            conn = Connection(self.cfg, sock, client, listener.getsockname())
            self._silent[conn] = None
            self._receive(conn)

    def set_accept_enabled(self, enabled: bool | None) -> None:
        """Accept new connections only while this worker has threads to spare."""
        busy = self._is_busy()
        if enabled and busy:
            self._take_what_is_left()
        else:
            self._seen = ()
        self._accepts = bool(enabled) and not busy
        super().set_accept_enabled(self._accepts)

    def murder_keepalived(self, force: bool = False) -> None:
        """Close the connections whose callers are late; soon, once the worker stops."""
        now = time.monotonic()
        if not force and now < self._checks_at:
            return
        self._checks_at = now + _CHECK_SECONDS
        if not self.alive:
            for conn in self._waiting:
                conn.deadline = min(conn.deadline, now if force else now + _LINGER_SECONDS)
        self._waiting.close_late(now)

    def handle(self, conn: Connection) -> None:  # type: ignore[override]
        """Respond to the request that has arrived."""
        conn.stays = False
        try:
            request = next(conn.parser)
            # No operation reads a body.
            if not conn.skip_body():
                request.force_close()
            conn.stays = self.handle_request(request, cast(TConn, conn))
        except (StopIteration, NoMoreData):
            log.debug("The caller left within a request.")
        except TimeoutError:
            self.handle_error(None, conn, conn.client, LimitRequestHeaders("the head does not end"))
        except Exception as error:  # noqa: BLE001 - as gunicorn does
            self.handle_error(None, conn, conn.client, error)
        conn.flush()

    def handle_error(self, req: Any, client: Any, addr: Any, exc: BaseException) -> None:
        """Respond to what is not a valid request, or to a failure outside the application."""
        error = refusal(exc)
        address = addr[0] if addr else "a local socket"
        if error.status == 500:
            log.error("Failed outside the application, for %s: %s", address, type(exc).__name__)
        else:
            log.warning("Refused what %s sent with %d: %s", address, error.status, type(exc).__name__)
        client.replace_unsent(response(cast(Flask, self.wsgi), error))

    def finish_request(self, conn: Connection) -> None:  # type: ignore[override]
        """Send the rest of the response, then wait for the next request or for the end of the connection."""
        self._finished += 1
        self._await_end_of_response(conn)
        if conn.unsent_bytes:
            self._waiting.limit_unsent(_MAX_UNSENT_BYTES)

    def _await_end_of_response(self, conn: Connection) -> None:
        now = time.monotonic()
        if not conn.flush():
            self._waiting.add(conn, selectors.EVENT_WRITE, now + _SEND_SECONDS, self._await_end_of_response)
        elif conn.stays and not conn.has_ended:
            conn.put_back()
            self._await_request(conn)
        else:
            conn.end()
            self._waiting.add(conn, selectors.EVENT_READ, now + _LINGER_SECONDS, self._await_end)

    def _receive(self, conn: Connection) -> None:
        conn.receive()
        if conn.has_begun:
            self._silent.pop(conn, None)
        self._await_request(conn)

    def _await_request(self, conn: Connection) -> None:
        if conn.has_request:
            conn.begun_at = None
            self._requests.append(conn)
        elif conn.has_ended:
            self._close(conn)
        else:
            now = time.monotonic()
            if conn.has_begun:
                conn.begun_at = conn.begun_at or now
                deadline = conn.begun_at + _HEAD_SECONDS
            else:
                deadline = now + self.cfg.keepalive
            self._waiting.add(conn, selectors.EVENT_READ, deadline, self._receive)

    def _await_end(self, conn: Connection) -> None:
        if conn.discard():
            self._waiting.add(conn, selectors.EVENT_READ, conn.deadline, self._await_end)
        else:
            self._close(conn)

    def _close(self, conn: Connection) -> None:
        self._silent.pop(conn, None)
        self.nr_conns -= 1
        conn.close()

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
                self.set_accept_enabled(self.alive)
                self.murder_keepalived()
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
            self.handle(conn)
            if not self._leadership.end():
                self.method_queue.defer(self.finish_request, conn)
                return
            self.finish_request(conn)
        if self._is_busy():
            self.set_accept_enabled(False)

    @contextmanager
    def _step_aside(self) -> Iterator[bool]:
        with self._leadership.step_aside() as is_replaced:
            if is_replaced:
                # The leader may wait for a thread to be free.
                self.method_queue.defer(lambda: None)
            yield is_replaced

    def _in_hand(self) -> int:
        """Return the number of requests without a response that keep a thread from others."""
        return int(self.nr_conns) - len(self._waiting) - self._leadership.aside

    def _is_full(self) -> bool:
        threads: int = self.cfg.threads
        return self._in_hand() - len(self._requests) >= threads

    def _is_busy(self) -> bool:
        threads: int = self.cfg.threads
        # A new connection will bring a request, unless those before it have brought none.
        newest = time.monotonic() - _NEW_SECONDS
        new = sum(1 for _ in takewhile(lambda conn: conn.accepted_at > newest, reversed(self._silent)))
        return self._in_hand() + max(0, 2 * new - len(self._silent)) >= threads

    def _take_what_is_left(self) -> None:
        # Where all workers are busy, requests on open connections would come before new ones for ever: what
        # waits at two looks in turn, no other takes. Nor does this one while all it has in hand is stuck.
        now = time.monotonic()
        if now < self._looks_at:
            return
        self._looks_at = now + _LEAVE_SECONDS
        is_stuck = self._is_full() and self._finished == self._finished_before
        self._finished_before = self._finished
        waiting = select.select(self.sockets, (), (), 0)[0]
        for listener in waiting:
            if listener in self._seen and not is_stuck:
                self._accept(listener)
        self._seen = waiting
