"""The stub itself: all providers in one application, on a free port of loopback; it counts its calls."""

import json
import threading
from collections import Counter
from typing import Any

from flask import Response, request
from werkzeug.serving import WSGIRequestHandler, make_server

from tests.stub.alchemy import Alchemy
from tests.stub.alchemy import blueprint as alchemy_blueprint
from tests.stub.faults import Scenario
from tests.stub.nodes import Nodes
from tests.stub.nodes import blueprint as nodes_blueprint
from wallet_api.demo.balances import Portfolio
from wallet_api.demo.forms import decimal_text
from wallet_api.demo.provider import create_provider, json_response

EMPTY = Portfolio(native=0, tokens=())


class Stub:
    """A running stub. Wallets hold what `portfolios` says, and meet the fault that `scenarios` says.

    `asked` counts requests by address (EVM: lower case); `release` ends what hangs.
    """

    def __init__(self) -> None:
        self.portfolios: dict[tuple[str, str], Portfolio] = {}
        self.scenarios: dict[str, Scenario] = {}
        # What every wallet meets that has no scenario of its own.
        self.every: Scenario | None = None
        self.asked: Counter[str] = Counter()
        self.keys: set[str] = set()
        self.release = threading.Event()
        self.nodes = Nodes(self._portfolio, own=self.portfolios)
        self.alchemy = Alchemy(self._portfolio)
        # The provider's own hook answers for Moralis' paths; the one below for all.
        app = create_provider(self._portfolio)
        app.add_url_rule("/account/mainnet/<address>/balance", "balance", self._lamports)
        for path in ("/account/mainnet/<address>/swaps", "/api/v2.2/wallets/<address>/swaps"):
            app.add_url_rule(path, path, _no_swaps)
        app.register_blueprint(nodes_blueprint(self.nodes))
        app.register_blueprint(alchemy_blueprint(self.alchemy))
        app.before_request(self._meet)
        self._lock = threading.Lock()
        self._server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=_Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        """Stop serving."""
        self.release.set()
        self._server.shutdown()
        self._server.server_close()

    def _portfolio(self, chain: str, address: str) -> Portfolio:
        return self.portfolios.get((chain, address), EMPTY)

    def _lamports(self, address: str) -> Response:
        units = self._portfolio("solana", address).native
        return json_response({"lamports": str(units), "solana": decimal_text(units, 9)})

    def _meet(self) -> Response | None:
        address = _address()
        with self._lock:
            self.asked[address] += 1
            self.keys.add(request.headers.get("X-API-Key", ""))
        scenario = self.scenarios.get(address, self.every)
        return scenario() if scenario is not None else None


def _no_swaps(address: str) -> Response:
    return json_response({"cursor": None, "result": []})


def _address() -> str:
    """The wallet that this request is about, empty if none."""
    address = (request.view_args or {}).get("address")
    if address is None and request.is_json:
        address = _first_address(json.loads(request.get_data()))
    address = address or ""
    return address.lower() if address.startswith("0x") else address


def _first_address(document: Any) -> str | None:
    call = document[0] if isinstance(document, list) else document
    if "addresses" in call:
        return str(call["addresses"][0]["address"])
    parameters = call.get("params") or [None]
    return parameters[0] if isinstance(parameters[0], str) else None


class _Handler(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, type: str, message: str, *args: Any) -> None:
        """Nothing: there is nobody to read a line for each request."""
