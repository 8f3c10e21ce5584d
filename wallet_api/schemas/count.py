"""The shape of the number of a group's trades."""

from marshmallow import fields

from wallet_api.schemas.fields import Shape


class CountSchema(Shape):
    """The data of GET /v1/transactions/count."""

    blockchain = fields.String(required=True, metadata={"description": "Requested chain."})
    type = fields.String(required=True, metadata={"description": "Requested wallet category."})
    mode = fields.String(required=True, metadata={"enum": ["count"], "description": "Always `count`."})
    count = fields.Integer(required=True, metadata={"description": "Number of trades in the window."})
    wallet_count = fields.Integer(required=True, metadata={"description": "Number of wallets among them."})
    time_window_seconds = fields.Integer(
        required=True, metadata={"description": "Effective window, after capping at 86400."}
    )
    mint = fields.String(metadata={"description": "Requested token; absent without one."})
    warnings = fields.List(fields.String(), metadata={"description": "What was capped; absent if nothing."})
