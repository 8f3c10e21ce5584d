"""Create, change, rotate, revoke, top up and recognize API keys. Only the SHA-256 of a key is stored."""

import re
import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, TypedDict, Unpack

import orjson

from wallet_api.base.chains import CHAINS, GROUPS, WALLET_TYPES
from wallet_api.base.errors import CommandError
from wallet_api.base.times import shown_time
from wallet_api.database import Connection, Row, load_statements

PREFIX = "wk_"
MAX_NAME = 100
MAX_CREDITS = 10**15

_KEYS = load_statements(__package__, "keys")

# The form that the library `limits` parses, within the bounds of the column.
_RATE = re.compile(r"[1-9]\d{0,11}/(?:second|minute|hour|day)", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
# The operations of the service are those of its routes, which are not imported here.
BOUNDS: Mapping[str, Sequence[str] | None] = {
    "chains": tuple(CHAINS),
    "types": WALLET_TYPES,
    "operations": None,
}
_OPERATION = re.compile(r"[a-z][a-z_]{0,63}")
_MOST_WORDS = 100


class KeyRequestError(CommandError):
    """A key cannot be created or changed as requested; the message says why."""


def key_hash(key: str) -> bytes:
    """Return the SHA-256 of a key, 32 bytes."""
    return sha256(key.encode("utf-8", "surrogatepass")).digest()


def bearer_key(authorization: str | None) -> str | None:
    """Return the key in an Authorization header; None if it is absent or malformed (RFC 6750, 2.1)."""
    if authorization is None:
        return None
    scheme, _, key = authorization.partition(" ")
    key = key.strip(" ")
    if scheme.lower() != "bearer" or not key or " " in key:
        return None
    return key


def may_contain_key(query: bytes) -> bool:
    """Return whether a query string may contain the parameter api_key, encoded or not, without parsing it."""
    return b"api_key" in query or b"%" in query


def normal_rate(text: str) -> str:
    """Return a rate in its stored form, without spaces. Raises KeyRequestError if it is not valid."""
    rate = text.replace(" ", "").lower()
    if _RATE.fullmatch(rate) is None:
        raise KeyRequestError(
            f"{text[:40]!r} is not a rate; allowed: COUNT/second, /minute, /hour or /day, such as 300/minute"
        )
    return rate


class KeyOptions(TypedDict, total=False):
    """What a key may do. None is the default rate, no expiry, unlimited, none a month, and any.

    `operations` have the names of the OpenAPI document.
    """

    rate: str | None
    expires_at: datetime | None
    credits: int | None
    monthly: int | None
    chains: Sequence[str] | None
    types: Sequence[str] | None
    operations: Sequence[str] | None


def create_key(connection: Connection, name: str, **options: Unpack[KeyOptions]) -> str:
    """Create a key and return it. It cannot be read again. With `monthly` alone it begins with so many.

    Raises KeyRequestError for an invalid or existing name, negative credits, an invalid rate, a past time, or
    wallets that no group has.
    """
    if not name or name != name.strip() or len(name) > MAX_NAME or _CONTROL.search(name):
        raise KeyRequestError(f"a name is 1 to {MAX_NAME} printable characters, without spaces around it")
    stored = dict.fromkeys(KeyOptions.__annotations__) | _stored(options)
    _check_groups(stored["chains"], stored["types"])
    key = new_secret()
    row = connection.execute(_KEYS["create"], {"name": name, "key_hash": key_hash(key), **stored}).fetchone()
    if row is None:
        raise KeyRequestError(f"there is a key named {name!r} already")
    return key


def revoke_key(connection: Connection, name: str) -> datetime:
    """Revoke a key and return when it was first revoked. Raises KeyRequestError for an unknown name."""
    key_id = find(connection, name)["key_id"]
    revoked_at: datetime = connection.fetch_value(_KEYS["revoke"], {"key_id": key_id})
    return revoked_at


def top_up_key(connection: Connection, name: str, amount: int) -> int:
    """Add credits to a key and return its balance.

    Raises KeyRequestError if it is unknown, revoked or unlimited.
    """
    if not 1 <= amount <= MAX_CREDITS:
        raise KeyRequestError(f"credits to add are a whole number from 1 to {MAX_CREDITS}")
    key_id = _find_valid(connection, name)["key_id"]
    balance: int | None = connection.fetch_value(_KEYS["top_up"], {"key_id": key_id, "amount": amount})
    if balance is None:
        raise KeyRequestError(f"the key {name!r} has no limit of credits")
    return balance


def set_key(connection: Connection, name: str, **changes: Unpack[KeyOptions]) -> Row:
    """Change a key, and return its rate, expiry, balance, monthly credits, and what it is bound to.

    With `monthly` the balance is so much at once, unless `credits` says another one, and again at the first
    charge of each month; a key without a limit of credits has none. Raises KeyRequestError if the key is
    unknown or revoked, and as create_key().
    """
    stored = _stored(changes)
    key = _find_valid(connection, name)
    _check_groups(stored.get("chains", key["chains"]), stored.get("types", key["types"]))
    parameters = {"key_id": key["key_id"], "changes": orjson.dumps(stored).decode()}
    return connection.fetch_row(_KEYS["set"], parameters)


def rotate_key(connection: Connection, name: str, overlap: timedelta) -> tuple[str, datetime]:
    """Give a key another secret. Return it, and until when the one before is accepted.

    Both have the same credits, rate and expiry. A secret from before an earlier rotation is accepted no more.
    Raises KeyRequestError if the key is unknown, revoked or expired.
    """
    key_id = _find_valid(connection, name, or_expired=False)["key_id"]
    until = datetime.now(UTC) + overlap
    key = new_secret()
    connection.execute(_KEYS["rotate"], {"key_id": key_id, "key_hash": key_hash(key), "until": until})
    return key, until


def new_secret() -> str:
    """Return a key that nobody has."""
    return PREFIX + secrets.token_urlsafe(32)


def find(connection: Connection, name: str) -> Row:
    """Return the newest key of a name. Raises KeyRequestError if there is none."""
    row = connection.execute(_KEYS["find"], {"name": name}).fetchone()
    if row is None:
        raise KeyRequestError(f"there is no key named {name!r}")
    return row


def _find_valid(connection: Connection, name: str, *, or_expired: bool = True) -> Row:
    row = find(connection, name)
    if row["revoked_at"] is not None:
        raise KeyRequestError(f"the key {name!r} is revoked permanently; create another one")
    expires_at = row["expires_at"]
    if not or_expired and expires_at is not None and expires_at <= datetime.now(UTC):
        raise KeyRequestError(f"the key {name!r} has expired; set another expiry first")
    return row


def _stored(options: KeyOptions) -> dict[str, Any]:
    """Return the options as they are stored, with what follows from them. Raises KeyRequestError."""
    stored: dict[str, Any] = dict(options)
    if (monthly := options.get("monthly")) is not None:
        stored.setdefault("credits", monthly)
    if "credits" in stored and stored["credits"] is None:
        if monthly is not None:
            raise KeyRequestError("a key without a limit of credits has none for each month")
        stored["monthly"] = None
    _check_credits(options.get("credits"))
    _check_credits(monthly)
    if (expires_at := options.get("expires_at")) is not None and expires_at <= datetime.now(UTC):
        raise KeyRequestError(f"{shown_time(expires_at)} is in the past")
    if (rate := options.get("rate")) is not None:
        stored["rate"] = normal_rate(rate)
    for name in BOUNDS:
        if name in stored:
            stored[name] = _bound(name, stored[name])
    return stored


def _check_credits(credits: int | None) -> None:
    if credits is not None and not 0 <= credits <= MAX_CREDITS:
        raise KeyRequestError(f"credits are a whole number from 0 to {MAX_CREDITS}")


def _bound(name: str, words: Sequence[str] | None) -> list[str] | None:
    """Return the words of a bound as they are stored, each once, in one order; None is any.

    Raises KeyRequestError for a word that cannot be one, or without any.
    """
    if words is None:
        return None
    known = BOUNDS[name]
    wrong = [word for word in words if not (word in known if known else _OPERATION.fullmatch(word))]
    if wrong:
        allowed = f"; allowed: {', '.join(known)}, or any alone" if known else ""
        raise KeyRequestError(f"{wrong[0][:40]!r} is none of the {name}{allowed}")
    given = list(dict.fromkeys(words))
    if not 0 < len(given) <= _MOST_WORDS:
        raise KeyRequestError(f"a key is bound to 1 to {_MOST_WORDS} {name}, or to any")
    return given if known is None else [word for word in known if word in given]


def _check_groups(chains: Sequence[str] | None, types: Sequence[str] | None) -> None:
    """Raise KeyRequestError if no group of wallets is of these chains and types; None is any."""
    if not any((not chains or chain in chains) and (not types or type in types) for chain, type in GROUPS):
        raise KeyRequestError(f"no wallets of {', '.join(chains or ())} are of type {', '.join(types or ())}")
