"""The query string of the current request, validated by the schema of its operation."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from werkzeug.datastructures import MultiDict

from wallet_api.api.access.current import current_request
from wallet_api.api.access.scopes import UNBOUND
from wallet_api.api.keys import may_contain_key
from wallet_api.api.responses import cursor_seals
from wallet_api.api.schemas import arguments
from wallet_api.api.schemas.tool_data import SLIM

# Longer query strings are not remembered.
_MAX_BYTES = 512


class _Loaded(NamedTuple):
    """The arguments of a question, and of the form of its response."""

    arguments: Mapping[str, Any]
    format: str
    form: str


def load_arguments(schema: arguments.Arguments) -> Mapping[str, Any]:
    """Return the arguments of the current request, but for those of its response alone, which it then has.

    Those of a schema that `takes_scope` have that of the key as `scope`. Raises MissingParameter,
    InvalidParameter, Forbidden for a key that is bound to others, and DatabaseUnavailable.
    """
    request = current_request()
    if request.is_of_tool:
        schema = _of_tool(schema)
    query: bytes = request.query_string
    # Read by the first request of a page, with a cursor or not: sealed() runs in a slot of the bulkhead.
    secret = cursor_seals.secret() if "cursor" in schema.fields else None
    # A key must not stay in memory.
    if may_contain_key(query) or len(query) > _MAX_BYTES:
        loaded = _load(schema, request.args, secret)
    else:
        loaded = _load_again(schema, query, secret)
    request.format, request.data_form = loaded.format, SLIM if request.is_of_tool else loaded.form
    scope = request.key.scope if request.key is not None else UNBOUND
    scope.check(loaded.arguments, schema.fields, schema.bound_by)
    return {**loaded.arguments, "scope": scope} if schema.takes_scope else loaded.arguments


# An app has few schemas.
@lru_cache(1024)
def _of_tool(schema: arguments.Arguments) -> arguments.Arguments:
    """Return the schema without the arguments of the form of a response, which a tool does not have."""
    return type(schema)(exclude=[name for name in arguments.OF_FORM if name in schema.fields])


# Most callers send the same query strings again and again.
@lru_cache(1024)
def _load_again(schema: arguments.Arguments, query: bytes, secret: bytes | None) -> _Loaded:
    return _load(schema, current_request().args, secret)


def _load(schema: arguments.Arguments, given: MultiDict[str, str], secret: bytes | None) -> _Loaded:
    values = given.to_dict(flat=False)
    if not current_request().is_of_tool:
        # The gate has read it.
        values.pop("api_key", None)
    loaded = arguments.load(schema, values)
    response_format, amounts = loaded.pop("format", "json"), loaded.pop("amounts", "number")
    has_mark = loaded.pop("bom", False)
    opened = loaded if secret is None else cursor_seals.opened(loaded, secret)
    if response_format == "csv":
        # Its cells are texts.
        amounts, response_format = "number", "marked_csv" if has_mark else "csv"
    return _Loaded(MappingProxyType(opened), response_format, amounts)
