"""The query string of this request, as the schema of the operation sees it."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from flask import Flask

from wallet_api.access.call import app_in_hand, call_in_hand
from wallet_api.access.keyring import may_hold_key
from wallet_api.schemas import arguments

_EXTENSION = "wallet_api.arguments"
_MAX_KEPT = 1024
# What is longer is no call that comes again and again, and would take room.
_MAX_KEPT_BYTES = 512

_Pairs = tuple[tuple[str, str], ...]


def init_app(app: Flask) -> None:
    """Have `app` remember what it has loaded: most callers ask the same again and again."""
    app.extensions[_EXTENSION] = lru_cache(_MAX_KEPT)(_load)


def load_arguments(schema: arguments.Arguments) -> Mapping[str, Any]:
    """This call's arguments. Raises MissingParameter, InvalidParameter."""
    query: bytes = call_in_hand().query_string
    load = app_in_hand().extensions[_EXTENSION] if len(query) <= _MAX_KEPT_BYTES else _load
    # A key has no place in what is kept; without one the string is as good as what it is taken apart to.
    asked = _pairs() if may_hold_key(query) else query
    loaded: Mapping[str, Any] = load(schema, asked)
    return loaded


def _load(schema: arguments.Arguments, asked: _Pairs | bytes) -> Mapping[str, Any]:
    given: dict[str, list[str]] = {}
    for name, value in _pairs() if isinstance(asked, bytes) else asked:
        given.setdefault(name, []).append(value)
    return MappingProxyType(arguments.load(schema, given))


def _pairs() -> _Pairs:
    return tuple(pair for pair in call_in_hand().args.items(multi=True) if pair[0] != "api_key")
