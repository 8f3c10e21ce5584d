"""Moralis' wallet API. Formats: https://docs.moralis.com/."""

from collections.abc import Callable
from typing import Any, NamedTuple

import orjson
from flask import Flask, Response, request

from wallet_api.base.chains import CHAINS, EVM_PSEUDO_MINT, Chain

EVM_CHAINS = {chain.moralis_chain: chain for chain in CHAINS.values() if chain.evm_chain_id}


class Balance(NamedTuple):
    """The balance of a token: `units` are in its smallest unit. Name and symbol may be missing."""

    address: str
    name: str | None
    symbol: str | None
    decimals: int
    units: int
    verified: bool = False
    spam: bool = False


class Portfolio(NamedTuple):
    """The native balance in the smallest unit, and the tokens."""

    native: int
    tokens: tuple[Balance, ...]


# Returns the balances of a wallet, given its chain and address.
Portfolios = Callable[[str, str], Portfolio]


def create_provider(portfolios: Portfolios) -> Flask:
    """Return the WSGI application."""
    app = Flask(__name__, static_folder=None)

    @app.get("/api/v2.2/wallets/<address>/tokens")
    def evm_tokens(address: str) -> Response:
        chain = EVM_CHAINS[request.args["chain"]]
        rows = _evm_rows(chain, portfolios(chain.name, address))
        # A cursor contains the place of the next row and the size of the pages.
        cursor = request.args.get("cursor")
        start, size = map(int, cursor.split("-")) if cursor else (0, int(request.args["limit"]))
        end = start + size
        more = f"{end}-{size}" if end < len(rows) else None
        return json_response({"cursor": more, "result": rows[start:end]})

    @app.get("/api/v2.2/<address>/balance")
    def evm_balance(address: str) -> Response:
        chain = EVM_CHAINS[request.args["chain"]]
        return json_response({"balance": str(portfolios(chain.name, address).native)})

    @app.get("/account/mainnet/<address>/portfolio")
    def solana_portfolio(address: str) -> Response:
        return json_response(_solana_document(portfolios("solana", address)))

    return app


def json_response(document: Any, status: int = 200) -> Response:
    """Return `document` as a response of the provider."""
    return Response(orjson.dumps(document), status=status, content_type="application/json; charset=utf-8")


def _evm_rows(chain: Chain, portfolio: Portfolio) -> list[dict[str, Any]]:
    """Return the rows of a wallet, native first. A zero native balance has no row."""
    coin = (EVM_PSEUDO_MINT, chain.coin.name, chain.currency, chain.native_decimals)
    native = (Balance(*coin, portfolio.native, verified=True),) if portfolio.native else ()
    without_spam = request.args.get("exclude_spam") == "true"
    return [
        {
            "token_address": token.address,
            "symbol": token.symbol,
            "name": token.name,
            "decimals": token.decimals,
            "balance": str(token.units),
            "possible_spam": token.spam,
            "verified_contract": token.verified,
            "native_token": token in native,
        }
        for token in (*native, *portfolio.tokens)
        if not (without_spam and token.spam)
    ]


def _solana_document(portfolio: Portfolio) -> dict[str, Any]:
    """Return the portfolio, with an account for each token."""
    rows = [
        {
            "associatedTokenAddress": f"account of {token.address}",
            "mint": token.address,
            "name": token.name,
            "symbol": token.symbol,
            "amountRaw": str(token.units),
            "decimals": token.decimals,
            "isVerifiedContract": token.verified,
            "possibleSpam": token.spam,
        }
        for token in portfolio.tokens
    ]
    return {"nativeBalance": {"lamports": str(portfolio.native)}, "nfts": [], "tokens": rows}
