"""GET /healthz and /readyz: whether the process is alive, and whether it can serve requests."""

from flask import Blueprint, Response

from wallet_api.api.access.views import keyless
from wallet_api.api.responses.envelope import respond
from wallet_api.api.services import services
from wallet_api.base.errors import ServiceUnavailable
from wallet_api.database import NotPermitted
from wallet_api.database.migrations import inspect

blueprint = Blueprint("health", __name__)


@blueprint.get("/healthz")
@keyless
def healthz() -> Response:
    """Return that the process is alive, without checking anything else."""
    return respond({"status": "ok"})


@blueprint.get("/readyz")
@keyless
def readyz() -> Response:
    """Return whether requests can be served, or 503 if the database or its tables are missing.

    The service stays ready, and the response names it, if the primary is away or read-only (reads go on), if
    the store is away (each worker counts by itself), and if the tables are of a later version (they stay
    readable).
    """
    newer = _newer_tables()
    return respond(
        {
            "status": "ready",
            "database": "ok",
            "tables": f"newer: {', '.join(newer)}" if newer else "ok",
            "primary": services().database.primary_fault() or "ok",
            "store": services().gate.limits.windows.store_state,
        }
    )


def _newer_tables() -> tuple[str, ...]:
    try:
        with services().database.read() as connection:
            schema = inspect(connection)
    except NotPermitted as error:
        raise _not_ready(error.message, "database") from error
    except ServiceUnavailable as error:
        setting = "DATABASE_URL" if services().database.reads_primary else "DATABASE_READ_URL"
        raise _not_ready(f"the database of {setting} cannot be reached.", "database") from error
    if schema.pending:
        lacking = f"the tables lack {', '.join(schema.pending)}. Run: wallet-api migrate"
        raise _not_ready(lacking, "migrations")
    # What a later version fills is nothing that this one reads.
    if schema.is_filling and not schema.newer:
        raise _not_ready("wallet-api migrate has not computed all figures yet.", "migrations")
    return schema.newer


def _not_ready(problem: str, reason: str) -> ServiceUnavailable:
    return ServiceUnavailable(f"Not ready: {problem}", reason=reason)
