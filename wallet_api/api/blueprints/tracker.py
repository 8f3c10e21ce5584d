"""GET /v1/wallets/tracker: the record of one wallet in a period."""

from typing import Any

from flask import Blueprint

from wallet_api.api.responses.cached import Lifetime
from wallet_api.api.responses.examples import NOT_TRACKED
from wallet_api.api.responses.operation import Operation
from wallet_api.api.schemas.tracker import TrackerArguments, TrackerSchema
from wallet_api.api.services import requested_wallet, services
from wallet_api.queries.tracker import track_wallet

blueprint = Blueprint("tracker", __name__, url_prefix="/v1")


_operation = Operation(
    name="get_tracker",
    use="For a period; for a first look use get_brief, for days get_calendar.",
    tag="Wallets",
    summary="Record of a wallet in a period",
    arguments=TrackerArguments(),
    data=TrackerSchema(),
    errors=[NOT_TRACKED],
    lifetime=Lifetime.LONG,
)


@blueprint.get("/wallets/tracker")
@blueprint.get("/wallet/tracking", endpoint="tracker_alias")
@_operation.cached
def tracker(**arguments: Any) -> dict[str, Any]:
    """Return a wallet's figures over a period or a window, how its profit grew, its tokens and its trades."""
    with requested_wallet(arguments) as (connection, wallet, now):
        return track_wallet(connection, wallet, now, arguments, services().price_rule)
