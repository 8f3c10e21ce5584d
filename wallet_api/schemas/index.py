"""The shape of the index."""

from marshmallow import fields

from wallet_api.schemas.fields import Shape


class IndexSchema(Shape):
    """The data of GET /."""

    name = fields.String(required=True, metadata={"description": "Name of this service."})
    documentation = fields.String(required=True, metadata={"description": "The page for people."})
    openapi = fields.String(required=True, metadata={"description": "The OpenAPI document."})
    health = fields.String(required=True, metadata={"description": "What a load balancer requests."})
