"""The messages that wait, and the state of their targets, in the database."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from wallet_api.database import Connection, Row, load_statements

_QUEUE = load_statements(__package__, "queue")
# A target that fails for so long is paused.
PAUSED_AFTER = timedelta(days=3)
# More than a target may get in a minute.
_MOST = 10_000


class Waiting(NamedTuple):
    """A message that waits for a target: by which rule, its id and body, and when its change arrived."""

    target: str
    rule: str
    message_id: str
    body: str
    arrived_at: datetime


def add(connection: Connection, messages: Sequence[Waiting]) -> None:
    """Save messages that wait for targets, in their order."""
    if not messages:
        return
    names = ("targets", "rules", "message_ids", "bodies", "arrived_at")
    columns = (list(column) for column in zip(*messages, strict=True))
    connection.execute(_QUEUE["add"], dict(zip(names, columns, strict=True)))


def next_message(connection: Connection, target: str) -> Row | None:
    """Return the oldest message that waits for a target, with `failures` and `paused_at` of the target."""
    return connection.execute(_QUEUE["next"], {"target": target}).fetchone()


def delivered(connection: Connection, target: str, message: Row, now: datetime) -> None:
    """Remove a message that was received, and count it."""
    delay = (now - message["arrived_at"]).total_seconds()
    parameters = {"target": target, "place": message["place"], "now": now, "delay_seconds": delay}
    connection.execute(_QUEUE["delivered"], parameters)


def failed(connection: Connection, target: str, failure: str, now: datetime) -> Row:
    """Count a try that failed; return how many in a row have, and when it was paused."""
    parameters = {"target": target, "failure": failure, "now": now, "paused_after": PAUSED_AFTER}
    row = connection.execute(_QUEUE["failed"], parameters).fetchone()
    assert row is not None
    return row


def find_flood(connection: Connection, target: str, per_minute: int) -> Row | None:
    """Return what to hold back of the oldest messages to a target, which nobody else takes meanwhile.

    None if of these not more than `per_minute` have arrived within a minute.
    """
    connection.execute(_QUEUE["lock"], {"target": target})
    parameters = {"target": target, "per_minute": per_minute, "most": _MOST}
    return connection.execute(_QUEUE["flood"], parameters).fetchone()


def hold_back(connection: Connection, target: str, flood: Row, message_id: str, body: str) -> None:
    """Let one message stand for those of a flood, and count them."""
    own = {"target": target, "message_id": message_id, "body": body}
    connection.execute(_QUEUE["hold_back"], flood | own)


def drop_some(connection: Connection, target: str) -> int:
    """Drop some of the oldest messages to a target; return how many, 0 once there are none."""
    with connection.transaction():
        connection.execute(_QUEUE["lock"], {"target": target})
        count: int = connection.fetch_value(_QUEUE["drop"], {"target": target, "most": _MOST}) or 0
    return count


def resume(connection: Connection, target: str) -> int | None:
    """Send a target again what waits for it; return how many messages. None without such a target."""
    count: int | None = connection.fetch_value(_QUEUE["resume"], {"target": target})
    return count


def take_all(connection: Connection) -> list[Row]:
    """Remove all messages, and return them in their order."""
    return sorted(connection.execute(_QUEUE["take_all"]), key=lambda row: row["place"])


def status(connection: Connection) -> list[dict[str, Any]]:
    """Return the state of all targets."""
    return connection.execute(_QUEUE["status"]).fetchall()
