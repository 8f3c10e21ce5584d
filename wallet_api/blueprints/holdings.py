"""GET /v1/wallets/holdings: the balances of one wallet, live."""

from typing import Any

import orjson
from flask import Blueprint, Response

from wallet_api.access.gate import free_of_charge
from wallet_api.blueprints.answers import answer_version
from wallet_api.blueprints.arguments import load_arguments
from wallet_api.blueprints.envelope import answer
from wallet_api.blueprints.services import services
from wallet_api.holdings.service import Holdings
from wallet_api.schemas.holdings import HoldingsArguments, HoldingsSchema

blueprint = Blueprint("holdings", __name__, url_prefix="/v1")

_arguments = HoldingsArguments()
_schema = HoldingsSchema()


@blueprint.get("/wallets/holdings")
@blueprint.get("/wallet/holdings", endpoint="holdings_alias")
def holdings() -> Response:
    """Tell what one wallet holds now, and how old that knowledge is."""
    arguments = load_arguments(_arguments)
    found = services().holdings.read(**arguments)

    def active() -> Any:
        return _schema.dump({"active_holdings": _active(found)})

    if found.snapshot is None:
        # Nobody pays for being told to come back.
        free_of_charge()
        return answer(active())
    return answer_version(
        arguments,
        (found.snapshot.taken_at, found.stale),
        active,
        cached=found.cached,
        cache_age_seconds=found.cache_age_seconds,
    )


def _active(found: Holdings) -> dict[str, object]:
    if found.snapshot is None:
        return {"tokens": [], "count": 0, "last_updated": None, "stale": found.stale, "loading": True}
    return {
        "tokens": orjson.Fragment(found.snapshot.tokens),
        "count": found.snapshot.count,
        "last_updated": found.snapshot.last_updated,
        "stale": found.stale,
        "loading": False,
    }
