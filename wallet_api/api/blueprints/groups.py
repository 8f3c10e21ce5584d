"""GET /v1/analytics, /v1/signals and the leaderboard: what a group does, and which of its wallets do best."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

from flask import Blueprint, Response

from wallet_api.api.access.current import current_request
from wallet_api.api.responses.arguments import load_arguments
from wallet_api.api.responses.examples import NOT_TRACKED_AS_KOL
from wallet_api.api.responses.operation import Operation
from wallet_api.api.schemas.analytics import AnalyticsArguments, AnalyticsSchema
from wallet_api.api.schemas.leaderboard import LeaderboardArguments, LeaderboardSchema
from wallet_api.api.schemas.signals import SignalsArguments, SignalsSchema
from wallet_api.api.services import services
from wallet_api.base.cache import Cached
from wallet_api.base.chains import one_type
from wallet_api.database import columns_from, row_count
from wallet_api.ledger.wallet import find_wallet
from wallet_api.queries.analytics import MostTraded, analytics_data, read_most_traded
from wallet_api.queries.board_copies import BoardCopies
from wallet_api.queries.groups import board_arguments
from wallet_api.queries.leaderboard import Board
from wallet_api.queries.leaderboard_page import leaderboard_page, read_board
from wallet_api.queries.net_flow import COLUMNS, Flows, read_flows, read_windows
from wallet_api.queries.paging import MAX_LIMIT, with_warnings
from wallet_api.queries.signal_outcomes import SignalOutcomes, read_signal_outcomes
from wallet_api.queries.signals import SignalOptions, first_signals, group_signals
from wallet_api.queries.spans import span_of
from wallet_api.queries.volume_trend import Trend, volume_trend

blueprint = Blueprint("groups", __name__, url_prefix="/v1")

_analytics = Operation(
    name="get_analytics",
    use="For the tokens and the volume of a group; for its wallets use get_leaderboard.",
    tag="Groups",
    summary="What a group trades, and which of its wallets do best",
    arguments=AnalyticsArguments(),
    data=AnalyticsSchema(),
    rows="tokens net_flows buckets outcomes leaderboard",
)
_leaderboard = Operation(
    name="get_leaderboard",
    use="For who is best; for one of them use get_brief.",
    tag="Groups",
    summary="Ranked wallets of a group",
    arguments=LeaderboardArguments(),
    data=LeaderboardSchema(),
    errors=[NOT_TRACKED_AS_KOL],
    rows="leaderboard",
)
_signals = Operation(
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
# What selects among the flows that are kept.
_OPTIONS = ("limit", "sort", "order", "min_wallets")


@blueprint.get("/analytics")
@_analytics.documents
def analytics() -> Response:
    """Return what a group traded in a period, or its best wallets, as `mode` says."""
    arguments = load_arguments(_analytics.arguments)
    return _RESPONSES[arguments["mode"]](arguments)


def _most_traded(arguments: Mapping[str, Any]) -> Response:
    read = partial(read_most_traded, rule=services().price_rule)
    board: Cached[MostTraded] = services().board("most traded tokens", read, arguments)

    def get_data() -> Any:
        total, tokens, native_price, span = board.value
        return analytics_data(arguments, span, total, native_price, tokens=tokens)

    return _analytics.respond(get_data, arguments, board)


def _best_wallets(sort: str, arguments: Mapping[str, Any]) -> Response:
    board: Cached[Board] = services().board("leaderboard", read_board, arguments)

    def get_data() -> Any:
        limit = min(arguments["limit"], MAX_LIMIT)
        page = leaderboard_page(board.value, board_arguments(arguments) | {"sort": sort, "limit": limit})
        figures = board.value.span, len(board.value), board.value.native_price
        return analytics_data(arguments, *figures, leaderboard=page["leaderboard"])

    return _analytics.respond(get_data, arguments, board)


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

    return _analytics.respond(get_data, arguments, flows)


def _volume_trend(arguments: Mapping[str, Any]) -> Response:
    trend: Cached[Trend] = services().board("volume trend", volume_trend, arguments)

    def get_data() -> Any:
        buckets, native_price, span = trend.value
        return analytics_data(arguments, span, row_count(buckets), native_price, buckets=buckets)

    return _analytics.respond(get_data, arguments, trend)


def _signal_outcomes(arguments: Mapping[str, Any]) -> Response:
    signal = arguments["signal"]
    kept: Cached[SignalOutcomes] = services().board(f"{signal} outcomes", read_signal_outcomes, arguments)

    def get_data() -> Any:
        outcomes = kept.value
        total = row_count(outcomes.rows)
        data = analytics_data(arguments, outcomes.span, total, outcomes.native_price, outcomes=outcomes.rows)
        warnings = [*data.get("warnings", ()), *outcomes.warnings]
        return with_warnings({**data, "signal": signal}, warnings)

    return _analytics.respond(get_data, arguments, kept)


_RESPONSES: Mapping[str, Callable[[Mapping[str, Any]], Response]] = {
    "most_traded": _most_traded,
    "net_flow": _net_flow,
    "volume_trend": _volume_trend,
    "signal_outcomes": _signal_outcomes,
    "top_performers": partial(_best_wallets, "realized_pnl"),
    "win_rate": partial(_best_wallets, "win_rate"),
}


@blueprint.get("/wallet/leaderboard")
@blueprint.get("/wallets/leaderboard", endpoint="leaderboard_alias")
@_leaderboard.documents
def leaderboard() -> Response:
    """Rank the wallets of a group that traded in a period or a window, by volume or another figure."""
    arguments = load_arguments(_leaderboard.arguments)
    # Two boards are kept, so that charts are read only where they are requested.
    with_charts = arguments["chart"]
    name = "leaderboard with charts" if with_charts else "leaderboard"
    board = services().board(name, partial(read_board, with_charts=with_charts), arguments)
    return _leaderboard.respond(lambda: _page(board.value, arguments), arguments, board)


def _page(board: Board, given: Mapping[str, Any]) -> dict[str, Any]:
    if "address" in given and not board.has(given["address"]):
        with services().database.read() as connection:
            find_wallet(connection, given["blockchain"], given["address"], one_type(given["type"]))
    data = leaderboard_page(board, given)
    return _with_copies(board, data, given) if given["copied"] else data


def _with_copies(board: Board, data: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page with what copiers of its entries would have got, of which few are read at a time."""
    current, group = services(), tuple(board_arguments(given).values())
    copies = current.copies.get(group, partial(BoardCopies, given["blockchain"])).value
    if copies.missing(data["leaderboard"]):
        with current.slow_slot(wait=True), current.database.read() as connection:
            now, addresses = datetime.now(UTC), copies.missing(data["leaderboard"])
            copies.read(connection, now, addresses, board.span, current.price_rule)
    return copies.added(data)


@blueprint.get("/signals")
@_signals.documents
def signals() -> Response:
    """Return the tokens that several wallets of a group bought, bought first or left in a window."""
    arguments = load_arguments(_signals.arguments)
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
    return _signals.respond(lambda: first_signals(kept.value, limit), arguments, kept)
