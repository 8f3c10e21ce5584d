"""GET /v1/wallets/holdings: the balances of one wallet, live."""

from collections.abc import Sequence
from typing import Any

import orjson
from flask import Blueprint, Response

from wallet_api.access.gate import free_of_charge
from wallet_api.errors import WalletNotFound
from wallet_api.holdings.service import HoldingsUnavailable, ProviderNotConfigured
from wallet_api.large import Share
from wallet_api.responses.arguments import load_arguments
from wallet_api.responses.cached import respond_version
from wallet_api.responses.envelope import respond
from wallet_api.responses.examples import ADDRESS, MINT
from wallet_api.responses.operation import Operation
from wallet_api.schemas.holdings import HoldingsArguments, HoldingsSchema
from wallet_api.services import services

blueprint = Blueprint("holdings", __name__, url_prefix="/v1")

_arguments = HoldingsArguments()
_schema = HoldingsSchema()

_EXAMPLE = {
    "active_holdings": {
        "tokens": [
            {
                "token_address": "native",
                "token_name": "Solana",
                "symbol": "SOL",
                "amount": "1500000000",
                "amount_formatted": "1.5",
                "decimals": 9,
                "verified_contract": True,
            },
            {
                "token_address": MINT,
                "token_name": "Doge Club",
                "symbol": "BONK",
                "amount": "420000000",
                "amount_formatted": "4200",
                "decimals": 5,
                "verified_contract": False,
            },
        ],
        "count": 2,
        "last_updated": "2026-01-30T12:51:15Z",
        "stale": False,
        "loading": False,
    }
}
_LOADING = {
    "active_holdings": {"tokens": [], "count": 0, "last_updated": None, "stale": False, "loading": True}
}

_INCOMPLETE = _EXAMPLE | {
    "warnings": ["1 row of the provider could not be read: these balances are not complete."]
}

_operation = Operation(
    tag="Wallets",
    summary="Live balances of a wallet",
    arguments=_arguments,
    data=_schema,
    examples={"balances": _EXAMPLE, "loading": _LOADING, "incomplete": _INCOMPLETE},
    errors=[
        WalletNotFound("solana", ADDRESS),
        HoldingsUnavailable(retry_after_seconds=10),
        ProviderNotConfigured(),
    ],
    description="While `loading` is true nothing is charged; request again shortly.",
)


@blueprint.get("/wallets/holdings")
@blueprint.get("/wallet/holdings", endpoint="holdings_alias")
@_operation.describes
def holdings() -> Response:
    """Return the balances of one wallet, and how old they are."""
    arguments = load_arguments(_arguments)
    with services().holdings.share() as share:
        return _respond(share, **arguments)


def _respond(share: Share, **arguments: str) -> Response:
    service = services().holdings
    found = service.read(share=share, **arguments)
    snapshot = found.snapshot
    if snapshot is None:
        # A response without balances costs nothing.
        free_of_charge()
        return respond(
            _dump({"tokens": [], "count": 0, "last_updated": None, "stale": found.stale, "loading": True})
        )

    def active() -> Any:
        formatted = service.format(arguments["blockchain"], snapshot)
        return _dump(
            {
                "tokens": orjson.Fragment(formatted.tokens),
                "count": formatted.count,
                "last_updated": formatted.last_updated,
                "stale": found.stale,
                "loading": False,
            },
            formatted.warnings,
        )

    return respond_version(
        arguments,
        (snapshot.refreshed_at, found.stale),
        active,
        cached=found.cached,
        cache_age_seconds=found.cache_age_seconds,
    )


def _dump(active: dict[str, object], warnings: Sequence[str] = ()) -> Any:
    return _schema.dump({"active_holdings": active} | ({"warnings": warnings} if warnings else {}))
