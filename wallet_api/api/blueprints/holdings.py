"""GET /v1/wallets/holdings: the balances of one wallet, live."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import orjson
from flask import Blueprint, Response

from wallet_api.api.access.current import current_request
from wallet_api.api.access.scopes import KeyScope
from wallet_api.api.responses.arguments import load_arguments
from wallet_api.api.responses.examples import NOT_TRACKED
from wallet_api.api.responses.operation import Operation
from wallet_api.api.schemas.holdings import HoldingsArguments, HoldingsSchema
from wallet_api.api.services import services
from wallet_api.base.cache import Cached
from wallet_api.base.errors import InvalidParameter, ServiceUnavailable
from wallet_api.database import Row
from wallet_api.holdings.formatting import FormattedSnapshot
from wallet_api.holdings.service import HoldingsUnavailable, ProviderNotConfigured
from wallet_api.ledger.wallet import find_wallet
from wallet_api.queries import cursors
from wallet_api.queries.holdings_worth import MOST_BALANCES, Balance, worth_of
from wallet_api.queries.paging import with_warnings

blueprint = Blueprint("holdings", __name__, url_prefix="/v1")


class _PlaceKey(msgspec.Struct, array_like=True, frozen=True):
    """A place among the tokens of one snapshot."""

    taken: str
    start: int


_BALANCE = msgspec.json.Decoder(Balance)

_operation = Operation(
    name="get_holdings",
    use="For balances of now; for what they cost and made use list_wallet_tokens.",
    tag="Wallets",
    summary="Live balances of a wallet",
    arguments=HoldingsArguments(),
    data=HoldingsSchema(),
    errors=[
        NOT_TRACKED,
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
    arguments = dict(load_arguments(_operation.arguments))
    service = services().holdings
    wallet = arguments["blockchain"], arguments["address"]
    _check_type(arguments.pop("scope"), *wallet)
    result = service.read(*wallet)
    snapshot = result.snapshot
    if snapshot is None:
        # A response without balances costs nothing.
        current_request().free_of_charge = True
        nothing = {"tokens": [], "count": 0, "last_updated": None, "stale": result.stale, "loading": True}
        return _operation.respond(lambda: {"active_holdings": nothing})

    def get_data() -> dict[str, Any]:
        formatted = service.format(wallet[0], snapshot)
        page, pages = _page(formatted, wallet, arguments.get("limit"), arguments.get("cursor"))
        tokens, warnings = _with_worth(wallet[0], page)
        active = {
            "tokens": tokens,
            "count": len(tokens),
            "last_updated": formatted.last_updated,
            "stale": result.stale,
            "loading": False,
        }
        return with_warnings({"active_holdings": active, **pages}, [*formatted.warnings, *warnings])

    source = Cached(snapshot, snapshot.taken_at, hit=result.cached)
    return _operation.respond(get_data, arguments, source, version=(snapshot.refreshed_at, result.stale))


def _page(
    snapshot: FormattedSnapshot, wallet: tuple[str, str], limit: int | None, cursor: str | None
) -> tuple[list[bytes], dict[str, Any]]:
    """Return the tokens of a page, each as JSON, and the pagination if there is one."""
    if limit is None and cursor is None:
        return snapshot.rows(), {}
    scope = ("wallets/holdings", *wallet)
    taken = snapshot.refreshed_at.isoformat()
    start = 0
    if cursor is not None:
        key = cursors.decode_cursor(cursor, scope, _PlaceKey)
        if key.taken != taken:
            raise InvalidParameter(
                "The balances were read again since this cursor: leave it out to begin from the start.",
                parameter="cursor",
            )
        start = key.start
    end = snapshot.count if limit is None else start + limit
    last = _PlaceKey(taken, end) if end < snapshot.count else None
    pagination = cursors.pagination(scope, limit or snapshot.count, last, total=snapshot.count)
    return snapshot.rows(start, end), {"pagination": pagination}


def _with_worth(blockchain: str, tokens: list[bytes]) -> tuple[list[bytes | Row], list[str]]:
    """Return the tokens, with what those with a price are worth, and what is to be said of the others."""
    balances = [_BALANCE.decode(token) for token in tokens[:MOST_BALANCES]]
    try:
        with services().database.read() as connection:
            worth = worth_of(connection, datetime.now(UTC), blockchain, balances, services().price_rule)
    except ServiceUnavailable:
        # The balances are known without the ledger.
        return [*tokens], ["No prices could be read right now: no row has a price or a worth."]
    rows = [orjson.loads(row) | worth[place] if place in worth else row for place, row in enumerate(tokens)]
    if len(tokens) <= MOST_BALANCES:
        return rows, []
    return rows, [
        f"Only the first {MOST_BALANCES} of {len(tokens)} tokens can have a price: use limit and cursor."
    ]


def _check_type(scope: KeyScope, blockchain: str, address: str) -> None:
    """Raise WalletNotFound, or Forbidden for a wallet of a type that the key may not read."""
    if scope.types is not None:
        with services().bulkhead.slot(), services().database.read() as connection:
            scope.check_type(find_wallet(connection, blockchain, address).type)
