"""GET /v1/wallets/holdings: the balances of one wallet, live."""

from typing import Any

import orjson
from flask import Blueprint, Response

from wallet_api.access.gate import free_of_charge
from wallet_api.access.scopes import KeyScope
from wallet_api.cache import Cached
from wallet_api.errors import WalletNotFound
from wallet_api.holdings.service import HoldingsUnavailable, ProviderNotConfigured
from wallet_api.queries.paging import with_warnings
from wallet_api.responses.arguments import load_arguments
from wallet_api.responses.examples import ADDRESS, examples_of
from wallet_api.responses.operation import Operation
from wallet_api.schemas.holdings import HoldingsArguments, HoldingsSchema
from wallet_api.services import services
from wallet_api.wallets import find_wallet

blueprint = Blueprint("holdings", __name__, url_prefix="/v1")

_operation = Operation(
    name="get_holdings",
    tag="Wallets",
    summary="Live balances of a wallet",
    arguments=HoldingsArguments(),
    data=HoldingsSchema(),
    examples=examples_of("wallets/holdings"),
    errors=[
        WalletNotFound("solana", ADDRESS),
        HoldingsUnavailable(retry_after_seconds=10),
        ProviderNotConfigured(),
    ],
    description="While `loading` is true, repeat the request shortly: it is free.",
)


@blueprint.get("/wallets/holdings")
@blueprint.get("/wallet/holdings", endpoint="holdings_alias")
@_operation.documents
def holdings() -> Response:
    """Return the balances of one wallet, and how old they are."""
    wallet = dict(load_arguments(_operation.arguments))
    _check_type(wallet.pop("scope"), **wallet)
    service = services().holdings
    result = service.read(**wallet)
    snapshot = result.snapshot
    if snapshot is None:
        # A response without balances costs nothing.
        free_of_charge()
        nothing = {"tokens": [], "count": 0, "last_updated": None, "stale": result.stale, "loading": True}
        return _operation.respond(lambda: {"active_holdings": nothing})

    def get_data() -> dict[str, Any]:
        formatted = service.format(wallet["blockchain"], snapshot)
        active = {
            "tokens": orjson.Fragment(formatted.tokens),
            "count": formatted.count,
            "last_updated": formatted.last_updated,
            "stale": result.stale,
            "loading": False,
        }
        return with_warnings({"active_holdings": active}, formatted.warnings)

    source = Cached(snapshot, snapshot.taken_at, hit=result.cached)
    return _operation.respond(get_data, wallet, source, version=(snapshot.refreshed_at, result.stale))


def _check_type(scope: KeyScope, blockchain: str, address: str) -> None:
    """Raise WalletNotFound, or Forbidden for a wallet of a type that the key may not read."""
    if scope.types is not None:
        with services().bulkhead.slot(), services().database.read() as connection:
            scope.check_type(find_wallet(connection, blockchain, address).type)
