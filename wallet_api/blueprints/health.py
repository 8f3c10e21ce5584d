"""GET /healthz and /readyz: whether this process lives, and whether it can answer calls."""

from flask import Blueprint, Response

from wallet_api.access.gate import keyless
from wallet_api.blueprints.envelope import answer
from wallet_api.blueprints.services import services
from wallet_api.errors import ServiceUnavailable
from wallet_api.migrations import inspect
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

    Without the primary, reads go on; without the store, each worker counts by itself; tables of a later
    version stay readable. The answer names each of them, and the service stays ready.
    """
    newer = _newer_tables()
    return answer(
        _readiness.dump(
            {
                "status": "ready",
                "database": "ok",
                "tables": f"newer: {', '.join(newer)}" if newer else "ok",
                "primary": _primary(),
                "store": _store(),
            }
        )
    )


def _newer_tables() -> tuple[str, ...]:
    try:
        with services().database.read() as connection:
            schema = inspect(connection)
    except ServiceUnavailable as error:
        raise NotReady("Not ready: the database cannot be reached.", "database") from error
    if schema.pending:
        raise NotReady(
            f"Not ready: the tables lack {', '.join(schema.pending)}. Run: wallet-api migrate", "migrations"
        )
    return schema.newer


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
    return "ok" if services().gate.limits.windows.check() else "away"
