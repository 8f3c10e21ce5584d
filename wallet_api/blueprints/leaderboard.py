"""GET /v1/wallet/leaderboard: the ranked wallets of a group over a period."""

from flask import Blueprint, Response

from wallet_api.queries.leaderboard_page import leaderboard_page
from wallet_api.responses.arguments import load_arguments
from wallet_api.responses.cached import respond_version
from wallet_api.responses.examples import ADDRESS
from wallet_api.responses.operation import Operation
from wallet_api.schemas.leaderboard import LeaderboardArguments, LeaderboardSchema
from wallet_api.services import services

blueprint = Blueprint("leaderboard", __name__, url_prefix="/v1")

_arguments = LeaderboardArguments()
_schema = LeaderboardSchema()

_EXAMPLE = {
    "blockchain": "solana",
    "type": "kol",
    "period": "7d",
    "currency": "SOL",
    "leaderboard": [
        {
            "wallet": ADDRESS,
            "rank": 1,
            "profile": {
                "name": "0xLarkCalls",
                "image_url": "https://images.example/0xlarkcalls.png",
                "twitter": "https://x.example/0xLarkCalls",
                "currency": "SOL",
            },
            "period_stats": {
                "realized_pnl": 0.6,
                "realized_pnl_usd": 90,
                "buy_txn": 3,
                "sell_txn": 1,
                "total_txn": 4,
                "total_volume": 8.75,
                "total_volume_usd": 1312.5,
                "avg_hold_time_minutes": 1339.72,
            },
            "period_win_rate_distribution": {
                "win_rate_percentage": 100,
                "above_500": 0,
                "above_100_to_500": 0,
                "above_zero_to_100": 1,
                "below_zero": 0,
                "closed_count": 1,
                "win_count": 1,
            },
        }
    ],
    "pagination": {"limit": 1, "next_cursor": "WyJsZWFkZXJib2FyZCJd", "has_more": True},
}

_operation = Operation(
    tag="Groups",
    summary="Ranked wallets of a group",
    arguments=_arguments,
    data=_schema,
    examples={"first_page": _EXAMPLE},
)


@blueprint.get("/wallet/leaderboard")
@blueprint.get("/wallets/leaderboard", endpoint="leaderboard_alias")
@_operation.describes
def leaderboard() -> Response:
    """Rank the wallets of a group that traded in the period, by volume or another figure."""
    arguments = load_arguments(_arguments)
    kept, page = leaderboard_page(services().boards, **arguments)
    return respond_version(
        arguments,
        kept.made_at,
        lambda: _schema.dump(page()),
        cached=kept.cached,
        cache_age_seconds=kept.cache_age_seconds,
    )
