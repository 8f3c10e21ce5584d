"""Opaque cursors: the key of the last row of a page, bound to the operation and its filters."""

import base64
import binascii
import hashlib
from datetime import datetime
from typing import Annotated, Any, TypeVar

import msgspec

from wallet_api.errors import InvalidParameter

Key = TypeVar("Key")
Scope = tuple[str, ...]

# The values of parts of keys.
Text = Annotated[str, msgspec.Meta(pattern=r"\A[^\x00]*\Z")]
Moment = Annotated[datetime, msgspec.Meta(tz=True)]
Index = Annotated[int, msgspec.Meta(ge=0, lt=2**31)]
Figure = Annotated[str, msgspec.Meta(pattern=r"\A-?[0-9]+(\.[0-9]+)?\Z")]


def encode(scope: Scope, key: Any) -> str:
    """Return the cursor of the page after `key`; `scope` is the operation and its filters."""
    return base64.urlsafe_b64encode(_fingerprint(scope) + msgspec.msgpack.encode(key)).decode().rstrip("=")


def decode(cursor: str, scope: Scope, key_type: type[Key], parameter: str = "cursor") -> Key:
    """Return the key in a cursor. Raises InvalidParameter if it is of another scope.

    That nobody has changed the key is for the caller of the query to check: see responses/seals.py.
    """
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        key = msgspec.msgpack.decode(raw[_FINGERPRINT_BYTES:], type=key_type)
    except (binascii.Error, ValueError, msgspec.MsgspecError) as error:
        raise refusal(parameter) from error
    # Only the canonical encoding is accepted.
    if encode(scope, key) != cursor:
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
