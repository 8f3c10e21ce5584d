"""The envelope of all responses: success with data, or error; both with meta."""

from marshmallow import fields

from wallet_api.schemas.fields import Moment, Shape


class MetaSchema(Shape):
    """About the response itself. None of the values is ever null."""

    request_id = fields.String(required=True, metadata={"description": "Also the header X-Request-ID."})
    cached = fields.Boolean(required=True, metadata={"description": "Whether the answer came from a cache."})
    cache_age_seconds = fields.Integer(required=True, metadata={"description": "0 when not cached."})
    version = fields.String(required=True, metadata={"description": "Version of the API."})
    timestamp = Moment(required=True, metadata={"description": "UTC, ISO 8601 with Z."})


class SuccessSchema(Shape):
    """A successful response; `data` is the operation's own."""

    success = fields.Constant(True, metadata={"description": "Always true."})
    data = fields.Raw(required=True, metadata={"description": "The data of the operation."})
    meta = fields.Nested(MetaSchema, required=True, metadata={"description": "About this response."})


class ErrorDetailSchema(Shape):
    """The error. `parameter`, `allowed` and `reason` are present where they apply."""

    code = fields.String(required=True, metadata={"description": "What kind of error it is, for programs."})
    message = fields.String(
        required=True, metadata={"description": "What is wrong, for people; the wording may change."}
    )
    request_id = fields.String(required=True, metadata={"description": "Quote it when you report a problem."})
    parameter = fields.String(metadata={"description": "The argument that is wrong or missing."})
    allowed = fields.List(fields.Raw(), metadata={"description": "What would be allowed in its place."})
    reason = fields.String(metadata={"description": "The cause, where `code` has several."})


class ErrorSchema(Shape):
    """The body of every error."""

    success = fields.Constant(False, metadata={"description": "Always false."})
    error = fields.Nested(ErrorDetailSchema, required=True, metadata={"description": "What is wrong."})
    meta = fields.Nested(MetaSchema, required=True, metadata={"description": "About this response."})
