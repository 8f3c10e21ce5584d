"""Send a message to a target: one try, with a deadline, to public addresses alone."""

import ipaddress
import re
import socket
import ssl
import time
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from wallet_api import __version__
from wallet_api.notify.messages import headers_of
from wallet_api.notify.targets import Target

CONNECT_SECONDS = 5.0
DEADLINE_SECONDS = 15.0
# So much is sent, or read, at once; a status line, and what may precede it, has no more.
_PART_BYTES = 8192
_STATUS = re.compile(rb"HTTP/1\.[01] ([1-5]\d\d)[ \r\n]")
# IPv4 within IPv6: https://www.rfc-editor.org/rfc/rfc6052
_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")
# All that is assigned: https://www.iana.org/assignments/ipv6-address-space
_UNICAST = ipaddress.IPv6Network("2000::/3")
_SPECIAL = (
    # Of protocols, and of metadata at Oracle: https://www.iana.org/assignments/iana-ipv4-special-registry
    ipaddress.IPv4Network("192.0.0.0/24"),
    # The host of a machine at Azure: https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
    ipaddress.IPv4Network("168.63.129.16/32"),
    # Relays, which have an address of IPv4 within: 6to4 and Teredo.
    ipaddress.IPv6Network("2002::/16"),
    ipaddress.IPv6Network("2001::/32"),
)

# What getaddrinfo returns of an address.
_Address = tuple[Any, ...]


class SendingError(Exception):
    """The message was not received; the text says why, without the address of the target."""


def send(target: Target, id: str, body: str, *, allow_private: bool) -> None:
    """Post a signed message. Raises SendingError unless the response is 2xx.

    The name is resolved once, and the connection goes to an address that was checked: a name that resolves to
    another one later is of no use. Redirects are not followed, and no more is read than the status.
    """
    parts = urlsplit(target.url)
    host = str(parts.hostname).rstrip(".")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    content = body.encode()
    headers = {
        "host": parts.netloc,
        "user-agent": f"wallet-api/{__version__}",
        "connection": "close",
        "content-length": str(len(content)),
        **headers_of(target.secrets, id, datetime.now(UTC), body),
    }
    lines = (f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", "")
    addresses = _addresses_of(host, target.port, allow_private=allow_private)
    ends_at = time.monotonic() + DEADLINE_SECONDS
    try:
        with closing(_connect(addresses, ends_at)) as plain:
            # Its timeout is that of the whole handshake.
            is_secure = parts.scheme == "https"
            sock = target.trust.wrap_socket(plain, server_hostname=host) if is_secure else plain
            with closing(sock):
                _exchange(sock, "\r\n".join(lines).encode() + content, ends_at)
    except TimeoutError:
        raise SendingError("no response in time") from None
    except ssl.SSLCertVerificationError:
        raise SendingError("its certificate is not valid") from None
    except ssl.SSLError:
        raise SendingError("no TLS") from None
    except OSError:
        # Its text may have the address.
        raise SendingError("no connection") from None


def _addresses_of(host: str, port: int, *, allow_private: bool) -> list[_Address]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise SendingError("its name has no address") from None
    if not allow_private and not all(is_public(str(address[4][0])) for address in found):
        raise SendingError("its address is not public; see --allow-private")
    return list(found)


def _connect(addresses: list[_Address], ends_at: float) -> socket.socket:
    """Return a connection to the first of these addresses that accepts one."""
    failure: OSError = TimeoutError()
    for family, kind, protocol, _, address in addresses:
        try:
            with ExitStack() as stack:
                sock = stack.enter_context(closing(socket.socket(family, kind, protocol)))
                sock.settimeout(min(CONNECT_SECONDS, _left(ends_at)))
                sock.connect(address)
                sock.settimeout(_left(ends_at))
                # From here on it is closed by the caller.
                stack.pop_all()
                return sock
        except OSError as error:
            failure = error
    raise failure


def _exchange(sock: socket.socket, request: bytes, ends_at: float) -> None:
    for start in range(0, len(request), _PART_BYTES):
        sock.settimeout(_left(ends_at))
        sock.sendall(request[start : start + _PART_BYTES])
    received = b""
    while (status := _status_of(received)) is None:
        sock.settimeout(_left(ends_at))
        part = sock.recv(_PART_BYTES)
        if not part or len(received) > _PART_BYTES:
            raise SendingError("no response of HTTP")
        received += part
    if not status.startswith("2"):
        raise SendingError(f"HTTP {status}")


def _status_of(received: bytes) -> str | None:
    """Return the status of a response, after those of 1xx that may precede it; None until it is there."""
    for head in received.split(b"\r\n\r\n"):
        status = _STATUS.match(head + b"\r\n")
        if status is None or not status[1].startswith(b"1"):
            return None if status is None else status[1].decode()
    return None


def _left(ends_at: float) -> float:
    seconds = ends_at - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


def is_public(text: str) -> bool:
    """Return whether an address is one of the public Internet, also one of IPv4 within IPv6."""
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        elif address in _TRANSLATED:
            address = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        elif address not in _UNICAST:
            return False
    is_special = address.is_multicast or any(address in network for network in _SPECIAL)
    return address.is_global and not is_special
