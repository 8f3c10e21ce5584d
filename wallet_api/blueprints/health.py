"""GET /healthz and /readyz: whether this process lives, and whether it can answer calls."""

from flask import Blueprint, Response

from wallet_api.access.gate import keyless
from wallet_api.blueprints.envelope import answer
from wallet_api.blueprints.services import services
from wallet_api.errors import ServiceUnavailable
from wallet_api.migrations import pending
from wallet_api.schemas.health import HealthSchema, ReadinessSchema

blueprint = Blueprint("health", __name__)

_health = HealthSchema()
_readiness = ReadinessSchema()


class NotReady(ServiceUnavailable):
    """This process cannot answer calls; `reason` names what is missing."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


@blueprint.get("/healthz")
@keyless
def healthz() -> Response:
    """Tell that this process answers. Nothing else is asked, so that no outage makes it look dead."""
    return answer(_health.dump({"status": "ok"}))


@blueprint.get("/readyz")
@keyless
def readyz() -> Response:
    """Tell whether calls can be answered, and what is missing: 503 without the database or its tables.

    Without the primary, reads go on, and without the store each worker counts by itself: both are told, but
    neither makes the service unready.
    """
    _check_tables()
    return answer(
        _readiness.dump({"status": "ready", "database": "ok", "primary": _primary(), "store": _store()})
    )


def _check_tables() -> None:
    try:
        with services().database.read() as connection:
            missing = pending(connection)
    except ServiceUnavailable as error:
        raise NotReady("Not ready: the database cannot be reached.", "database") from error
    if missing:
        raise NotReady(
            f"Not ready: the tables lack {', '.join(missing)}. Run: wallet-api migrate", "migrations"
        )


def _primary() -> str:
    try:
        with services().database.write() as connection:
            connection.execute("SELECT")
    except ServiceUnavailable:
        return "away"
    return "ok"


def _store() -> str:
    if services().settings.valkey_url is None:
        return "none"
    storage = services().gate.limits.storage
    return "ok" if storage.check() else "away"
