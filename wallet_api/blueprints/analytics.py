"""GET /v1/analytics: the tokens that most wallets of a group traded."""

from flask import Blueprint, Response

from wallet_api.queries.analytics import most_traded
from wallet_api.responses.arguments import load_arguments
from wallet_api.responses.cached import respond_version
from wallet_api.responses.examples import MINT
from wallet_api.responses.operation import Operation
from wallet_api.schemas.analytics import AnalyticsArguments, AnalyticsSchema
from wallet_api.services import services

blueprint = Blueprint("analytics", __name__, url_prefix="/v1")

_arguments = AnalyticsArguments()
_schema = AnalyticsSchema()

_EXAMPLE = {
    "blockchain": "solana",
    "type": "kol",
    "currency": "SOL",
    "mode": "most_traded",
    "period": "7d",
    "tokens": [
        {
            "mint": MINT,
            "token_name": "Doge Club",
            "wallet_count": 2,
            "buy_txn": 2,
            "sell_txn": 1,
            "total_txn": 3,
            "volume": 5.7,
            "volume_usd": 855,
            "realized_pnl": 0.6,
            "price": 0.000002,
        }
    ],
}

_operation = Operation(
    tag="Groups",
    summary="Most traded tokens of a group",
    arguments=_arguments,
    data=_schema,
    examples={"most_traded": _EXAMPLE},
    description="All figures are of one moment, which may be 30 seconds ago: see `meta`.",
)


@blueprint.get("/analytics")
@_operation.describes
def analytics() -> Response:
    """Return the tokens that most wallets of a group traded in a period."""
    arguments = load_arguments(_arguments)
    own = services()
    kept, data = most_traded(own.boards, own.price_rule, **arguments)
    return respond_version(
        arguments,
        kept.made_at,
        lambda: _schema.dump(data),
        cached=kept.cached,
        cache_age_seconds=kept.cache_age_seconds,
    )
