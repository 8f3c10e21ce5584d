"""GET /v1/search: wallets and tokens by their names."""

from typing import Any

from flask import Blueprint

from wallet_api.api.access.scopes import KeyScope
from wallet_api.api.responses.operation import Operation
from wallet_api.api.schemas.search import SearchArguments, SearchSchema
from wallet_api.api.services import services
from wallet_api.queries.search import search_names

blueprint = Blueprint("search", __name__, url_prefix="/v1")

_operation = Operation(
    name="search_names",
    use="For names; for addresses that are known use look_up_wallets, then get_brief or get_token_stats.",
    tag="Wallets",
    summary="Wallets and tokens by name",
    arguments=SearchArguments(),
    data=SearchSchema(),
)


@blueprint.get("/search")
@_operation.cached
def search(scope: KeyScope, **arguments: Any) -> dict[str, Any]:
    """Return the wallets and tokens whose name, symbol or address is, or begins with, a text."""
    with services().database.read() as connection:
        return search_names(connection, **arguments, types=scope.types)
