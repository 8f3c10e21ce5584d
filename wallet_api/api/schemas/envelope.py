"""The envelope of all responses: success with data, or error; both with meta."""

from marshmallow import fields

from wallet_api.api.schemas.fields import Boolean, Integer, Moment, Rows, String
from wallet_api.api.schemas.shapes import Shape


class MetaSchema(Shape):
    """About the response itself."""

    request_id = String(
        "Id of the request, also in the header `X-Request-ID`. Quote it when you report a problem."
    )
    cached = Boolean("Whether the data was computed or fetched for an earlier request.")
    cache_age_seconds = Integer("Age of that data; 0 if it is not cached.")
    since = Moment("First moment of the requested `period`; absent otherwise.", optional=True)
    until = Moment("First moment after it; absent likewise.", optional=True)
    version = String("Version of the API.")
    timestamp = Moment("Time of the response.")


class SuccessSchema(Shape):
    """A successful response; `data` is that of the operation."""

    success = fields.Constant(True, metadata={"description": "Always true."})
    data = fields.Raw(required=True, metadata={"description": "The data of the operation."})
    meta = Rows(MetaSchema, "About this response.")


class ErrorDetailSchema(Shape):
    """The error."""

    code = String("What kind of error it is, for programs.")
    message = String("What is wrong, for people; the wording may change.")
    request_id = String("Quote it when you report a problem.")
    parameter = String("The argument that is wrong or missing; absent if it is none.", optional=True)
    allowed = fields.List(
        fields.Raw(),
        metadata={"description": "What would be allowed in its place; absent without such a list."},
    )
    reason = String("The cause, where `code` has several; absent otherwise.", optional=True)
    retry_after_seconds = Integer("The same as the header `Retry-After`; absent without it.", optional=True)
    renews_at = Moment("When the key without credits has some again; absent if it never has.", optional=True)


class ErrorSchema(Shape):
    """The body of every error."""

    success = fields.Constant(False, metadata={"description": "Always false."})
    error = Rows(ErrorDetailSchema, "What is wrong.")
    meta = Rows(MetaSchema, "About this response.")
