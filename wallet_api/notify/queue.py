"""The messages that wait, and the state of their targets, in the database."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from wallet_api.database import Connection, Row, load_statements
from wallet_api.notify.sending import SendingOutcome

_QUEUE = load_statements(__package__, "queue")
# A target that fails for so long is paused, and one that refuses so many messages in a row.
PAUSED_AFTER = timedelta(days=3)
REFUSED_IN_A_ROW = 10
# More than a target may get in a minute.
_MOST = 10_000
# Of a digest, and of the refused messages that are shown of a target.
_MOST_ITEMS = 100


class Waiting(NamedTuple):
    """A message that waits for a target: by which rule, its id and body, and when its change arrived.

    With `due_at` it is a part of the digest that is due then.
    """

    target: str
    rule: str
    message_id: str
    body: str
    arrived_at: datetime
    due_at: datetime | None = None


def add_waiting(connection: Connection, messages: Sequence[Waiting]) -> None:
    """Save messages that wait for targets, in their order."""
    if messages:
        names = ("targets", "rules", "message_ids", "bodies", "arrived_at", "due_at")
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


def failed(connection: Connection, target: str, failure: str, now: datetime, *, pauses: bool) -> Row:
    """Count a try that failed; return how many in a row have, and when it was paused."""
    paused_after = timedelta(0) if pauses else PAUSED_AFTER
    parameters = {"target": target, "failure": failure, "now": now, "paused_after": paused_after}
    return connection.fetch_row(_QUEUE["failed"], parameters)


def refused(connection: Connection, message: Row) -> None:
    """Count a try at which a message was refused."""
    connection.execute(_QUEUE["refused"], {"place": message["place"]})


def set_aside(
    connection: Connection, target: str, message: Row, outcome: SendingOutcome, now: datetime
) -> Row:
    """Set a refused message aside; return when its target was paused."""
    parameters = {
        "target": target,
        "place": message["place"],
        "status": outcome.status,
        "failure": outcome.failure,
        "pauses": outcome.is_gone,
        "most_in_a_row": REFUSED_IN_A_ROW,
        "now": now,
    }
    return connection.fetch_row(_QUEUE["set_aside"], parameters)


def retry_target(connection: Connection, target: str) -> Row | None:
    """Let all refused messages to a target wait again; return their `count`, and when the target was paused.

    None without such a target.
    """
    return connection.execute(_QUEUE["retry"], {"target": target}).fetchone()


def drop_refused(connection: Connection, target: str, message_id: str) -> int:
    """Drop a refused message to a target; return how many there were of this id."""
    parameters = {"target": target, "message_id": message_id, "horizon": None}
    count: int = connection.fetch_value(_QUEUE["drop_refused"], parameters) or 0
    return count


def forget_refused(connection: Connection, horizon: datetime) -> None:
    """Drop the messages that were refused before a time, and count them."""
    connection.execute(_QUEUE["drop_refused"], {"target": None, "message_id": None, "horizon": horizon})


def take_collected(connection: Connection, targets: Sequence[str], now: datetime) -> list[Row]:
    """Remove the messages of digests that are due; return what each digest has: some, and how many."""
    parameters = {"targets": targets, "now": now, "most": _MOST_ITEMS}
    return connection.execute(_QUEUE["collected"], parameters).fetchall()


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


def resume_target(connection: Connection, target: str) -> int | None:
    """Send a target again what waits for it; return how many messages. None without such a target."""
    count: int | None = connection.fetch_value(_QUEUE["resume"], {"target": target})
    return count


def take_all(connection: Connection) -> list[Row]:
    """Remove all messages that are to be sent, and return them in their order."""
    return sorted(connection.execute(_QUEUE["take_all"]), key=lambda row: row["place"])


def read_status(connection: Connection) -> list[dict[str, Any]]:
    """Return the state of all targets."""
    return connection.execute(_QUEUE["status"]).fetchall()


def refused_messages(connection: Connection) -> dict[str, list[Row]]:
    """Return for each target the oldest messages that it refused: their ids, rules, statuses and times."""
    found: dict[str, list[Row]] = {}
    for row in connection.execute(_QUEUE["refused_messages"], {"most": _MOST_ITEMS}):
        found.setdefault(row.pop("target"), []).append(row)
    return found
