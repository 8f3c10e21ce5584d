"""GET /v1/analytics: what a group trades, and which of its wallets do best."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from flask import Blueprint, Response

from wallet_api.api.responses.arguments import load_arguments
from wallet_api.api.responses.operation import Operation
from wallet_api.api.schemas.analytics import AnalyticsArguments, AnalyticsSchema
from wallet_api.api.services import services
from wallet_api.base.cache import Cached
from wallet_api.database import columns_from, row_count
from wallet_api.queries.analytics import MostTraded, analytics_data, read_most_traded
from wallet_api.queries.groups import board_arguments
from wallet_api.queries.leaderboard import Board
from wallet_api.queries.leaderboard_page import leaderboard_page, read_board
from wallet_api.queries.net_flow import COLUMNS, Flows, read_flows, read_windows
from wallet_api.queries.paging import MAX_LIMIT, with_warnings
from wallet_api.queries.signal_outcomes import SignalOutcomes, read_signal_outcomes
from wallet_api.queries.spans import span_of
from wallet_api.queries.volume_trend import Trend, volume_trend

blueprint = Blueprint("analytics", __name__, url_prefix="/v1")

_operation = Operation(
    name="get_analytics",
    use="For the tokens and the volume of a group; for its wallets use get_leaderboard.",
    tag="Groups",
    summary="What a group trades, and which of its wallets do best",
    arguments=AnalyticsArguments(),
    data=AnalyticsSchema(),
    rows="tokens net_flows buckets outcomes leaderboard",
)


_OPTIONS = ("limit", "sort", "order", "min_wallets")


@blueprint.get("/analytics")
@_operation.documents
def analytics() -> Response:
    """Return what a group traded in a period, or its best wallets, as `mode` says."""
    arguments = load_arguments(_operation.arguments)
    return _RESPONSES[arguments["mode"]](arguments)


def _most_traded(arguments: Mapping[str, Any]) -> Response:
    read = partial(read_most_traded, rule=services().price_rule)
    board: Cached[MostTraded] = services().board("most traded tokens", read, arguments)

    def get_data() -> Any:
        total, tokens, native_price, span = board.value
        return analytics_data(arguments, span, total, native_price, tokens=tokens)

    return _operation.respond(get_data, arguments, board)


def _best_wallets(sort: str, arguments: Mapping[str, Any]) -> Response:
    board: Cached[Board] = services().board("leaderboard", read_board, arguments)

    def get_data() -> Any:
        limit = min(arguments["limit"], MAX_LIMIT)
        page = leaderboard_page(board.value, board_arguments(arguments) | {"sort": sort, "limit": limit})
        figures = board.value.span, len(board.value), board.value.native_price
        return analytics_data(arguments, *figures, leaderboard=page["leaderboard"])

    return _operation.respond(get_data, arguments, board)


def _net_flow(arguments: Mapping[str, Any]) -> Response:
    flows: Cached[Flows] = services().board("net flows", read_flows, arguments)
    options = {name: arguments[name] for name in _OPTIONS if name in arguments}

    def get_data() -> Any:
        total, token_ids = flows.value.choose(**options)
        shown = flows.value.shown
        missing = [token_id for token_id in token_ids if token_id not in shown]
        if missing:
            with services().bulkhead.slot(), services().database.read() as connection:
                shown |= read_windows(connection, flows.value, missing)
        # A trade may have been removed since the tokens were read.
        rows = [shown[token_id] for token_id in token_ids if token_id in shown]
        span = span_of(flows.value.now, arguments["period"])
        return analytics_data(
            arguments, span, total, flows.value.native_price, net_flows=columns_from(COLUMNS, rows)
        )

    return _operation.respond(get_data, arguments, flows)


def _volume_trend(arguments: Mapping[str, Any]) -> Response:
    trend: Cached[Trend] = services().board("volume trend", volume_trend, arguments)

    def get_data() -> Any:
        buckets, native_price, span = trend.value
        return analytics_data(arguments, span, row_count(buckets), native_price, buckets=buckets)

    return _operation.respond(get_data, arguments, trend)


def _signal_outcomes(arguments: Mapping[str, Any]) -> Response:
    signal = arguments["signal"]
    kept: Cached[SignalOutcomes] = services().board(f"{signal} outcomes", read_signal_outcomes, arguments)

    def get_data() -> Any:
        outcomes = kept.value
        total = row_count(outcomes.rows)
        data = analytics_data(arguments, outcomes.span, total, outcomes.native_price, outcomes=outcomes.rows)
        warnings = [*data.get("warnings", ()), *outcomes.warnings]
        return with_warnings({**data, "signal": signal}, warnings)

    return _operation.respond(get_data, arguments, kept)


_RESPONSES: Mapping[str, Callable[[Mapping[str, Any]], Response]] = {
    "most_traded": _most_traded,
    "net_flow": _net_flow,
    "volume_trend": _volume_trend,
    "signal_outcomes": _signal_outcomes,
    "top_performers": partial(_best_wallets, "realized_pnl"),
    "win_rate": partial(_best_wallets, "win_rate"),
}
