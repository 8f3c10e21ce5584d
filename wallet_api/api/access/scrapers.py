"""Who may read the metrics: networks and a token, instead of a caller's key."""

import hmac
import re
from ipaddress import ip_address, ip_network

from flask import Request

from wallet_api.api.keys import bearer_key
from wallet_api.base.errors import Forbidden

# Headers in which a proxy names itself or the caller.
_FORWARDED = re.compile(
    r"forwarded|^(via|cdn-loop|x-remote-addr|x-envoy-external-address)$|(^|-)(real|client|remote|user|connecting|"
    r"originating|proxyuser)-?(ip|host)$",
    re.IGNORECASE,
)


_REFUSAL = "Metrics are for the addresses of METRICS_NETWORKS, or with the METRICS_TOKEN as a Bearer token."


def check_scraper(request: Request, token: str | None, networks: str) -> None:
    """Raise Forbidden unless a request has the token, or comes straight from one of the networks.

    These are separated by commas.
    """
    if not _has_access(request, token, networks):
        raise Forbidden("metrics_not_allowed", _REFUSAL)


def _has_access(request: Request, token: str | None, networks: str) -> bool:
    sent = bearer_key(request.headers.get("Authorization"))
    if token is not None and sent is not None:
        return hmac.compare_digest(sent.encode(), token.encode())
    # Through a proxy, the address is not the caller's. Without one, these headers are forged, and with
    # PROXY_HOPS the address comes from them.
    if any(_FORWARDED.search(name) for name, _ in request.headers):
        return False
    try:
        address = ip_address(request.remote_addr or "")
    except ValueError:
        return False
    return any(address in ip_network(network) for network in networks.split(",") if network)
