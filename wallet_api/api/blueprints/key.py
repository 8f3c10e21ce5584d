"""GET /v1/key: what the key of the request may still do, and what it was used for."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from flask import Blueprint, Response

from wallet_api.api.access.credits import Credits
from wallet_api.api.access.current import current_request
from wallet_api.api.access.keyring import ApiKey
from wallet_api.api.keys.bounds import BOUNDS
from wallet_api.api.responses.arguments import load_arguments
from wallet_api.api.responses.operation import Operation
from wallet_api.api.schemas.arguments import Arguments
from wallet_api.api.schemas.key import KeySchema
from wallet_api.api.services import services
from wallet_api.base.times import shown_time
from wallet_api.database import Row

blueprint = Blueprint("key", __name__, url_prefix="/v1")

_operation = Operation(
    name="get_key",
    use="For what is left to spend; for what there is to ask use get_meta.",
    tag="Service",
    summary="State of the API key",
    arguments=Arguments(),
    data=KeySchema(),
    description="It is free, but counts for the rate limit.",
    etag=False,
    access="free",
)


@blueprint.get("/key")
@_operation.documents
def api_key() -> Response:
    """Return the limit, the credits, the expiry and the use of the key of this request."""
    load_arguments(_operation.arguments)
    key, expires_at, gate = current_request().key, current_request().key_expires_at, services().gate
    assert key is not None
    remaining, reset = gate.limits.remaining(key)
    data = {
        "name": key.name,
        "created_at": shown_time(key.row.created_at),
        "expires_at": None if expires_at is None else shown_time(expires_at),
        "rate": {
            "limit": key.limit.amount,
            "window_seconds": key.limit.get_expiry(),
            "remaining": remaining,
            "reset_at": shown_time(datetime.fromtimestamp(reset, UTC)),
        },
        "credits": _credits(key, gate.credits),
        "scope": {name: getattr(key.row, name) for name in BOUNDS},
        "used": _used(gate.use.read(key.row.key_id, datetime.now(UTC).date())),
    }
    return _operation.respond(lambda: data)


def _credits(key: ApiKey, credits: Credits) -> dict[str, Any]:
    state = {
        "left": None if key.unlimited else credits.remaining(key),
        "cost": credits.usual_cost,
        "costs": credits.costs,
    }
    if key.renews_at is None:
        return state
    return state | {"monthly": key.row.monthly, "renews_at": shown_time(key.renews_at)}


def _used(rows: Sequence[Row]) -> dict[str, Any]:
    return {
        "today": {name: sum(row[f"{name}_today"] for row in rows) for name in ("requests", "credits")},
        "month": {name: sum(row[name] for row in rows) for name in ("requests", "credits")},
        "by_operation": rows,
    }
