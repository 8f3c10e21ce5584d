"""GET /v1/signals: what the wallets of a group bought together, first, or left."""

from datetime import UTC, datetime
from typing import Any

from flask import Blueprint

from wallet_api.queries.signals import group_signals
from wallet_api.responses.cached import Lifetime
from wallet_api.responses.examples import examples_of
from wallet_api.responses.operation import Operation
from wallet_api.schemas.signals import SignalsArguments, SignalsSchema
from wallet_api.services import services

blueprint = Blueprint("signals", __name__, url_prefix="/v1")


_operation = Operation(
    name="list_signals",
    tag="Groups",
    summary="Tokens that wallets of a group bought together, first, or left",
    arguments=SignalsArguments(),
    data=SignalsSchema(),
    examples=examples_of("signals"),
    description="No trade or price after `as_of` counts: a loop over days is a backtest. Groups, profiles,"
    " names and supplies are those of today.",
    # Computed from many trades.
    lifetime=Lifetime.LONG,
)


@blueprint.get("/signals")
@_operation.cached
def signals(**arguments: Any) -> dict[str, Any]:
    """Return the tokens that several wallets of a group bought, bought first or left in a window."""
    with services().database.read() as connection:
        return group_signals(connection, datetime.now(UTC), **arguments, rule=services().price_rule)
