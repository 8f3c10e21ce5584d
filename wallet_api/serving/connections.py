"""The connections of callers: what they send and take is waited for in the event loop, with deadlines."""

import selectors
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, cast

from gunicorn.config import Config
from gunicorn.http import get_parser

_CHUNK_BYTES = 16 * 1024
# As much as nginx takes.
_MAX_HEAD_BYTES = 32 * 1024
# Of a request that is not read to its end, the rest is discarded, lest the caller miss the response.
_MAX_REST_BYTES = 1024 * 1024
# The most that sendmsg() takes at once is 1,024.
_PARTS_AT_ONCE = 64


class Connection:
    """A connection that never blocks. gunicorn reads requests from it, and writes responses to it.

    It reads what has arrived. What it writes is kept until `flush`.
    """

    def __init__(self, cfg: Config, sock: socket.socket, client: Any, server: Any) -> None:
        sock.setblocking(False)
        self._socket = sock
        self._arrived = bytearray()
        self._unsent: deque[memoryview] = deque()
        self._discarded = 0
        self.client = client
        self.server = server
        self.accepted_at = time.monotonic()
        self.begun_at: float | None = None
        self.deadline = 0.0
        self.has_ended = False
        self.stays = False
        self.parser = get_parser(cfg, cast(socket.socket, self), client)

    @property
    def sock(self) -> "Connection":
        """Return what gunicorn takes for the socket."""
        return self

    def fileno(self) -> int:
        """Return the descriptor of the socket."""
        return self._socket.fileno()

    def receive(self) -> None:
        """Receive a part of what the caller has sent."""
        try:
            data = self._socket.recv(_CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._arrived += data
        self.has_ended = not data

    @property
    def has_begun(self) -> bool:
        """Return whether a part of the next request has arrived."""
        return bool(self._arrived)

    @property
    def has_request(self) -> bool:
        """Return whether the head of a request has arrived, or as much as shows that it is not valid."""
        data = self._arrived
        return (
            b"\r\n\r\n" in data
            or len(data) > _MAX_HEAD_BYTES
            # With a line that does not end with CRLF, the head may never end.
            or data.count(b"\n") != data.count(b"\r\n")
        )

    def recv(self, size: int) -> bytes:
        """Return what has arrived, which may be more than `size`. Raise TimeoutError if that is nothing."""
        if not self._arrived:
            self.receive()
        if not self._arrived and not self.has_ended:
            raise TimeoutError
        data = bytes(self._arrived)
        self._arrived.clear()
        return data

    def skip_body(self) -> bool:
        """Discard the body of the request. Return whether all of it has arrived."""
        return bool(self.parser.finish_body(max_bytes=_MAX_REST_BYTES))

    def put_back(self) -> None:
        """Take back what gunicorn has read beyond the request."""
        self._arrived[:0] = self.parser.unreader.take_buffered()

    def sendall(self, data: bytes) -> None:
        """Keep the data to be sent."""
        if data:
            self._unsent.append(memoryview(data))

    def send(self, data: bytes) -> int:
        """Keep the data to be sent."""
        self.sendall(data)
        return len(data)

    def replace_unsent(self, data: bytes) -> None:
        """Keep this to be sent, and nothing else."""
        self._unsent.clear()
        self.sendall(data)

    @property
    def unsent_bytes(self) -> int:
        """Return how much the caller has not taken yet."""
        return sum(map(len, self._unsent))

    def flush(self) -> bool:
        """Send as much as the caller takes. Return whether that was everything."""
        unsent = self._unsent
        while unsent:
            try:
                sent = self._socket.sendmsg(list(unsent)[:_PARTS_AT_ONCE])
            except BlockingIOError:
                return False
            except OSError:
                # The caller has left.
                unsent.clear()
                self.has_ended = True
                break
            while unsent and sent >= len(unsent[0]):
                sent -= len(unsent.popleft())
            if sent:
                unsent[0] = unsent[0][sent:]
        return True

    def end(self) -> None:
        """Tell the caller that nothing more will be sent."""
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            self.has_ended = True

    def discard(self) -> bool:
        """Discard a part of what the caller still sends. Return whether there may be more."""
        self._arrived.clear()
        self.receive()
        self._discarded += len(self._arrived)
        return not self.has_ended and self._discarded < _MAX_REST_BYTES

    def shutdown(self, how: int) -> None:
        """Do nothing: gunicorn would wait for the caller after it."""
        raise OSError

    def close(self) -> None:
        """Close it at once."""
        self._unsent.clear()
        with suppress(OSError):
            self._socket.close()


Next = Callable[[Connection], None]


class Waiting:
    """The connections that wait for their callers, the one that has waited longest first."""

    def __init__(self, poller: selectors.BaseSelector, close: Next) -> None:
        self._poller = poller
        self._close = close
        self._connections: dict[Connection, Next] = {}

    def __len__(self) -> int:
        return len(self._connections)

    def __iter__(self) -> Iterator[Connection]:
        return iter(self._connections)

    def add(self, connection: Connection, event: int, deadline: float, then: Next) -> None:
        """Call `then` at the event. After the deadline the connection is closed."""
        connection.deadline = deadline
        self._connections[connection] = then
        self._poller.register(connection, event, self._resume)

    def _resume(self, connection: Connection) -> None:
        # Another event of the same moment may have had it closed.
        if connection in self._connections:
            self._remove(connection)(connection)

    def _remove(self, connection: Connection) -> Next:
        self._poller.unregister(connection)
        return self._connections.pop(connection)

    def close(self, connection: Connection) -> None:
        """Close one of these connections."""
        self._remove(connection)
        self._close(connection)

    def close_longest(self) -> None:
        """Close the one that has waited longest."""
        self.close(next(iter(self._connections)))

    def close_late(self, now: float) -> None:
        """Close all whose deadline has passed."""
        for connection in [connection for connection in self._connections if connection.deadline <= now]:
            self.close(connection)

    def limit_unsent(self, max_bytes: int) -> None:
        """Close those whose callers have taken nothing for longest, until less is left to be sent."""
        sending = {connection: size for connection in self._connections if (size := connection.unsent_bytes)}
        left = sum(sending.values())
        for connection, size in sending.items():
            if left <= max_bytes:
                return
            self.close(connection)
            left -= size
