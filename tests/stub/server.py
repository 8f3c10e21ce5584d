"""The stub: all providers in one application on a free port of loopback. It records its requests."""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from flask import Blueprint, Response, request
from werkzeug.serving import make_server

from tests.lib.serving import QuietHandler
from tests.stub import alchemy, markets, nodes, prices, swaps
from tests.stub.faults import Scenario
from tests.stub.moralis import Portfolio, create_provider, json_response
from tests.stub.stream import Stream
from tests.stub.transactions import Transactions

EMPTY = Portfolio(native=0, tokens=())


class Call(NamedTuple):
    """A request: the path or the node's method, and its subject: a wallet, a transaction, or the path."""

    moment: float
    name: str
    subject: str


class Stub:
    """A running stub. `portfolios`, `swaps`, `transactions` and `prices` are the data of the providers.

    `scenarios` come first: those of a provider ("moralis", "alchemy", "rpc", "coingecko", "binance", or of
    markets), of
    a node's method, and of a wallet or transaction (EVM: lower case). `requested` counts requests by subject;
    `release` ends what hangs.
    """

    def __init__(self) -> None:
        self.portfolios: dict[tuple[str, str], Portfolio] = {}
        self.swaps = swaps.Swaps()
        self.transactions = Transactions()
        self.prices = prices.Prices()
        self.markets = markets.Markets()
        self.nodes = nodes.Nodes(self._portfolio, self.transactions, own=self.portfolios)
        self.stream = Stream()
        self.alchemy = alchemy.Alchemy(self._portfolio)
        self.scenarios: dict[str, Scenario] = {}
        self.calls: list[Call] = []
        self.requested: Counter[str] = Counter()
        self.release = threading.Event()
        # The provider's own hook answers for Moralis' paths; the one below for all.
        app = create_provider(self._portfolio)
        app.add_url_rule("/account/mainnet/<address>/balance", "balance", self._lamports)
        for provider, views in self._views().items():
            routes = Blueprint(provider, __name__)
            methods = ["POST"] if provider in ("rpc", "alchemy") else ["GET"]
            for place, (rule, view) in enumerate(views.items()):
                routes.add_url_rule(rule, f"{place}", view, methods=methods)
            app.register_blueprint(routes)
        app.before_request(self._meet)
        self._lock = threading.Lock()
        self._server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=QuietHandler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def environment(self) -> dict[str, str]:
        """The settings of a sync that uses the stub, with short pauses."""
        return {
            "MORALIS_API_KEY": self.swaps.key,
            "MORALIS_EVM_URL": f"{self.url}/api/v2.2",
            "MORALIS_SOLANA_URL": self.url,
            "COINGECKO_URL": f"{self.url}/api/v3",
            "BINANCE_URL": f"{self.url}/binance",
            "DEXSCREENER_URL": f"{self.url}/dexscreener",
            "DEXSCREENER_REQUESTS_PER_MINUTE": "60000",
            "GECKOTERMINAL_URL": f"{self.url}/geckoterminal",
            "GECKOTERMINAL_REQUESTS_PER_MINUTE": "60000",
            "JUPITER_URL": f"{self.url}/jupiter",
            "JUPITER_REQUESTS_PER_MINUTE": "60000",
            "COINGECKO_REQUESTS_PER_MINUTE": "60000",
            "SYNC_REQUESTS_PER_SECOND": "1000",
            "SYNC_THREADS": "4",
            # Tests count times from that of their import, which in a run of all of them is long ago.
            "SYNC_OVERLAP_SECONDS": "21600",
            "HOLDINGS_BACKOFF_SECONDS": "0.02",
        }

    @property
    def node_environment(self) -> dict[str, str]:
        """The further settings that read Solana's trades from the node."""
        return {
            "SOLANA_TRADES_PROVIDER": "rpc",
            "SOLANA_RPC_URL": f"{self.url}/rpc/solana/NODE-SECRET",
            "SOLANA_WS_URL": self.stream.url,
            "SYNC_RPC_REQUESTS_PER_SECOND": "1000",
        }

    def evm_environment(self, *chains: str) -> dict[str, str]:
        """The further settings that read the trades of these chains from their nodes."""
        names = {chain.upper(): f"{self.url}/rpc/{chain}/NODE-SECRET" for chain in chains}
        return {
            **{f"{name}_TRADES_PROVIDER": "rpc" for name in names},
            **{f"{name}_RPC_URL": url for name, url in names.items()},
            "SYNC_RPC_REQUESTS_PER_SECOND": "1000",
        }

    def requests_of(self, name: str) -> list[str]:
        """Return the subjects of the requests of a path or method, in order."""
        return [call.subject for call in self.calls if call.name == name]

    def close(self) -> None:
        """Stop serving."""
        self.release.set()
        self.stream.close()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _views(self) -> dict[str, dict[str, Callable[..., Response]]]:
        """Return what responds to each path of each provider."""
        return {
            "moralis": {
                "/api/v2.2/wallets/<address>/swaps": self.swaps.answer,
                "/account/mainnet/<address>/swaps": self.swaps.answer,
            },
            "rpc": {"/rpc/<chain>/<key>": self.nodes.answer},
            "alchemy": {"/data/v1/<key>/assets/tokens/by-address": self.alchemy.answer},
            "coingecko": {
                "/api/v3/simple/price": self.prices.price,
                "/api/v3/coins/<coin>/market_chart/range": self.prices.chart,
            },
            "binance": {
                "/binance/api/v3/ticker/price": self.prices.ticker,
                "/binance/api/v3/klines": self.prices.klines,
            },
            "dexscreener": {"/dexscreener/tokens/v1/<chain>/<addresses>": self.markets.dexscreener},
            "geckoterminal": {
                "/geckoterminal/networks/<network>/tokens/multi/<addresses>": self.markets.geckoterminal
            },
            "jupiter": {"/jupiter/price/v3": self.markets.jupiter},
        }

    def _portfolio(self, chain: str, address: str) -> Portfolio:
        return self.portfolios.get((chain, address), EMPTY)

    def _lamports(self, address: str) -> Response:
        units = self._portfolio("solana", address).native
        return json_response({"lamports": str(units), "solana": f"{units}e-9"})

    def _meet(self) -> Response | None:
        calls = _calls()
        subjects = {call.subject for call in calls}
        with self._lock:
            self.calls += calls
            self.requested.update(subjects)
        for place in (request.blueprint or "moralis", *(call.name for call in calls), *subjects):
            scenario = self.scenarios.get(place)
            response = scenario() if scenario is not None else None
            if response is not None:
                return response
        return None


def _calls() -> list[Call]:
    """Return the current request; of a batch to a node, each call."""
    now = time.monotonic()
    if request.blueprint == "rpc":
        document = json.loads(request.get_data())
        calls = document if isinstance(document, list) else [document]
        return [Call(now, call["method"], _subject(call["params"])) for call in calls]
    address = (request.view_args or {}).get("address")
    if request.blueprint == "alchemy":
        address = json.loads(request.get_data())["addresses"][0]["address"]
    return [Call(now, request.path, _subject([address or request.path]))]


def _subject(parameters: list[Any]) -> str:
    first = parameters[0] if parameters else None
    if isinstance(first, int):
        return str(first)
    if not isinstance(first, str):
        return ""
    return first.lower() if first.startswith("0x") else first
