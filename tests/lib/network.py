"""An audit hook that blocks connections to other machines."""

import ipaddress
from typing import Any


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


def _is_local(host: Any) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    if name in (None, "", "localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
