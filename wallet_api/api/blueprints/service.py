"""GET /v1/key, /v1/meta, /v1/health, /healthz and /readyz: the key, what is served, and by which servers."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from flask import Blueprint, Response, current_app

from wallet_api import __version__
from wallet_api.api.access.credits import Credits
from wallet_api.api.access.current import current_request
from wallet_api.api.access.keyring import ApiKey
from wallet_api.api.access.views import keyless
from wallet_api.api.keys import BOUNDS
from wallet_api.api.openapi import operations
from wallet_api.api.responses.arguments import load_arguments
from wallet_api.api.responses.dollars import native_prices
from wallet_api.api.responses.envelope import respond
from wallet_api.api.responses.operation import Operation
from wallet_api.api.schemas.argument_fields import MAX_TEXTS
from wallet_api.api.schemas.arguments import AMOUNTS, FORMATS, Arguments
from wallet_api.api.schemas.status import KeySchema, ServiceHealthSchema, ServiceMetaSchema, StatusArguments
from wallet_api.api.services import services
from wallet_api.base.chains import CHAINS, WALLET_TYPES
from wallet_api.base.errors import ServiceUnavailable
from wallet_api.base.periods import ALL, PERIOD_LENGTHS
from wallet_api.base.times import shown_time
from wallet_api.database import DatabaseUnavailable, NotPermitted, Row
from wallet_api.database.migrations import inspect
from wallet_api.queries import feed, signals, volume
from wallet_api.queries.group_states import count_wallets
from wallet_api.queries.paging import MAX_LIMIT

blueprint = Blueprint("service", __name__)

_META: dict[str, Any] = {
    "chains": list(CHAINS),
    "wallet_types": list(WALLET_TYPES),
    "periods": [*PERIOD_LENGTHS, ALL],
    "formats": list(FORMATS),
    "amounts": list(AMOUNTS),
    "currencies": {chain.name: chain.currency for chain in CHAINS.values()},
    "wallet_counts": {},
    "limits": {
        "max_limit": MAX_LIMIT,
        "batch_max_mints": MAX_TEXTS,
        "batch_max_addresses": MAX_TEXTS,
        "signals_max_hours": signals.MAX_HOURS,
        "timerange_max_seconds": feed.MAX_WINDOW_SECONDS,
        "volume_max_seconds": volume.MAX_WINDOW_SECONDS,
    },
    "operations": [],
}
_EXAMPLE_COUNTS = {chain.name: dict.fromkeys(chain.types, 80) for chain in CHAINS.values()}

_key = Operation(
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
_meta = Operation(
    name="get_meta",
    use="For which chain has which types; for the wallets of one use list_wallets.",
    tag="Service",
    summary="What is served",
    arguments=StatusArguments(),
    data=ServiceMetaSchema(),
    examples={
        "meta": _META
        | {
            "wallet_counts": _EXAMPLE_COUNTS,
            "operations": [{"path": "/v1/key", "parameters": ["amounts"]}],
        }
    },
    errors=[DatabaseUnavailable()],
    etag=False,
    bare=True,
    access="keyless",
)
_health = Operation(
    name="get_health",
    use="For trouble of the service; for what there is to ask use get_meta.",
    tag="Service",
    summary="State of the servers",
    arguments=StatusArguments(),
    data=ServiceHealthSchema(),
    description="Always 200 while the process runs; /readyz is what load balancers request.",
    etag=False,
    bare=True,
    access="keyless",
)


@blueprint.get("/v1/key")
@_key.documents
def api_key() -> Response:
    """Return the limit, the credits, the expiry and the use of the key of this request."""
    load_arguments(_key.arguments)
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
    return _key.respond(lambda: data)


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


@blueprint.get("/v1/meta")
@_meta.documents
def meta() -> Response:
    """Return what there is: chains, types, periods, formats, limits, operations with their arguments, and
    how many wallets are tracked.
    """
    load_arguments(_meta.arguments)
    counts = services().wallet_counts.get(None, _count_wallets)
    served = [_served(rule.rule, operation.arguments) for rule, operation in operations(current_app)]
    return _meta.respond(lambda: _META | {"wallet_counts": counts.value, "operations": served})


@blueprint.get("/v1/health")
@_health.documents
def health() -> Response:
    """Return the state of the database and of the store of limits, at most a second old."""
    load_arguments(_health.arguments)
    health = services().health.get(None, _measure_health)
    return _health.respond(lambda: health.value)


def _served(path: str, arguments: Arguments) -> dict[str, Any]:
    periods = arguments.allowed("period", {}) if "period" in arguments.fields else None
    return {
        "path": path,
        "parameters": list(arguments.fields),
        **({} if periods is None else {"periods": list(periods)}),
    }


def _count_wallets() -> dict[str, dict[str, int]]:
    with services().database.read() as connection:
        return count_wallets(connection)


def _measure_health() -> dict[str, Any]:
    latency_ms, store = _latency_ms(), services().gate.limits.windows.store_state
    faults = {
        "postgresql": "away" if latency_ms is None else None,
        "primary": services().database.primary_fault(),
        "valkey": store if store == "away" else None,
    }
    reasons = {component: fault for component, fault in faults.items() if fault is not None}
    components = {component: "error" if component in reasons else "connected" for component in faults}
    components["prices"] = _price_state()
    if components["prices"] == "stale":
        reasons["prices"] = "stale"
    health: dict[str, Any] = {
        "status": "degraded" if reasons else "ok",
        "version": __version__,
        "components": components | ({"valkey": "none"} if store == "none" else {}) | {"websockets": {}},
        "reasons": reasons,
    }
    return health if latency_ms is None else health | {"latency_ms": latency_ms}


def _price_state() -> str:
    try:
        return native_prices(current_app).state()
    # Of tables that are missing too: this page always responds.
    except Exception:  # noqa: BLE001
        return "none"


def _latency_ms() -> float | None:
    try:
        with services().database.read() as connection:
            started_at = time.perf_counter()
            connection.execute("SELECT")
            return round((time.perf_counter() - started_at) * 1000, 2)
    except ServiceUnavailable:
        return None


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
