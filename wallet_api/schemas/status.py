"""The shapes of what the service reports of itself to the clients of the public API."""

from marshmallow import fields

from wallet_api.schemas.arguments import Arguments
from wallet_api.schemas.fields import Shape

_STATES = ["connected", "error", "none"]


class StatusArguments(Arguments):
    """The arguments of GET /v1/meta and /v1/health: none. A key that is sent along is ignored."""


class LimitsSchema(Shape):
    """What a request may contain at most."""

    max_limit = fields.Integer(required=True, metadata={"description": "Largest page of trades."})
    batch_max_mints = fields.Integer(
        required=True, metadata={"description": "Always 0: there are no batches."}
    )
    batch_max_addresses = fields.Integer(
        required=True, metadata={"description": "Always 0: there are no batches."}
    )


class ServiceMetaSchema(Shape):
    """The body of GET /v1/meta."""

    chains = fields.List(fields.String(), required=True, metadata={"description": "Values of `blockchain`."})
    wallet_types = fields.List(fields.String(), required=True, metadata={"description": "Values of `type`."})
    periods = fields.List(fields.String(), required=True, metadata={"description": "Values of `period`."})
    currencies = fields.Dict(
        fields.String(), fields.String(), required=True, metadata={"description": "Native currency by chain."}
    )
    wallet_counts = fields.Dict(
        fields.String(),
        fields.Dict(fields.String(), fields.Integer()),
        required=True,
        metadata={"description": "Number of tracked wallets by chain and type; at most 30 seconds old."},
    )
    limits = fields.Nested(
        LimitsSchema, required=True, metadata={"description": "What a request may contain at most."}
    )


class ComponentsSchema(Shape):
    """The servers that the service needs."""

    postgresql = fields.String(
        required=True, metadata={"enum": _STATES, "description": "The database that responses are read from."}
    )
    primary = fields.String(
        required=True,
        metadata={"enum": _STATES, "description": "The database that is written to; none if it is the same."},
    )
    valkey = fields.String(
        required=True,
        metadata={"enum": _STATES, "description": "Store of rate limits; none if not configured."},
    )
    websockets = fields.Dict(
        fields.String(),
        fields.Raw(),
        required=True,
        metadata={"description": "Always empty: there are none."},
    )


class ServiceHealthSchema(Shape):
    """The body of GET /v1/health."""

    status = fields.String(
        required=True,
        metadata={"enum": ["ok", "degraded"], "description": "degraded: a component has an error."},
    )
    version = fields.String(required=True, metadata={"description": "Version of the interface."})
    components = fields.Nested(
        ComponentsSchema, required=True, metadata={"description": "State of each server."}
    )
    latency_ms = fields.Float(
        metadata={"description": "Round trip to postgresql, in milliseconds; absent while it is away."}
    )
