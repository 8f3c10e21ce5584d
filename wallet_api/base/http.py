"""HTTP requests with a deadline for the whole response: what providers and webhooks send with.

The read timeout of requests and urllib3 applies to each read from the socket, so a server that sends a byte
now and then can block a thread for ever, in the headers as well as in the body
(https://requests.readthedocs.io/en/latest/user/quickstart/#timeouts). Here the read timeout of a request is
the time left for its whole response, and a second timeout limits the wait for the next bytes.
"""

import http.client
import io
import math
import re
import socket
import ssl
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from typing import Any, ClassVar, NamedTuple
from urllib.parse import urlsplit

from requests.adapters import HTTPAdapter
from requests.utils import DEFAULT_CA_BUNDLE_PATH
from urllib3 import Retry
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError, HTTPError, InvalidHeader, NewConnectionError

from wallet_api import __version__

USER_AGENT = f"wallet-api/{__version__}"
CONNECT_SECONDS = 5.0
_SECONDS = re.compile(r"[0-9]{1,9}\.[0-9]{1,9}")


class NoResponse(Exception):
    """There was no response; the text says why, without the address."""


class Peer(NamedTuple):
    """Whom to post to: the URL, the addresses of its host, and what verifies its certificate."""

    url: str
    addresses: Sequence[str]
    trust: ssl.SSLContext


class Response(NamedTuple):
    """The status of a response, and its headers; the names of these have no case."""

    status: int
    headers: Mapping[str, str]


def trust(ca_file: str | None = None) -> ssl.SSLContext:
    """Return what verifies certificates: by a file of these, or by the usual ones. Raises OSError."""
    return ssl.create_default_context(cafile=ca_file or DEFAULT_CA_BUNDLE_PATH)


def retry_after_seconds(headers: Mapping[str, str], most_seconds: float) -> float | None:
    """Return the pause in Retry-After, which may be an HTTP date; None if there is none."""
    header = headers.get("Retry-After")
    if header is None:
        return None
    if _SECONDS.fullmatch(header):
        # Some servers send parts of a second.
        header = str(math.ceil(float(header)))
    try:
        seconds = Retry().parse_retry_after(header)
    except (InvalidHeader, ValueError, OverflowError):
        return None
    return min(max(seconds, 0.0), most_seconds)


def post(peer: Peer, headers: Mapping[str, str], content: bytes, seconds: float) -> Response:
    """Post to the first of the addresses that accepts a connection, and read no body.

    The name in the URL is not resolved; it stands in the headers, and the certificate has to be of it.
    Redirects are not followed. All of it takes no longer than `seconds`. Raises NoResponse.
    """
    ends_at = time.monotonic() + seconds
    parts = urlsplit(peer.url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    own = {"host": parts.netloc, "user-agent": USER_AGENT, "connection": "close", **headers}
    try:
        with closing(_connected(peer, ends_at)) as connection:
            # The headers are sent first, and then the content.
            connection.sock.settimeout(_left(ends_at) / 2)
            # Who refuses early may not read all of it.
            with suppress(BrokenPipeError):
                connection.request("POST", path, body=content, headers=own, preload_content=False)
            connection.timeout = _left(ends_at)
            response = connection.getresponse()
            return Response(response.status, response.headers)
    except NewConnectionError:
        raise NoResponse("no connection") from None
    except (TimeoutError, ConnectTimeoutError):
        raise NoResponse("no response in time") from None
    except ssl.SSLCertVerificationError:
        raise NoResponse("its certificate is not valid") from None
    except ssl.SSLError:
        raise NoResponse("no TLS") from None
    except (OSError, HTTPError):
        # Their texts may have the address.
        raise NoResponse("no connection") from None
    except http.client.HTTPException:
        raise NoResponse("no response of HTTP") from None


def _connected(peer: Peer, ends_at: float) -> HTTPConnection:
    """Return a connection to the first of the addresses that accepts one."""
    parts = urlsplit(peer.url)
    failure: Exception = TimeoutError()
    for address in peer.addresses:
        # Half of it is for the handshake of TLS.
        timeout = min(CONNECT_SECONDS, _left(ends_at) / 2)
        connection: HTTPConnection
        if parts.scheme == "https":
            name = str(parts.hostname).rstrip(".")
            connection = _TlsDeadline(
                address, parts.port, timeout=timeout, server_hostname=name, ssl_context=peer.trust
            )
        else:
            connection = _Deadline(address, parts.port, timeout=timeout)
        try:
            connection.connect()
        except (OSError, HTTPError) as error:
            connection.close()
            failure = error
        else:
            return connection
    raise failure


def _left(ends_at: float) -> float:
    seconds = ends_at - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


class DeadlineAdapter(HTTPAdapter):
    """Applies the read timeout to the whole response, and `silence_seconds` to each wait for bytes.

    A manager of urllib3 has its classes of pools as an attribute of its own "so other PoolManagers can
    override them" (`PoolManager.__init__` of urllib3 2.8): its documents do not name it, nor another way.
    """

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
    """Reads the bytes of one response until the deadline; in place of the socket of an HTTPResponse."""

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

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)


class _Deadline(HTTPConnection):
    silence_seconds: ClassVar[float] = math.inf

    def getresponse(self) -> Any:
        # Before this method urllib3 sets `timeout` to the time left for reading.
        seconds = float(self.timeout or 0.0)

        def respond(sock: socket.socket, **options: Any) -> http.client.HTTPResponse:
            limited: Any = _Reader(sock, seconds, self.silence_seconds)
            return http.client.HTTPResponse(limited, **options)

        self.response_class = respond  # type: ignore[assignment]
        return super().getresponse()


class _TlsDeadline(_Deadline, HTTPSConnection):
    pass


def _pool_classes(silence_seconds: float) -> dict[str, type[HTTPConnectionPool]]:
    attributes = {"silence_seconds": silence_seconds}
    plain = type("DeadlineConnection", (_Deadline,), attributes)
    tls = type("DeadlineTLSConnection", (_TlsDeadline,), attributes)
    return {
        "http": type("DeadlinePool", (HTTPConnectionPool,), {"ConnectionCls": plain}),
        "https": type("DeadlineTLSPool", (HTTPSConnectionPool,), {"ConnectionCls": tls}),
    }
