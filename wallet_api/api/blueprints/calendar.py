"""GET /v1/wallet/pnl_calendar: the days and months of one wallet."""

from typing import Any

from flask import Blueprint

from wallet_api.api.access.current import current_request
from wallet_api.api.responses.examples import NOT_TRACKED
from wallet_api.api.responses.operation import Operation
from wallet_api.api.schemas.calendar import CalendarArguments, CalendarSchema
from wallet_api.api.services import requested_wallet
from wallet_api.queries.calendar import wallet_calendar

blueprint = Blueprint("calendar", __name__, url_prefix="/v1")


_operation = Operation(
    name="get_calendar",
    use="For profit by day; for one period as a whole use get_tracker.",
    tag="Wallets",
    summary="Days and months of a wallet",
    arguments=CalendarArguments(),
    data=CalendarSchema(),
    rows="months.dates",
    errors=[NOT_TRACKED],
)


@blueprint.get("/wallet/pnl_calendar")
@_operation.cached
def pnl_calendar(**arguments: Any) -> dict[str, Any]:
    """Return what a wallet traded and realized on each day of a zone, with the sums of each month."""
    if current_request().format != "json":
        # The rows of tables are the days.
        arguments["dates"] = True
    with requested_wallet(arguments) as (connection, wallet, now):
        return wallet_calendar(connection, wallet, now, arguments)
