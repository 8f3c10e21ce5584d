"""GET /v1/wallet/leaderboard: the ranked wallets of a group over a period."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

from flask import Blueprint, Response

from wallet_api.api.responses.arguments import load_arguments
from wallet_api.api.responses.examples import NOT_TRACKED_AS_KOL
from wallet_api.api.responses.operation import Operation
from wallet_api.api.schemas.leaderboard import LeaderboardArguments, LeaderboardSchema
from wallet_api.api.services import services
from wallet_api.base.chains import one_type
from wallet_api.ledger.wallet import find_wallet
from wallet_api.queries.board_copies import BoardCopies
from wallet_api.queries.groups import board_arguments
from wallet_api.queries.leaderboard import Board
from wallet_api.queries.leaderboard_page import leaderboard_page, read_board

blueprint = Blueprint("leaderboard", __name__, url_prefix="/v1")

_operation = Operation(
    name="get_leaderboard",
    use="For who is best; for one of them use get_brief.",
    tag="Groups",
    summary="Ranked wallets of a group",
    arguments=LeaderboardArguments(),
    data=LeaderboardSchema(),
    errors=[NOT_TRACKED_AS_KOL],
    rows="leaderboard",
)


@blueprint.get("/wallet/leaderboard")
@blueprint.get("/wallets/leaderboard", endpoint="leaderboard_alias")
@_operation.documents
def leaderboard() -> Response:
    """Rank the wallets of a group that traded in a period or a window, by volume or another figure."""
    arguments = load_arguments(_operation.arguments)
    # Two boards are kept, so that charts are read only where they are requested.
    with_charts = arguments["chart"]
    name = "leaderboard with charts" if with_charts else "leaderboard"
    board = services().board(name, partial(read_board, with_charts=with_charts), arguments)
    return _operation.respond(lambda: _page(board.value, arguments), arguments, board)


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
