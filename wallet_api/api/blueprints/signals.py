"""GET /v1/signals: what the wallets of a group bought together, first, or left."""

from datetime import UTC, datetime
from typing import Any

from flask import Blueprint, Response

from wallet_api.api.access.current import current_request
from wallet_api.api.responses.arguments import load_arguments
from wallet_api.api.responses.operation import Operation
from wallet_api.api.schemas.signals import SignalsArguments, SignalsSchema
from wallet_api.api.services import services
from wallet_api.queries.paging import MAX_LIMIT
from wallet_api.queries.signals import SignalOptions, first_signals, group_signals

blueprint = Blueprint("signals", __name__, url_prefix="/v1")


_operation = Operation(
    name="list_signals",
    use="For what several did together; for what most traded use get_analytics.",
    tag="Groups",
    summary="Tokens that wallets of a group bought together, first, or left",
    arguments=SignalsArguments(),
    data=SignalsSchema(),
    rows="signals",
    description="No trade or price after `as_of` counts: a loop over days is a backtest. Groups, profiles,"
    " names and supplies are those of today.",
)
# Signals are read for so many, and kept for all requests for fewer.
_READ = (20, 100, MAX_LIMIT)


@blueprint.get("/signals")
@_operation.documents
def signals() -> Response:
    """Return the tokens that several wallets of a group bought, bought first or left in a window."""
    arguments = load_arguments(_operation.arguments)
    limit = arguments["limit"]
    wanted = {**arguments, "limit": next((most for most in _READ if limit <= most), MAX_LIMIT)}
    if current_request().format != "json":
        # Rows have no lists.
        wanted["include_wallets"] = False
    options = SignalOptions(**wanted)

    def read() -> dict[str, Any]:
        with services().database.read() as connection:
            now, rule = datetime.now(UTC), services().price_rule
            return group_signals(connection, now, options, rule)

    kept = services().signals.get(options, read)
    return _operation.respond(lambda: first_signals(kept.value, limit), arguments, kept)
