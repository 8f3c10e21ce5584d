"""The query string of the current request, validated by the schema of its operation."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from werkzeug.datastructures import MultiDict

from wallet_api.access.current import current_request
from wallet_api.keys import may_contain_key
from wallet_api.responses import seals
from wallet_api.schemas import arguments

# Longer query strings are not remembered.
_MAX_BYTES = 512


def load_arguments(schema: arguments.Arguments) -> Mapping[str, Any]:
    """Return the arguments of the current request, but for the format of its response, which it then has.

    Raises MissingParameter, InvalidParameter, DatabaseUnavailable.
    """
    request = current_request()
    query: bytes = request.query_string
    # Read by the first request of a page, with a cursor or not: sealed() runs in a slot of the bulkhead.
    secret = seals.secret() if "cursor" in schema.fields else None
    # A key must not stay in memory.
    if may_contain_key(query) or len(query) > _MAX_BYTES:
        loaded, request.format = _load(schema, request.args, secret)
    else:
        loaded, request.format = _load_again(schema, query, secret)
    return loaded


# Most callers send the same query strings again and again.
@lru_cache(1024)
def _load_again(
    schema: arguments.Arguments, query: bytes, secret: bytes | None
) -> tuple[Mapping[str, Any], str]:
    return _load(schema, current_request().args, secret)


def _load(
    schema: arguments.Arguments, given: MultiDict[str, str], secret: bytes | None
) -> tuple[Mapping[str, Any], str]:
    values = given.to_dict(flat=False)
    # The gate has read it.
    values.pop("api_key", None)
    loaded = arguments.load(schema, values)
    response_format = loaded.pop("format", "json")
    opened = loaded if secret is None else seals.opened(loaded, secret)
    return MappingProxyType(opened), response_format
