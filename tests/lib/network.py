"""The network of tests: loopback alone, and free ports of it."""

import ipaddress
import random
import socket
from contextlib import suppress
from typing import Any

# Below those that the system gives to connections, and to servers that want any.
_PORTS = range(10_000, 32_000)


class NetworkBlockedError(RuntimeError):
    """A test tried to connect to another machine."""


def allow_loopback_only(event: str, arguments: tuple[Any, ...]) -> None:
    """Raise NetworkBlockedError for connections to other machines; for sys.addaudithook."""
    if event == "socket.connect":
        address = arguments[1]
    elif event == "socket.getaddrinfo":
        address = arguments[:1]
    else:
        return
    if isinstance(address, tuple) and not _is_local(address[0]):
        raise NetworkBlockedError(f"{event} {address[0]}")


def free_port() -> int:
    """Return a port of 127.0.0.1 at which nothing listens, and that the system gives to nothing else."""
    # Not by the seed of a test, which other workers have too.
    for port in iter(lambda: random.SystemRandom().choice(_PORTS), None):
        with suppress(OSError), socket.socket() as tried:
            tried.bind(("127.0.0.1", port))
            return port
    raise AssertionError("unreachable")


def _is_local(host: Any) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    if name in (None, "", "localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
