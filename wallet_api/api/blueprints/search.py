"""GET /v1/search and /v1/wallets/lookup: wallets and tokens by name, and where addresses are tracked."""

from collections.abc import Sequence
from typing import Any

from flask import Blueprint

from wallet_api.api.access.scopes import KeyScope
from wallet_api.api.responses.examples import ADDRESS
from wallet_api.api.responses.operation import Operation
from wallet_api.api.schemas.search import LookupArguments, LookupSchema, SearchArguments, SearchSchema
from wallet_api.api.services import services
from wallet_api.base.errors import WalletNotFound
from wallet_api.queries.lookup import look_up_addresses
from wallet_api.queries.search import search_names

blueprint = Blueprint("search", __name__, url_prefix="/v1")

_search = Operation(
    name="search_names",
    use="For names; for addresses that are known use look_up_wallets, then get_brief or get_token_stats.",
    tag="Wallets",
    summary="Wallets and tokens by name",
    arguments=SearchArguments(),
    data=SearchSchema(),
)
_lookup = Operation(
    name="look_up_wallets",
    use="For addresses, with their links; for names use search_names.",
    tag="Wallets",
    summary="Search addresses on all chains",
    arguments=LookupArguments(),
    data=LookupSchema(),
    rows="wallets",
    errors=[WalletNotFound("solana", ADDRESS, "whale")],
    description="An address that is not tracked has `found: false`. One of another `type` is a 404, or"
    " `found: false` among several.",
)


@blueprint.get("/search")
@_search.cached
def search(scope: KeyScope, **arguments: Any) -> dict[str, Any]:
    """Return the wallets and tokens whose name, symbol or address is, or begins with, a text."""
    with services().database.read() as connection:
        return search_names(connection, **arguments, types=scope.types)


@blueprint.get("/wallets/lookup")
@_lookup.cached
def lookup(addresses: Sequence[str], scope: KeyScope, type: str | None = None) -> dict[str, Any]:
    """Return the profiles of up to 100 addresses, and the chains on which they are tracked."""
    with services().database.read() as connection:
        return look_up_addresses(connection, addresses, type, scope.has)
