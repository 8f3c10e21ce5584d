"""Send a message to a target: one try, with a deadline, to public addresses alone."""

import ipaddress
import socket
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import requests

from wallet_api.providers.deadline import DeadlineAdapter

CONNECT_SECONDS = 5.0
DEADLINE_SECONDS = 15.0
# IPv4 within IPv6: https://www.rfc-editor.org/rfc/rfc6052
_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")


class SendingError(Exception):
    """The message was not received; the text says why, without the address of the target."""


class _Pinned(DeadlineAdapter):
    """Verifies the certificate of a host to which it connects by address."""

    def __init__(self, host: str) -> None:
        self._names = {"server_hostname": host, "assert_hostname": host}
        super().__init__(silence_seconds=DEADLINE_SECONDS, connections=1)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs, **self._names)


def send(
    url: str,
    body: str,
    headers: Mapping[str, str],
    *,
    allow_private: bool = False,
    ca_file: str | None = None,
) -> None:
    """Post a message. Raises SendingError unless the response is 2xx.

    The name is resolved once, and the connection goes to an address that was checked: a name that resolves to
    another one later is of no use. Redirects are not followed.
    """
    parts = urlsplit(url)
    host = str(parts.hostname)
    port = parts.port or {"https": 443, "http": 80}[parts.scheme]
    address = _address_of(host, port, allow_private=allow_private)
    literal = f"[{address}]" if ":" in address else address
    with requests.Session() as session:
        # Neither a proxy nor a password of this machine.
        session.trust_env = False
        if parts.scheme == "https":
            session.mount("https://", _Pinned(host))
        else:
            session.mount("http://", DeadlineAdapter(silence_seconds=DEADLINE_SECONDS, connections=1))
        try:
            response = session.post(
                urlunsplit((parts.scheme, f"{literal}:{port}", parts.path or "/", parts.query, "")),
                data=body.encode(),
                headers={**headers, "Host": parts.netloc},
                timeout=(CONNECT_SECONDS, DEADLINE_SECONDS),
                verify=ca_file or True,
                allow_redirects=False,
                stream=True,
            )
        except (requests.RequestException, OSError) as error:
            # Its text has the address, and with that maybe a token.
            raise SendingError(_reason(error)) from None
        response.close()
    if not 200 <= response.status_code < 300:
        raise SendingError(f"HTTP {response.status_code}")


def _address_of(host: str, port: int, *, allow_private: bool) -> str:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        raise SendingError("its name has no address") from None
    addresses = [str(entry[4][0]) for entry in found]
    if not allow_private and not all(is_public(address) for address in addresses):
        raise SendingError("its address is not public; see --allow-private")
    return addresses[0]


def is_public(text: str) -> bool:
    """Return whether an address is one of the public Internet, also one of IPv4 within IPv6."""
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        within = address.ipv4_mapped or address.sixtofour
        if address in _TRANSLATED:
            within = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if within is not None:
            address = within
    return address.is_global and not address.is_multicast


def _reason(error: Exception) -> str:
    if isinstance(error, requests.exceptions.SSLError):
        return "its certificate is not valid"
    if isinstance(error, requests.exceptions.Timeout):
        return "no response in time"
    if isinstance(error, requests.exceptions.ConnectionError):
        return "no connection"
    return type(error).__name__
