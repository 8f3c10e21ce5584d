"""A stand-in for Moralis on loopback: its wire shapes, for the wallets of the demo.

So the demo runs the same path as production. The shapes are those of https://docs.moralis.com/.
"""

import base64
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import click
import orjson
from flask import Blueprint, Flask, Response, current_app, request
from werkzeug.exceptions import HTTPException
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from wallet_api.chains import CHAINS
from wallet_api.demo import swaps, wire
from wallet_api.demo.balances import Portfolio, imagined_portfolio
from wallet_api.demo.options import world_options
from wallet_api.demo.world import World

EVM_CHAINS = {"eth": "eth", "0x1": "eth", "bsc": "bnb", "0x38": "bnb", "base": "base", "0x2105": "base"}

Scenario = Callable[[], Response | None]
Portfolios = Callable[[str, str], Portfolio]
Trades = Callable[[str, str], Iterable[Mapping[str, Any]]]

_evm = Blueprint("evm", __name__, url_prefix="/api/v2.2")
_solana = Blueprint("solana", __name__, url_prefix="/account/mainnet")
_KEY = "demo_provider"


class RefusalError(Exception):
    """The provider's answer to a call it does not accept."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def no_trades(chain: str, address: str) -> Iterable[Mapping[str, Any]]:
    """The trades of a wallet that never traded."""
    return ()


def create_provider(
    *,
    portfolios: Portfolios = imagined_portfolio,
    trades: Trades = no_trades,
    scenarios: Mapping[str, Scenario] | None = None,
    page_size: int = 100,
) -> Flask:
    """The WSGI application.

    `portfolios` and `trades` (newest first, rows as in a trades file) say what a wallet (chain, address) has.
    `scenarios` maps an address (EVM: lower case) to a function that is called within each request for it and
    may answer in place of the provider; where it gives None the provider answers as always.
    """
    app = Flask(__name__, static_folder=None)
    app.extensions[_KEY] = {
        "portfolios": portfolios,
        "trades": trades,
        "scenarios": scenarios if scenarios is not None else {},
        "page_size": page_size,
    }
    app.before_request(_check)
    app.register_blueprint(_evm)
    app.register_blueprint(_solana)
    app.register_error_handler(RefusalError, _refuse)
    app.register_error_handler(HTTPException, _refuse_http)
    return app


def json_response(document: Any, status: int = 200) -> Response:
    """`document` as the provider would send it."""
    return Response(orjson.dumps(document), status=status, content_type="application/json; charset=utf-8")


def message_response(message: str, status: int) -> Response:
    """The provider's error body."""
    return json_response({"message": message, "statusCode": status}, status)


@_evm.get("/wallets/<address>/tokens")
def evm_tokens(address: str) -> Response:
    chain, address = _evm_wallet(address)
    start, size = _page()
    portfolio: Portfolio = _own("portfolios")(chain, address)
    rows = wire.evm_rows(
        CHAINS[chain],
        portfolio,
        with_native=not _flag("exclude_native"),
        with_spam=not _flag("exclude_spam"),
    )
    return json_response(
        {
            "cursor": _cursor(start + size, size) if start + size < len(rows) else None,
            "page": start // size,
            "page_size": size,
            "block_number": 23998783,
            "result": rows[start : start + size],
        }
    )


@_evm.get("/<address>/balance")
def evm_balance(address: str) -> Response:
    chain, address = _evm_wallet(address)
    return json_response({"balance": str(_own("portfolios")(chain, address).native)})


@_evm.get("/wallets/<address>/swaps")
def evm_swaps(address: str) -> Response:
    chain, address = _evm_wallet(address)
    return _swaps_page(chain, address, "page_size")


@_solana.get("/<address>/portfolio")
def solana_portfolio(address: str) -> Response:
    return json_response(wire.solana_portfolio(_solana_portfolio(address)))


@_solana.get("/<address>/tokens")
def solana_tokens(address: str) -> Response:
    rows = wire.solana_rows(_solana_portfolio(address), with_spam=not _flag("excludeSpam"))
    return json_response(rows)


@_solana.get("/<address>/balance")
def solana_balance(address: str) -> Response:
    return json_response(wire.solana_native(_solana_portfolio(address)))


@_solana.get("/<address>/swaps")
def solana_swaps(address: str) -> Response:
    return _swaps_page("solana", address, "pageSize")


def _swaps_page(chain: str, address: str, size_name: str) -> Response:
    start, size = _page()
    try:
        rows, more = swaps.select(_own("trades")(chain, address), request.args, start, size)
    except ValueError as fault:
        raise RefusalError(400, str(fault)) from fault
    return json_response(
        {
            "cursor": _cursor(start + size, size) if more else None,
            "page": start // size + 1,
            size_name: size,
            "result": [swaps.swap(CHAINS[chain], address, row) for row in rows],
        }
    )


def _check() -> Response | None:
    address = (request.view_args or {}).get("address")
    if address is None:
        return None
    if not request.headers.get("X-API-Key"):
        return message_response("Token is invalid format", 401)
    chain = CHAINS["solana" if request.blueprint == "solana" else "eth"]
    if not chain.is_address(address):
        return message_response(f"The address is not valid: {address[:64]}", 400)
    scenario: Scenario | None = _own("scenarios").get(chain.canonical(address))
    return scenario() if scenario else None


def _evm_wallet(address: str) -> tuple[str, str]:
    # Moralis takes a missing chain for eth without a word, which would hide a client's mistake here.
    chain = EVM_CHAINS.get(request.args.get("chain", "").lower())
    if chain is None:
        raise RefusalError(400, f"chain must be a valid enum value: {', '.join(EVM_CHAINS)}")
    return chain, address.lower()


def _solana_portfolio(address: str) -> Portfolio:
    portfolio: Portfolio = _own("portfolios")("solana", address)
    return portfolio


def _page() -> tuple[int, int]:
    """Where the page starts, and its size. As with Moralis, a cursor carries the size of the first call."""
    cursor = request.args.get("cursor")
    most: int = _own("page_size")
    if cursor:
        try:
            place = orjson.loads(base64.urlsafe_b64decode(cursor))
            return int(place["offset"]), int(place["limit"])
        except (ValueError, KeyError, TypeError) as fault:
            raise RefusalError(400, "cursor is not valid") from fault
    limit = request.args.get("limit", str(most))
    if not limit.isdecimal() or int(limit) < 1:
        raise RefusalError(400, "limit must not be less than 1")
    return 0, min(int(limit), most)


def _cursor(offset: int, limit: int) -> str:
    return base64.urlsafe_b64encode(orjson.dumps({"offset": offset, "limit": limit})).decode()


def _flag(name: str) -> bool:
    return request.args.get(name, "false").lower() == "true"


def _own(name: str) -> Any:
    return current_app.extensions[_KEY][name]


def _refuse(refusal: RefusalError) -> Response:
    return message_response(str(refusal), refusal.status)


def _refuse_http(error: HTTPException) -> Response:
    return message_response(error.description or error.name, error.code or 500)


class _QuietHandler(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: Any) -> None:
        """Nothing: there is nobody to read a line for each request."""


def serve(app: Flask, port: int) -> BaseWSGIServer:
    """A threaded server of `app` on loopback, listening already; port 0 takes a free one. Not yet serving."""
    return make_server("127.0.0.1", port, app, threaded=True, request_handler=_QuietHandler)


@click.command()
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8010, show_default=True, help="0 takes a free one."
)
@click.option("--until", type=click.DateTime(), help="When the world ends, in UTC; now if not given.")
@world_options
def main(port: int, until: datetime | None, **size: int) -> None:
    """Serve the stand-in provider on loopback until it is stopped; the first line of output says where."""
    world = World(until.replace(tzinfo=UTC) if until else datetime.now(UTC), **size)
    server = serve(create_provider(portfolios=world.portfolio, trades=world.trades_of), port)
    click.echo(f"http://127.0.0.1:{server.port}")
    server.serve_forever()


if __name__ == "__main__":
    main()
