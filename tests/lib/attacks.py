"""Attacks by many connections, and how long others wait meanwhile."""

import socket
import ssl
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from urllib.parse import urlsplit

import requests

from tests.lib.waiting import PATIENCE_SECONDS, calm_seconds

# An attacker begins anew after that.
HOLD_SECONDS = 4.0
# Others pause so long between requests: what is measured is their waits, not the load of their own.
PAUSE_SECONDS = 0.05
_RECEIVE_BYTES = 4096


@dataclass(frozen=True)
class Target:
    """A service: its URL, the certificate if that is HTTPS, a key, and the path of a response of 9 MB."""

    url: str
    certificate: Path | None
    key: str
    large: str

    def open(self) -> socket.socket:
        """Connect as the attacker, from an address of his own."""
        address = urlsplit(self.url)
        # A small buffer, so that little of a response is on its way.
        plain = socket.socket()
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BYTES)
        plain.settimeout(PATIENCE_SECONDS)
        plain.bind(("127.0.0.2", 0))
        plain.connect(("127.0.0.1", int(address.port or 0)))
        if self.certificate is None:
            return plain
        return _context(self.certificate).wrap_socket(plain, server_hostname="localhost")

    def request(self, path: str, *headers: str, method: str = "GET") -> bytes:
        """Return a request with the key."""
        lines = (
            f"{method} {path} HTTP/1.1",
            "Host: localhost",
            f"Authorization: Bearer {self.key}",
            *headers,
        )
        return "".join(f"{line}\r\n" for line in (*lines, "")).encode()


@cache
def _context(certificate: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(certificate))


@contextmanager
def attacked(target: Target, connections: int, sent: bytes, *, is_taken: bool) -> Iterator[None]:
    """Attack the service in this block, again and again, with so many connections.

    On each of them `sent` is sent, and the response taken or not.
    """
    begun, stopped = threading.Event(), threading.Event()

    def hold_all() -> None:
        while not stopped.is_set():
            with ExitStack() as stack:
                for _ in range(connections):
                    # The service may well refuse.
                    with suppress(OSError):
                        connection = stack.enter_context(target.open())
                        connection.sendall(sent)
                        if is_taken:
                            connection.recv(_RECEIVE_BYTES)
                    if stopped.is_set():
                        return
                begun.set()
                stopped.wait(HOLD_SECONDS)

    attacker = threading.Thread(target=hold_all)
    attacker.start()
    try:
        assert begun.wait(5 * PATIENCE_SECONDS), "the attack did not come about"
        yield
    finally:
        stopped.set()
        attacker.join()


def waits_of_others(target: Target, paths: list[str], seconds: float) -> list[float]:
    """Return how long each request of others took, in order: half of them on new connections."""
    until = time.monotonic() + seconds
    options = {"timeout": PATIENCE_SECONDS, "verify": str(target.certificate or True)}
    headers = {"Authorization": f"Bearer {target.key}"}

    def call(is_kept: bool) -> list[float]:
        waits = []
        session = requests.Session()
        while time.monotonic() < until:
            for path in paths:
                began = calm_seconds()
                asker = session if is_kept else requests
                response = asker.get(f"{target.url}{path}", headers=headers, **options)  # type: ignore[arg-type]
                waits.append(calm_seconds() - began)
                assert response.status_code == 200, response.text
                time.sleep(PAUSE_SECONDS)
        session.close()
        return waits

    with ThreadPoolExecutor(4) as pool:
        return sorted(chain.from_iterable(pool.map(call, [True, False] * 2)))


def p99(waits: list[float]) -> float:
    """Return the time within which 99 of 100 requests were answered."""
    return waits[len(waits) * 99 // 100]
