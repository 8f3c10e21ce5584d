"""GET /v1/transactions/latest and /timerange: the trades of a group, newest first."""

from datetime import UTC, datetime
from typing import Any

from flask import Blueprint

from wallet_api.api.responses.cached import Lifetime
from wallet_api.api.responses.operation import Operation
from wallet_api.api.schemas.feed import LatestArguments, LatestSchema, TimerangeArguments, TimerangeSchema
from wallet_api.api.services import services
from wallet_api.base.errors import CursorUnknown
from wallet_api.queries.feed import latest_changes, latest_trades, trades_within

blueprint = Blueprint("feed", __name__, url_prefix="/v1")


_latest = Operation(
    name="list_latest_trades",
    use="For trades of groups; for those of one wallet use get_history, of one token list_token_trades.",
    tag="Groups",
    summary="Latest trades of a group",
    arguments=LatestArguments(),
    data=LatestSchema(),
    errors=[CursorUnknown()],
    top_level="pagination",
    current_with="after",
    rows="transactions",
    # A feed must not return the same page for long.
    lifetime=Lifetime.SHORT,
)
_timerange = Operation(
    name="list_trades_in_window",
    use="For the last hour; for more use list_latest_trades.",
    tag="Groups",
    summary="Trades of a group in a window",
    arguments=TimerangeArguments(),
    data=TimerangeSchema(),
    rows="transactions",
    lifetime=Lifetime.SHORT,
)


@blueprint.get("/transactions/latest")
@_latest.cached
def latest(**arguments: Any) -> dict[str, Any]:
    """Return a page of all trades of a group, newest first, or of their changes in the order of arrival."""
    if "after" in arguments:
        services().placing.start()
        return latest_changes(services().database, datetime.now(UTC), arguments)
    with services().database.read() as connection:
        return latest_trades(connection, datetime.now(UTC), arguments, services().price_rule)


@blueprint.get("/transactions/timerange")
@_timerange.cached
def latest_in_window(**arguments: Any) -> dict[str, Any]:
    """Return the trades of a group in the last minutes or seconds, by default and at most an hour."""
    with services().database.read() as connection:
        return trades_within(connection, datetime.now(UTC), arguments, services().price_rule)
