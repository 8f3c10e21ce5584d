"""The envelope of all responses: success with data, or error; both with meta."""

from marshmallow import fields

from wallet_api.schemas.fields import Shape


class MetaSchema(Shape):
    """About the response itself. None of the values is ever null."""

    request_id = fields.String(required=True, metadata={"description": "Also the header X-Request-ID."})
    cached = fields.Boolean(required=True, metadata={"description": "Whether the answer came from a cache."})
    cache_age_seconds = fields.Integer(required=True, metadata={"description": "0 when not cached."})
    version = fields.String(required=True)
    timestamp = fields.String(required=True, metadata={"description": "UTC, ISO 8601 with Z."})


class SuccessSchema(Shape):
    """A successful response; `data` is the operation's own."""

    success = fields.Constant(True)
    data = fields.Raw(required=True)
    meta = fields.Nested(MetaSchema, required=True)


class ErrorDetailSchema(Shape):
    """The error. `parameter`, `allowed` and `reason` are present where they apply."""

    code = fields.String(required=True)
    message = fields.String(required=True)
    request_id = fields.String(required=True)
    parameter = fields.String()
    allowed = fields.List(fields.Raw())
    reason = fields.String()


class ErrorSchema(Shape):
    """The body of every error."""

    success = fields.Constant(False)
    error = fields.Nested(ErrorDetailSchema, required=True)
    meta = fields.Nested(MetaSchema, required=True)
