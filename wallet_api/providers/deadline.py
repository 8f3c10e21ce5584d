"""A requests adapter with a deadline for the whole response.

The read timeout of requests applies to each read from the socket, so a server that sends a byte now and then
can block a thread for ever, in the headers as well as in the body
(https://requests.readthedocs.io/en/latest/user/quickstart/#timeouts). With this adapter the read timeout of a
request is the time left for its whole response, and a second timeout limits the wait for the next bytes.
"""

import http.client
import io
import socket
import time
from typing import Any, ClassVar

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool


class DeadlineAdapter(HTTPAdapter):
    """Applies the read timeout to the whole response, and `silence_seconds` to each wait for bytes."""

    def __init__(self, silence_seconds: float, connections: int) -> None:
        self._pools = _pool_classes(silence_seconds)
        super().__init__(pool_connections=2, pool_maxsize=connections, max_retries=0)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = self._pools

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> Any:
        manager = super().proxy_manager_for(*args, **kwargs)
        manager.pool_classes_by_scheme = self._pools
        return manager


class _Reader(io.RawIOBase):
    """Reads the bytes of one response until the deadline."""

    def __init__(self, sock: socket.socket, seconds: float, silence_seconds: float) -> None:
        self._sock = sock
        self._raw = sock.makefile("rb", buffering=0)
        self._deadline = time.monotonic() + seconds
        self._silence = silence_seconds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        remaining = self._deadline - time.monotonic()
        if remaining <= 0:
            raise TimeoutError("the response took too long")
        self._sock.settimeout(min(remaining, self._silence))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Socket:
    """The part of a socket that http.client.HTTPResponse uses."""

    def __init__(self, sock: socket.socket, seconds: float, silence_seconds: float) -> None:
        self._reader = _Reader(sock, seconds, silence_seconds)

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(self._reader)


class _Deadline(HTTPConnection):
    silence_seconds: ClassVar[float]

    def getresponse(self) -> Any:
        # Before this method urllib3 sets `timeout` to the time left for reading.
        seconds = float(self.timeout or 0.0)

        def respond(sock: socket.socket, **options: Any) -> http.client.HTTPResponse:
            limited: Any = _Socket(sock, seconds, self.silence_seconds)
            return http.client.HTTPResponse(limited, **options)

        self.response_class = respond  # type: ignore[assignment]
        return super().getresponse()


def _pool_classes(silence_seconds: float) -> dict[str, type[HTTPConnectionPool]]:
    attributes = {"silence_seconds": silence_seconds}
    plain = type("DeadlineConnection", (_Deadline,), attributes)
    tls = type("DeadlineTLSConnection", (_Deadline, HTTPSConnection), attributes)
    return {
        "http": type("DeadlinePool", (HTTPConnectionPool,), {"ConnectionCls": plain}),
        "https": type("DeadlineTLSPool", (HTTPSConnectionPool,), {"ConnectionCls": tls}),
    }
