"""GET /v1/wallet/leaderboard: the ranked wallets of a group over a period."""

from typing import Any

from flask import Blueprint, Response

from wallet_api.blueprints.answers import answer_version
from wallet_api.blueprints.arguments import load_arguments
from wallet_api.blueprints.services import services
from wallet_api.schemas.leaderboard import LeaderboardArguments, LeaderboardSchema

blueprint = Blueprint("leaderboard", __name__, url_prefix="/v1")

_arguments = LeaderboardArguments()
_schema = LeaderboardSchema()


@blueprint.get("/wallet/leaderboard")
@blueprint.get("/wallets/leaderboard", endpoint="leaderboard_alias")
def leaderboard() -> Response:
    """Rank the wallets of a group that traded in the period, by volume."""
    arguments = load_arguments(_arguments)
    page = services().leaderboards.page(**arguments)

    def data() -> Any:
        return _schema.dump(page.data())

    return answer_version(
        arguments, page.made_at, data, cached=page.cached, cache_age_seconds=page.cache_age_seconds
    )
