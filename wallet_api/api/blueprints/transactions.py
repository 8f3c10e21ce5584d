"""GET /v1/transactions: the trades of a group, newest first, what they are worth, and how many they are."""

from datetime import UTC, datetime
from typing import Any

from flask import Blueprint

from wallet_api.api.responses.cached import Lifetime
from wallet_api.api.responses.operation import Operation
from wallet_api.api.schemas.feed import LatestArguments, LatestSchema, TimerangeArguments, TimerangeSchema
from wallet_api.api.schemas.volume import CountSchema, VolumeSchema, WindowArguments
from wallet_api.api.services import services
from wallet_api.base.errors import CursorUnknown
from wallet_api.queries.feed import latest_changes, latest_trades, trades_within
from wallet_api.queries.volume import count_trades, group_volume

blueprint = Blueprint("transactions", __name__, url_prefix="/v1")

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
_volume = Operation(
    name="get_volume",
    use="For at most a day; for longer use get_analytics with `volume_trend`.",
    tag="Groups",
    summary="Trading volume of a group",
    arguments=WindowArguments(),
    data=VolumeSchema(),
)
_count = Operation(
    name="count_trades",
    use="For how many; for their value use get_volume.",
    tag="Groups",
    summary="Number of trades of a group",
    arguments=WindowArguments(),
    data=CountSchema(),
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


@blueprint.get("/transactions/volume")
@_volume.cached
def volume(**arguments: Any) -> dict[str, Any]:
    """Return what a group traded in the last hours, minutes or seconds, by default and at most 24 hours."""
    with services().database.read() as connection:
        return group_volume(connection, datetime.now(UTC), arguments)


@blueprint.get("/transactions/count")
@_count.cached
def count(**arguments: Any) -> dict[str, Any]:
    """Count the trades of a group in the last hours, minutes or seconds, by default and at most 24 hours."""
    with services().database.read() as connection:
        return count_trades(connection, datetime.now(UTC), arguments)
