"""GET /v1/wallets/holdings: the balances of one wallet, live."""

from typing import Any

import orjson
from flask import Blueprint, Response

from wallet_api.access.gate import free_of_charge
from wallet_api.blueprints.answers import answer_version
from wallet_api.blueprints.arguments import load_arguments
from wallet_api.blueprints.envelope import answer
from wallet_api.blueprints.services import services
from wallet_api.schemas.holdings import HoldingsArguments, HoldingsSchema

blueprint = Blueprint("holdings", __name__, url_prefix="/v1")

_arguments = HoldingsArguments()
_schema = HoldingsSchema()


@blueprint.get("/wallets/holdings")
@blueprint.get("/wallet/holdings", endpoint="holdings_alias")
def holdings() -> Response:
    """Return the balances of one wallet, and how old they are."""
    arguments = load_arguments(_arguments)
    service = services().holdings
    found = service.read(**arguments)
    snapshot = found.snapshot
    if snapshot is None:
        # A response without balances costs nothing.
        free_of_charge()
        return answer(
            _dump({"tokens": [], "count": 0, "last_updated": None, "stale": found.stale, "loading": True})
        )

    def active() -> Any:
        formatted = service.format(arguments["blockchain"], snapshot)
        return _dump(
            {
                "tokens": orjson.Fragment(formatted.tokens),
                "count": formatted.count,
                "last_updated": formatted.last_updated,
                "stale": found.stale,
                "loading": False,
            }
        )

    return answer_version(
        arguments,
        (snapshot.refreshed_at, found.stale),
        active,
        cached=found.cached,
        cache_age_seconds=found.cache_age_seconds,
    )


def _dump(active: dict[str, object]) -> Any:
    return _schema.dump({"active_holdings": active})
