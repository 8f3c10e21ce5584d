"""A stand-in for Moralis on loopback, so that the demo runs the same code as production.

Formats: https://docs.moralis.com/.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import orjson
from flask import Blueprint, Flask, Response, current_app, request
from werkzeug.serving import WSGIRequestHandler, make_server

from wallet_api.chains import CHAINS
from wallet_api.demo.balances import Portfolio, evm_rows, solana_document

EVM_CHAINS = {chain.moralis_chain: chain for chain in CHAINS.values() if chain.evm_chain_id}

# Returns the balances of a wallet, given its chain and address.
Portfolios = Callable[[str, str], Portfolio]

_evm = Blueprint("evm", __name__, url_prefix="/api/v2.2")
_solana = Blueprint("solana", __name__, url_prefix="/account/mainnet")
_PORTFOLIOS = "demo_portfolios"


def create_provider(portfolios: Portfolios) -> Flask:
    """Return the WSGI application."""
    app = Flask(__name__, static_folder=None)
    app.extensions[_PORTFOLIOS] = portfolios
    app.register_blueprint(_evm)
    app.register_blueprint(_solana)
    return app


def json_response(document: Any, status: int = 200) -> Response:
    """Return `document` as a response of the provider."""
    return Response(orjson.dumps(document), status=status, content_type="application/json; charset=utf-8")


@contextmanager
def running(portfolios: Portfolios) -> Iterator[str]:
    """Serve the stand-in from a thread in this block, and yield its URL."""
    app = create_provider(portfolios)
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=_QuietHandler)
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), name="demo provider", daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@_evm.get("/wallets/<address>/tokens")
def evm_tokens(address: str) -> Response:
    chain = EVM_CHAINS[request.args["chain"]]
    with_spam = request.args.get("exclude_spam") != "true"
    rows = evm_rows(chain, _portfolio(chain.name, address), with_spam=with_spam)
    # A cursor contains the place of the next row and the size of the pages.
    cursor = request.args.get("cursor")
    start, size = map(int, cursor.split("-")) if cursor else (0, int(request.args["limit"]))
    end = start + size
    return json_response({"cursor": f"{end}-{size}" if end < len(rows) else None, "result": rows[start:end]})


@_evm.get("/<address>/balance")
def evm_balance(address: str) -> Response:
    chain = EVM_CHAINS[request.args["chain"]]
    return json_response({"balance": str(_portfolio(chain.name, address).native)})


@_solana.get("/<address>/portfolio")
def solana_portfolio(address: str) -> Response:
    return json_response(solana_document(_portfolio("solana", address)))


def _portfolio(chain: str, address: str) -> Portfolio:
    portfolios: Portfolios = current_app.extensions[_PORTFOLIOS]
    return portfolios(chain, address)


class _QuietHandler(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: Any) -> None:
        """Log nothing."""
