"""The schemas of the health checks."""

from marshmallow import fields

from wallet_api.schemas.fields import Shape


class HealthSchema(Shape):
    """The data of GET /healthz."""

    status = fields.String(
        required=True, metadata={"description": "Always `ok`: the process answers.", "enum": ["ok"]}
    )


class ReadinessSchema(Shape):
    """The data of GET /readyz."""

    status = fields.String(
        required=True,
        metadata={"description": "Always `ready`; otherwise the response is a 503.", "enum": ["ready"]},
    )
    database = fields.String(
        required=True,
        metadata={"description": "Always `ok`; otherwise the response is a 503.", "enum": ["ok"]},
    )
    tables = fields.String(
        required=True,
        metadata={"description": "ok, or the migrations of a later version that the tables have."},
    )
    primary = fields.String(
        required=True,
        metadata={"enum": ["ok", "away"], "description": "away: keys with a credit limit are not served."},
    )
    store = fields.String(
        required=True,
        metadata={
            "enum": ["ok", "away", "none"],
            "description": "The shared store of limits; away or none: each worker counts by itself.",
        },
    )
