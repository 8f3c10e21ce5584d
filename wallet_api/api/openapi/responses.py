"""The responses of an operation: its data in the envelope, and every error, with headers and examples."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from apispec import APISpec
from marshmallow import Schema, fields

from wallet_api.api.openapi.errors import all_errors, errors_of
from wallet_api.api.responses.examples import META
from wallet_api.api.responses.operation import Operation
from wallet_api.api.responses.rows import CONTENT_TYPES
from wallet_api.api.schemas.envelope import ErrorSchema, SuccessSchema
from wallet_api.base.errors import ApiError

_DESCRIPTIONS = {
    304: "The data has not changed since the response whose ETag was sent. No body; free of charge.",
    400: "An argument is missing, unknown, repeated or invalid: `parameter` names it.",
    401: "No API key was sent.",
    403: "The API key is invalid, has no credits left, or is bound to other operations, chains or types: see"
    " `reason`.",
    429: "The rate limit of the key is exceeded. Wait for `Retry-After` seconds.",
    500: "An unexpected error. Quote the `request_id` to the operator.",
    503: "The service is temporarily unavailable: wait for `Retry-After` seconds. Without that header waiting"
    " does not help: see `reason`.",
}

# The errors that no operation with a key adds to, by the names of their components.
_SHARED = {
    401: "Unauthorized",
    403: "Forbidden",
    429: "RateLimited",
    500: "InternalError",
    503: "ServiceUnavailable",
}

_HEADERS = {
    "X-Request-ID": ("string", "The id of this request, also in `meta`."),
    "X-RateLimit-Limit": ("integer", "The number of requests that the key may send in a window."),
    "X-RateLimit-Remaining": ("integer", "The number of requests left in this window."),
    "X-RateLimit-Reset": ("integer", "When the window ends, in Unix seconds."),
    "X-Credits-Remaining": (
        "integer",
        "The credits of the key that are left; absent for a key without a limit, and with 500 and 503.",
    ),
    "Retry-After": ("integer", "The seconds to wait before the next try; absent if waiting does not help."),
    "WWW-Authenticate": ("string", "`Bearer`."),
    "Cache-Control": (
        "string",
        "`no-store` for errors; data may be stored, and has to be revalidated with its ETag.",
    ),
    "ETag": ("string", "The version of the data, to be sent as `If-None-Match`."),
    "Vary": ("string", "`Accept-Encoding`, if the response is large enough to be compressed."),
    "Content-Encoding": (
        "string",
        "`gzip`, for large responses to callers that accept it.",
    ),
    "Link": (
        "string",
        "The URL of the next page, relative to that of the request and without the key, as"
        ' `<URL>; rel="next"`; absent on the last one, but never with `after`, and where it is too long.',
    ),
    "X-Next-Cursor": ("string", "The cursor of the next page alone; absent on the last one."),
    "X-Warnings": (
        "string",
        "With `format`: `warnings` as a JSON list, of many only the first and the number of the others;"
        " absent without any.",
    ),
}
_OF_KEYS = tuple(name for name in _HEADERS if name.startswith(("X-RateLimit", "X-Credits")))


def add_shared(spec: APISpec) -> None:
    """Add to the components what operations refer to: headers, and the errors of all that need a key."""
    for name, (kind, description) in _HEADERS.items():
        schema = {"type": kind, **({"format": "int64"} if kind == "integer" else {})}
        spec.components.header(name, {"description": description, "schema": schema})
    for status, name in _SHARED.items():
        spec.components.response(name, _failure(status, _of_status(status, all_errors()), keyless=False))


def operation_responses(operation: Operation) -> dict[str, Any]:
    """Return all responses of an operation by status."""
    errors, keyless = errors_of(operation), operation.access == "keyless"
    responses: dict[str, Any] = {"200": _success(operation, keyless=keyless)}
    if operation.etag:
        names = ["X-Request-ID", "Cache-Control", "ETag", *(() if keyless else ("Vary", *_OF_KEYS))]
        names += _of_pages(operation)
        responses["304"] = {"description": _DESCRIPTIONS[304], "headers": _refer(names)}
    for status in sorted({error.status for error in errors.values()}):
        own = _of_status(status, errors)
        if not keyless and own.keys() == _of_status(status, all_errors()).keys():
            responses[str(status)] = {"$ref": f"#/components/responses/{_SHARED[status]}"}
        else:
            responses[str(status)] = _failure(status, own, keyless=keyless)
    return responses


def _of_status(status: int, errors: Mapping[str, ApiError]) -> dict[str, ApiError]:
    return {name: error for name, error in errors.items() if error.status == status}


def _success(operation: Operation, *, keyless: bool) -> dict[str, Any]:
    names = ["X-Request-ID", "Cache-Control"]
    if operation.etag:
        names.append("ETag")
    if not keyless:
        names += ["Vary", "Content-Encoding", *_OF_KEYS]
    names += _of_pages(operation)
    headers = _refer(names)
    kind = type(operation.data)
    schema = kind if operation.bare else _envelope(kind, operation.top_level)
    examples = {name: {"value": _example(operation, data)} for name, data in operation.shown_examples.items()}
    content: dict[str, Any] = {"application/json": {"schema": schema, "examples": examples}}
    if operation.rows is not None:
        alone = (
            f"The rows of `{operation.rows}` alone; the names of objects and their fields are joined by `_`."
        )
        for content_type in CONTENT_TYPES.values():
            kind_of_rows = {"type": "string", "description": alone}
            content[content_type.partition(";")[0]] = {"schema": kind_of_rows}
    return {"description": "The data, in the envelope.", "headers": headers, "content": content}


def _of_pages(operation: Operation) -> list[str]:
    names = ["Link", "X-Next-Cursor"] if "cursor" in operation.arguments.fields else []
    return [*names, "X-Warnings"] if operation.rows else names


@cache
def _envelope(kind: type[Schema], top_level: str | None) -> type[Schema]:
    """Return the schema of the envelope with this data, and the member that is at the top level too."""
    name = f"{kind.__name__.removesuffix('Schema')}Response"
    members: dict[str, Any] = {
        "data": fields.Nested(kind, required=True, metadata={"description": "The data of the operation."})
    }
    if top_level is not None:
        members[top_level] = kind().fields[top_level]
    return SuccessSchema.from_dict(members, name=name)


def _example(operation: Operation, data: Any) -> Any:
    if operation.bare:
        return data
    repeated = {} if operation.top_level is None else {operation.top_level: data[operation.top_level]}
    return {"success": True, "data": data, **repeated, "meta": META}


def _failure(status: int, errors: Mapping[str, ApiError], *, keyless: bool) -> dict[str, Any]:
    names = ["X-Request-ID", "Cache-Control"]
    if status == 401:
        names.append("WWW-Authenticate")
    if status in (429, 503):
        names.append("Retry-After")
    if not keyless and status != 401:
        names += _OF_KEYS
    examples = {name: {"summary": error.message, "value": _body(error)} for name, error in errors.items()}
    return {
        # A 404 is described by the errors of the operation.
        "description": _DESCRIPTIONS.get(status)
        or " ".join(dict.fromkeys(type(error).__doc__ or "" for error in errors.values())),
        "headers": _refer(names),
        "content": {"application/json": {"schema": ErrorSchema, "examples": examples}},
    }


def _refer(names: list[str]) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _body(error: ApiError) -> dict[str, Any]:
    return {"success": False, "error": error.detail(META["request_id"]), "meta": META}
