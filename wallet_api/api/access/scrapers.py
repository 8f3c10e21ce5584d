"""Who may read the metrics: networks and a token, instead of a caller's key."""

import hmac
import re
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from flask import Request

from wallet_api.api.keys import bearer_key
from wallet_api.base.errors import Forbidden

# Headers in which a proxy names itself or the caller.
_FORWARDED = re.compile(
    r"forwarded|^(via|cdn-loop|x-remote-addr|x-envoy-external-address)$|(^|-)(real|client|remote|user|connecting|"
    r"originating|proxyuser)-?(ip|host)$",
    re.IGNORECASE,
)


class MetricsNotAllowed(Forbidden):
    """Metrics are for the addresses of METRICS_NETWORKS, or with the METRICS_TOKEN as a Bearer token."""

    def __init__(self) -> None:
        super().__init__(reason="metrics_not_allowed")


class Scrapers:
    """Those who may read the metrics: with a token, or from some networks, which are separated by commas."""

    def __init__(self, token: str | None, networks: str) -> None:
        self._token = token
        self._networks: list[IPv4Network | IPv6Network] = [
            ip_network(network) for network in networks.split(",") if network
        ]

    def check(self, request: Request) -> None:
        """Raise MetricsNotAllowed unless a request has the token, or comes straight from such a network."""
        if not self._has_access(request):
            raise MetricsNotAllowed

    def _has_access(self, request: Request) -> bool:
        token = bearer_key(request.headers.get("Authorization"))
        if self._token is not None and token is not None:
            return hmac.compare_digest(token.encode(), self._token.encode())
        # Through a proxy, the address is not the caller's. Without one, these headers are forged, and with
        # PROXY_HOPS the address comes from them.
        if any(_FORWARDED.search(name) for name, _ in request.headers):
            return False
        try:
            address = ip_address(request.remote_addr or "")
        except ValueError:
            return False
        return any(address in network for network in self._networks)
