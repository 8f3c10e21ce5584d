"""GET /v1/wallets/brief: what one asks first of a wallet."""

from datetime import UTC, datetime
from typing import Any

from flask import Blueprint

from wallet_api.api.responses.cached import Lifetime
from wallet_api.api.responses.examples import NOT_TRACKED_AS_KOL
from wallet_api.api.responses.operation import Operation
from wallet_api.api.schemas.arguments import WalletArguments
from wallet_api.api.schemas.brief import BriefSchema
from wallet_api.api.services import services
from wallet_api.ledger.wallet import find_wallet
from wallet_api.queries.brief import WINDOWS, wallet_brief
from wallet_api.queries.leaderboard_page import read_board

blueprint = Blueprint("brief", __name__, url_prefix="/v1")

_operation = Operation(
    name="get_brief",
    use="For a first look at a wallet; for its whole record use get_history.",
    tag="Wallets",
    summary="A wallet in short",
    arguments=WalletArguments(),
    data=BriefSchema(),
    errors=[NOT_TRACKED_AS_KOL],
    lifetime=Lifetime.LONG,
)


@blueprint.get("/wallets/brief")
@_operation.cached
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
