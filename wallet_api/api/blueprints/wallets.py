"""GET /v1/wallets, and what there is of one wallet but for its balances."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from flask import Blueprint, Response

from wallet_api.api.access.current import current_request
from wallet_api.api.access.scopes import KeyScope
from wallet_api.api.responses.arguments import load_arguments
from wallet_api.api.responses.cached import Lifetime
from wallet_api.api.responses.examples import NOT_TRACKED, NOT_TRACKED_AS_KOL
from wallet_api.api.responses.large import await_turn
from wallet_api.api.responses.operation import Operation
from wallet_api.api.schemas.arguments import WalletArguments
from wallet_api.api.schemas.brief import BriefSchema
from wallet_api.api.schemas.calendar import CalendarArguments, CalendarSchema
from wallet_api.api.schemas.connections import ConnectionsArguments, ConnectionsSchema
from wallet_api.api.schemas.copies import CopyArguments, CopySchema
from wallet_api.api.schemas.history import HistoryArguments, HistorySchema, UntypedHistoryArguments
from wallet_api.api.schemas.paging import PagedArguments
from wallet_api.api.schemas.tracker import TrackerArguments, TrackerSchema
from wallet_api.api.schemas.wallet_tokens import (
    ExplainArguments,
    ExplainSchema,
    WalletTokensArguments,
    WalletTokensSchema,
)
from wallet_api.api.schemas.wallets import WalletsSchema
from wallet_api.api.services import requested_wallet, services
from wallet_api.base.errors import TokenNotFound
from wallet_api.ledger.wallet import count_tokens, find_wallet
from wallet_api.queries.brief import WINDOWS, wallet_brief
from wallet_api.queries.calendar import wallet_calendar
from wallet_api.queries.connections import wallet_connections
from wallet_api.queries.copies import copy_wallet
from wallet_api.queries.explain import explain_position
from wallet_api.queries.history import shows_all_tokens, wallet_history
from wallet_api.queries.leaderboard_page import read_board
from wallet_api.queries.tracker import track_wallet
from wallet_api.queries.wallet_tokens import wallet_tokens
from wallet_api.queries.wallets import list_wallets

blueprint = Blueprint("wallets", __name__, url_prefix="/v1")

_wallets = Operation(
    name="list_wallets",
    use="For who is tracked in a group; to find one by its name use search_names.",
    tag="Wallets",
    summary="List tracked wallets",
    arguments=PagedArguments(),
    data=WalletsSchema(),
    rows="wallets",
    lifetime=Lifetime.LONG,
)
_brief = Operation(
    name="get_brief",
    use="For a first look at a wallet; for its whole record use get_history.",
    tag="Wallets",
    summary="A wallet in short",
    arguments=WalletArguments(),
    data=BriefSchema(),
    errors=[NOT_TRACKED_AS_KOL],
    lifetime=Lifetime.LONG,
)
_calendar = Operation(
    name="get_calendar",
    use="For profit by day; for one period as a whole use get_tracker.",
    tag="Wallets",
    summary="Days and months of a wallet",
    arguments=CalendarArguments(),
    data=CalendarSchema(),
    rows="months.dates",
    errors=[NOT_TRACKED],
)
_connections = Operation(
    name="list_connections",
    use="For who trades alike; for who traded one token use get_token_stats.",
    tag="Wallets",
    summary="Wallets that trade the same tokens",
    arguments=ConnectionsArguments(),
    data=ConnectionsSchema(),
    rows="connections",
    errors=[NOT_TRACKED],
    lifetime=Lifetime.LONG,
)
_copy = Operation(
    name="get_copy",
    use="For what following it would have brought; for its own record use get_tracker.",
    tag="Wallets",
    summary="What a copier of a wallet would have got",
    arguments=CopyArguments(),
    data=CopySchema(),
    errors=[NOT_TRACKED_AS_KOL],
    rows="steps",
)
_explain = Operation(
    name="explain_position",
    use="For why a figure of one token is what it is; for all tokens use list_wallet_tokens.",
    tag="Wallets",
    summary="A wallet's figures in a token, trade by trade",
    arguments=ExplainArguments(),
    data=ExplainSchema(),
    errors=[NOT_TRACKED_AS_KOL, TokenNotFound("The wallet never traded this token.")],
    rows="steps",
)
_history = Operation(
    name="get_history",
    use="For a whole life, and trades of any time; for a first look use get_brief, for a period get_tracker.",
    tag="Wallets",
    summary="Lifetime record of a wallet",
    arguments=HistoryArguments(),
    data=HistorySchema(),
    errors=[NOT_TRACKED_AS_KOL],
    description="`type` is optional if the operator has set HISTORY_TYPE=detected.",
    rows="trades",
)
_untyped = UntypedHistoryArguments()
_tracker = Operation(
    name="get_tracker",
    use="For a period; for a first look use get_brief, for days get_calendar.",
    tag="Wallets",
    summary="Record of a wallet in a period",
    arguments=TrackerArguments(),
    data=TrackerSchema(),
    errors=[NOT_TRACKED],
    lifetime=Lifetime.LONG,
)
_tokens = Operation(
    name="list_wallet_tokens",
    use="For cost and profit by token; for the trades behind one use explain_position.",
    tag="Wallets",
    summary="Tokens of a wallet",
    arguments=WalletTokensArguments(),
    data=WalletTokensSchema(),
    errors=[NOT_TRACKED_AS_KOL],
    rows="tokens",
)


@blueprint.get("/wallets")
@_wallets.cached
def wallets(**arguments: Any) -> dict[str, Any]:
    """List the tracked wallets of a group, by address."""
    with services().database.read() as connection:
        return list_wallets(connection, **arguments)


@blueprint.get("/wallets/brief")
@_brief.cached
def brief(**arguments: Any) -> dict[str, Any]:
    """Return a wallet's profit over its life, a month and a week, its rank, best tokens and newest trades."""
    current = services()
    with current.database.read() as connection:
        wallet = find_wallet(connection, **arguments)
    group = {"blockchain": wallet.blockchain, "type": wallet.type}
    boards = {
        period: current.board("leaderboard", read_board, group | {"period": period}).value
        for period in WINDOWS.values()
    }
    with current.database.read() as connection:
        return wallet_brief(connection, wallet, datetime.now(UTC), boards, current.price_rule)


@blueprint.get("/wallet/pnl_calendar")
@_calendar.cached
def calendar(**arguments: Any) -> dict[str, Any]:
    """Return what a wallet traded and realized on each day of a zone, with the sums of each month."""
    if current_request().format != "json":
        # The rows of tables are the days.
        arguments["dates"] = True
    with requested_wallet(arguments) as (connection, wallet, now):
        return wallet_calendar(connection, wallet, now, arguments)


@blueprint.get("/wallets/connections")
@_connections.cached
def connections(scope: KeyScope, **arguments: Any) -> dict[str, Any]:
    """Return the other tracked wallets of the chain that traded the same tokens in the last 30 days."""
    with requested_wallet(arguments) as (connection, wallet, now):
        return wallet_connections(connection, wallet, now, arguments, scope.types)


@blueprint.get("/wallets/copy")
@_copy.cached
def copy(**arguments: Any) -> dict[str, Any]:
    """Return what a copier of a wallet would have got in a window, step by step."""
    with requested_wallet(arguments) as (connection, wallet, now):
        return copy_wallet(connection, wallet, now, arguments, services().price_rule)


@blueprint.get("/wallets/explain")
@_explain.cached
def explain(**arguments: Any) -> dict[str, Any]:
    """Return the trades of a wallet in a token, oldest first, each with what it held and cost after it."""
    with requested_wallet(arguments) as (connection, wallet, now):
        return explain_position(connection, wallet, now, arguments, services().price_rule)


@blueprint.get("/wallets/history")
@_history.documents
def history() -> Response:
    """Return a wallet's lifetime figures, its record in every token, and a page of its trades."""
    detected = services().settings.history_type == "detected"
    arguments = load_arguments(_untyped if detected else _history.arguments)
    if current_request().format != "json":
        # Its rows are the trades.
        arguments = {**arguments, "overview": False}
    return _history.respond(lambda: _history_data(arguments), arguments)


def _history_data(given: Mapping[str, Any]) -> dict[str, Any]:
    current = services()
    with requested_wallet(given) as (connection, wallet, now):
        if shows_all_tokens(given):
            # There is a connection for each thread: none is missing while this one waits.
            counted = current.token_counts.get(wallet, lambda: count_tokens(connection, wallet))
            await_turn(counted.value)
        return wallet_history(connection, wallet, now, given, current.price_rule)


@blueprint.get("/wallets/tracker")
@blueprint.get("/wallet/tracking", endpoint="tracker_alias")
@_tracker.cached
def tracker(**arguments: Any) -> dict[str, Any]:
    """Return a wallet's figures over a period or a window, how its profit grew, its tokens and its trades."""
    with requested_wallet(arguments) as (connection, wallet, now):
        return track_wallet(connection, wallet, now, arguments, services().price_rule)


@blueprint.get("/wallets/tokens")
@_tokens.cached
def traded_tokens(**arguments: Any) -> dict[str, Any]:
    """Return a page of the tokens that a wallet traded, by a figure."""
    with requested_wallet(arguments) as (connection, wallet, now):
        return wallet_tokens(connection, wallet, now, arguments, services().price_rule)
