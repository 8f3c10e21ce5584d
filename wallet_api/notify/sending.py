"""Send a message to a target: one try, with a deadline, to public addresses alone."""

import ipaddress
import socket
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit

from wallet_api.base import http
from wallet_api.notify.messages import headers_of
from wallet_api.notify.targets import Target

DEADLINE_SECONDS = 15.0
MOST_PAUSE_SECONDS = 900.0
# 4xx that say nothing of the message.
_OF_THE_MOMENT = (408, 425, 429)
_GONE = 410
# https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
_DELIVERY, _ABORT = "webhook-delivery", "abort-message"
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


@dataclass(frozen=True)
class SendingOutcome:
    """What became of a try. Without a `failure` the message was received; that shows no address.

    `is_refused` is of this message, `is_aborted` that it is not to be sent again, `is_gone` of the target.
    After `pause_seconds` it may be tried again; None leaves that to the sender.
    """

    failure: str = ""
    status: int | None = None
    is_refused: bool = False
    is_aborted: bool = False
    is_gone: bool = False
    pause_seconds: float | None = None


def send_message(target: Target, id: str, body: str, *, allow_private: bool) -> SendingOutcome:
    """Post a message, signed where the target has secrets.

    The name is resolved once, and the connection goes to an address that was checked: a name that resolves to
    another one later is of no use. No more is read than the status and the headers.
    """
    try:
        addresses = _addresses_of(target, allow_private=allow_private)
        peer = http.Peer(target.url, addresses, target.trust)
        headers = headers_of(target.secrets, id, datetime.now(UTC), body)
        return outcome_of(http.post(peer, headers, body.encode(), DEADLINE_SECONDS))
    except http.NoResponse as error:
        return SendingOutcome(str(error))


def outcome_of(response: http.Response) -> SendingOutcome:
    """Return what a response means."""
    status = response.status
    if 200 <= status < 300:
        return SendingOutcome(status=status)
    is_aborted = response.headers.get(_DELIVERY, "").strip().lower() == _ABORT
    is_of_client = 400 <= status < 500 and status not in (*_OF_THE_MOMENT, _GONE)
    pause = http.retry_after_seconds(response.headers, MOST_PAUSE_SECONDS) if status in (429, 503) else None
    return SendingOutcome(
        f"HTTP {status}", status, is_of_client or is_aborted, is_aborted, status == _GONE, pause
    )


def _addresses_of(target: Target, *, allow_private: bool) -> list[str]:
    host = str(urlsplit(target.url).hostname).rstrip(".")
    try:
        found = socket.getaddrinfo(host, target.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise http.NoResponse("its name has no address") from None
    addresses = [str(address[4][0]) for address in found]
    if not allow_private and not all(map(is_public, addresses)):
        raise http.NoResponse("its address is not public; see --allow-private")
    return addresses


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
