"""Opaque cursors: the key of the last row of a page, bound to the operation and its filters."""

import base64
import hashlib
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from wallet_api.base.errors import InvalidParameter

Key = TypeVar("Key")
StructKey = TypeVar("StructKey", bound=msgspec.Struct)
Scope = tuple[str, ...]


def encode_cursor(scope: Scope, key: Any) -> str:
    """Return the cursor of the page after `key`; `scope` is the operation and its filters."""
    return base64.urlsafe_b64encode(_fingerprint(scope) + msgspec.msgpack.encode(key)).decode().rstrip("=")


def pagination(scope: Scope, limit: int, last: Any | None, **total: int) -> dict[str, Any]:
    """Return the pagination of a page of at most `limit` rows, and maybe of how many in all.

    `last` is the key of its last row if more follow, else None.
    """
    following = None if last is None else encode_cursor(scope, last)
    return {"limit": limit, **total, "next_cursor": following, "has_more": last is not None}


def last_key(kind: type[StructKey], head: Mapping[str, Any]) -> StructKey | None:
    """Return the key of the last row of a page, whose members a head has; None if no more rows follow."""
    return kind(*[head[name] for name in kind.__struct_fields__]) if head["has_more"] else None


def decode_cursor(cursor: str, scope: Scope, key_type: type[Key], parameter: str = "cursor") -> Key:
    """Return the key in a cursor that `encode` made. Raises InvalidParameter if it is of another scope.

    What encode has not made is refused before: see api/responses/cursor_seals.py.
    """
    raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    try:
        key = msgspec.msgpack.decode(raw[_FINGERPRINT_BYTES:], type=key_type)
    except msgspec.ValidationError as error:
        raise refusal(parameter) from error
    if not raw.startswith(_fingerprint(scope)):
        raise refusal(parameter)
    return key


_FINGERPRINT_BYTES = 9


def _fingerprint(scope: Scope) -> bytes:
    return hashlib.blake2b("\n".join(scope).encode(), digest_size=_FINGERPRINT_BYTES).digest()


def refusal(parameter: str = "cursor") -> InvalidParameter:
    """Return the error for a cursor of another request, or for a text that is no cursor."""
    begin = "leave it out to begin from the start" if parameter == "cursor" else "give now or start to begin"
    return InvalidParameter(
        f"Parameter {parameter} is not a next_cursor of this query; {begin}.", parameter=parameter
    )
