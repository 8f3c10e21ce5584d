"""The envelope of all responses: success with data, or error; both with meta."""

from marshmallow import fields

from wallet_api.schemas.fields import Boolean, Integer, Moment, Rows, Shape, String


class MetaSchema(Shape):
    """About the response itself. None of the values is ever null."""

    request_id = String("Also the header X-Request-ID.")
    cached = Boolean("Whether the data was computed or fetched for an earlier request.")
    cache_age_seconds = Integer("0 when not cached.")
    version = String("Version of the API.")
    timestamp = Moment("UTC, ISO 8601 with Z.")


class SuccessSchema(Shape):
    """A successful response; `data` is that of the operation."""

    success = fields.Constant(True, metadata={"description": "Always true."})
    data = fields.Raw(required=True, metadata={"description": "The data of the operation."})
    meta = Rows(MetaSchema, "About this response.")


class ErrorDetailSchema(Shape):
    """The error. `parameter`, `allowed` and `reason` are present where they apply."""

    code = String("What kind of error it is, for programs.")
    message = String("What is wrong, for people; the wording may change.")
    request_id = String("Quote it when you report a problem.")
    parameter = String("The argument that is wrong or missing.", optional=True)
    allowed = fields.List(fields.Raw(), metadata={"description": "What would be allowed in its place."})
    reason = String("The cause, where `code` has several.", optional=True)


class ErrorSchema(Shape):
    """The body of every error."""

    success = fields.Constant(False, metadata={"description": "Always false."})
    error = Rows(ErrorDetailSchema, "What is wrong.")
    meta = Rows(MetaSchema, "About this response.")
