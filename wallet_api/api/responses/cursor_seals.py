"""The seals of cursors, so that only those that the service has returned are accepted.

A seal is a MAC under a secret of the database, which all workers share. It begins a cursor; what follows is
of the query, which binds it to its arguments.
"""

import base64
import hmac
from collections.abc import Mapping
from functools import cache
from typing import Any

from flask import Flask, current_app

from wallet_api.base.bulkhead import Bulkhead
from wallet_api.database import Database
from wallet_api.queries.cursors import refusal

_READ = "SELECT secret FROM cursor_secret"
_EXTENSION = "wallet_api.seals"
# The seal is as many bytes, of which base64 makes 12 characters without padding.
_BYTES, _CHARACTERS = 9, 12
_ARGUMENTS = ("cursor", "after")
# Arguments that are no cursors.
_WORDS = (("after", "now"), ("after", "start"))


def init_app(app: Flask, database: Database, bulkhead: Bulkhead) -> None:
    """Let `app` seal its cursors."""

    @cache
    def read_secret() -> bytes:
        with bulkhead.slot(), database.read() as connection:
            return bytes(connection.fetch_value(_READ))

    app.extensions[_EXTENSION] = read_secret


def secret() -> bytes:
    """Return the secret of the current app's seals. Raises DatabaseUnavailable."""
    of_database: bytes = current_app.extensions[_EXTENSION]()
    return of_database


def opened(arguments: dict[str, Any], secret: bytes) -> dict[str, Any]:
    """Return the arguments with their cursor as a query made it. Raises InvalidParameter for any other."""
    for name in _ARGUMENTS:
        sealed = arguments.get(name)
        if sealed is not None and (name, sealed) not in _WORDS:
            cursor = sealed[_CHARACTERS:]
            if not hmac.compare_digest(sealed.encode(), seal(secret, cursor).encode()):
                raise refusal(name)
            return {**arguments, name: cursor}
    return arguments


def sealed(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the data of a page with the cursor of the next one as a caller gets it."""
    cursor = next_cursor(data)
    if cursor is None:
        return data
    return {**data, "pagination": {**data["pagination"], "next_cursor": seal(secret(), cursor)}}


def next_cursor(data: Mapping[str, Any]) -> str | None:
    """Return the cursor of the page after this one; None without one."""
    cursor: str | None = data.get("pagination", {}).get("next_cursor")
    return cursor


def seal(secret: bytes, cursor: str) -> str:
    """Return a cursor of a query with the seal before it."""
    digest = hmac.digest(secret, cursor.encode(), "sha256")
    return base64.urlsafe_b64encode(digest[:_BYTES]).decode() + cursor
