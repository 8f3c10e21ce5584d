"""A stub of Moralis on loopback with the balances of the demo's wallets.

With it, the demo runs the same code as production. Wire shapes: https://docs.moralis.com/.
"""

import base64
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import click
import orjson
from flask import Blueprint, Flask, Response, abort, current_app, request
from werkzeug.exceptions import HTTPException
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from wallet_api.chains import CHAINS
from wallet_api.demo.balances import Portfolio, evm_rows, solana_document
from wallet_api.demo.continuation import Continuation
from wallet_api.demo.options import world_options

EVM_CHAINS = {"eth": "eth", "0x1": "eth", "bsc": "bnb", "0x38": "bnb", "base": "base", "0x2105": "base"}

# Returns the balances of a wallet, given its chain and address.
Portfolios = Callable[[str, str], Portfolio]

_evm = Blueprint("evm", __name__, url_prefix="/api/v2.2")
_solana = Blueprint("solana", __name__, url_prefix="/account/mainnet")
_OPTIONS = "demo_provider"


def create_provider(portfolios: Portfolios, page_size: int = 100) -> Flask:
    """Return the WSGI application. A page has `page_size` rows at most."""
    app = Flask(__name__, static_folder=None)
    app.extensions[_OPTIONS] = (portfolios, page_size)
    app.before_request(_check)
    app.register_blueprint(_evm)
    app.register_blueprint(_solana)
    app.register_error_handler(HTTPException, _refuse)
    return app


def json_response(document: Any, status: int = 200) -> Response:
    """Return `document` as a response of the provider."""
    return Response(orjson.dumps(document), status=status, content_type="application/json; charset=utf-8")


def message_response(message: str, status: int) -> Response:
    """Return an error response of the provider."""
    return json_response({"message": message, "statusCode": status}, status)


@_evm.get("/wallets/<address>/tokens")
def evm_tokens(address: str) -> Response:
    chain, portfolio = _evm_wallet(address)
    start, size = _page()
    with_spam = request.args.get("exclude_spam") != "true"
    rows = evm_rows(CHAINS[chain], portfolio, with_spam=with_spam)
    end = start + size
    return json_response(
        {
            "cursor": _cursor(end, size) if end < len(rows) else None,
            "page": start // size,
            "page_size": size,
            "block_number": 23998783,
            "result": rows[start:end],
        }
    )


@_evm.get("/<address>/balance")
def evm_balance(address: str) -> Response:
    _, portfolio = _evm_wallet(address)
    return json_response({"balance": str(portfolio.native)})


@_solana.get("/<address>/portfolio")
def solana_portfolio(address: str) -> Response:
    portfolios, _ = _options()
    return json_response(solana_document(portfolios("solana", address)))


def _check() -> Response | None:
    address = (request.view_args or {}).get("address")
    if address is None:
        return None
    if not request.headers.get("X-API-Key"):
        return message_response("Token is invalid format", 401)
    if not CHAINS["solana" if request.path.startswith(_solana.url_prefix or "") else "eth"].is_address(
        address
    ):
        return message_response(f"The address is not valid: {address[:64]}", 400)
    return None


def _evm_wallet(address: str) -> tuple[str, Portfolio]:
    # Moralis assumes eth if the chain is missing. This stub refuses, to reveal a client that forgets it.
    chain = EVM_CHAINS.get(request.args.get("chain", "").lower())
    if chain is None:
        abort(400, f"chain must be a valid enum value: {', '.join(EVM_CHAINS)}")
    portfolios, _ = _options()
    return chain, portfolios(chain, address.lower())


def _page() -> tuple[int, int]:
    """Return the first row and the size of the page. As at Moralis, a cursor contains the first size."""
    _, page_size = _options()
    cursor = request.args.get("cursor")
    if cursor:
        try:
            place = orjson.loads(base64.urlsafe_b64decode(cursor))
            return int(place["offset"]), int(place["limit"])
        except (ValueError, KeyError, TypeError):
            abort(400, "cursor is not valid")
    limit = request.args.get("limit", str(page_size))
    if not limit.isdecimal() or int(limit) < 1:
        abort(400, "limit must not be less than 1")
    return 0, min(int(limit), page_size)


def _cursor(offset: int, limit: int) -> str:
    return base64.urlsafe_b64encode(orjson.dumps({"offset": offset, "limit": limit})).decode()


def _options() -> tuple[Portfolios, int]:
    options: tuple[Portfolios, int] = current_app.extensions[_OPTIONS]
    return options


def _refuse(error: HTTPException) -> Response:
    return message_response(error.description or error.name, error.code or 500)


class _QuietHandler(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: Any) -> None:
        """Log nothing."""


def serve(app: Flask, listener: int | None = None) -> BaseWSGIServer:
    """Return a threaded server of `app` on a listening socket, by default a new one on a free port."""
    return make_server("127.0.0.1", 0, app, threaded=True, request_handler=_QuietHandler, fd=listener)


def _portfolio_now(world: Continuation, chain: str, address: str) -> Portfolio:
    return world.portfolio(chain, address, datetime.now(UTC))


@click.command()
@click.option("--fd", type=int, required=True, help="File descriptor of a listening socket on loopback.")
@click.option("--until", type=click.DateTime(), help="End of the loaded world, in UTC. Default: now.")
@world_options
def main(fd: int, until: datetime | None, **size: int) -> None:
    """Serve the stub until it is stopped."""
    world = Continuation(until.replace(tzinfo=UTC) if until else datetime.now(UTC), **size)
    serve(create_provider(partial(_portfolio_now, world)), fd).serve_forever()


if __name__ == "__main__":
    main()
