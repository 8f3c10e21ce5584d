"""GET /v1/analytics: what a group trades, and which of its wallets do best."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

from flask import Blueprint, Response

from wallet_api.cache import Cached
from wallet_api.queries.analytics import analytics_data, read_tokens
from wallet_api.queries.leaderboard_page import Board, leaderboard_page, read_board
from wallet_api.queries.net_flow import net_flows
from wallet_api.queries.volume_trend import volume_trend
from wallet_api.queries.windows import MAX_LIMIT
from wallet_api.responses.arguments import load_arguments
from wallet_api.responses.cached import Lifetime, respond_cached, respond_version
from wallet_api.responses.examples import examples_of
from wallet_api.responses.operation import Operation
from wallet_api.schemas.analytics import AnalyticsArguments, AnalyticsSchema
from wallet_api.services import services

blueprint = Blueprint("analytics", __name__, url_prefix="/v1")

_operation = Operation(
    name="get_analytics",
    tag="Groups",
    summary="What a group trades, and which of its wallets do best",
    arguments=AnalyticsArguments(),
    data=AnalyticsSchema(),
    examples=examples_of("analytics"),
)


@blueprint.get("/analytics")
@_operation.documents
def analytics() -> Response:
    """Return what a group traded in a period, or its best wallets, as `mode` says."""
    arguments = load_arguments(_operation.arguments)
    return _RESPONSES[arguments["mode"]](arguments)


def _most_traded(arguments: Mapping[str, Any]) -> Response:
    read = partial(read_tokens, rule=services().price_rule)
    board: Cached[list[Any]] = services().board("most traded tokens", read, *_group(arguments).values())
    return respond_version(
        arguments, board, lambda: _data(arguments, tokens=board.value[: arguments["limit"]])
    )


def _best_wallets(sort: str, arguments: Mapping[str, Any]) -> Response:
    board: Cached[Board] = services().board("leaderboard", read_board, *_group(arguments).values())

    def get_data() -> Any:
        limit = min(arguments["limit"], MAX_LIMIT)
        page = leaderboard_page(board.value, **_group(arguments), sort=sort, limit=limit)
        return _data(arguments, leaderboard=page["leaderboard"])

    return respond_version(arguments, board, get_data)


def _net_flow(arguments: Mapping[str, Any]) -> Response:
    names = ("limit", "sort", "order", "min_wallets")
    options = {name: arguments[name] for name in names if name in arguments}

    def get_data() -> Any:
        with services().database.read() as connection:
            rows = net_flows(connection, datetime.now(UTC), **_group(arguments), **options)
        return _data(arguments, net_flows=rows)

    return respond_cached(arguments, get_data, lifetime=Lifetime.LONG)


def _volume_trend(arguments: Mapping[str, Any]) -> Response:
    def get_data() -> Any:
        with services().database.read() as connection:
            buckets = volume_trend(connection, datetime.now(UTC), **_group(arguments))
        return _data(arguments, buckets=buckets[-arguments["limit"] :])

    return respond_cached(arguments, get_data, lifetime=Lifetime.LONG)


_RESPONSES: Mapping[str, Callable[[Mapping[str, Any]], Response]] = {
    "most_traded": _most_traded,
    "net_flow": _net_flow,
    "volume_trend": _volume_trend,
    "top_performers": partial(_best_wallets, "realized_pnl"),
    "win_rate": partial(_best_wallets, "win_rate"),
}


def _group(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: arguments[name] for name in ("blockchain", "type", "period")}


def _data(arguments: Mapping[str, Any], **rows: Any) -> Any:
    return _operation.data.dump(
        analytics_data(**_group(arguments), mode=arguments["mode"], limit=arguments["limit"], **rows)
    )
