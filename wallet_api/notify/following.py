"""Read the feed, and save what the rules report of each change together with the place in the feed."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from wallet_api.database import Connection, Database
from wallet_api.notify import queue, reports
from wallet_api.notify.matching import Change, WebhookMessage
from wallet_api.notify.messages import WORDS, body_of
from wallet_api.notify.page import Page
from wallet_api.notify.rules import Rules
from wallet_api.notify.session import Session
from wallet_api.queries.changes import NOW, read_changes
from wallet_api.schemas.feed import ChangeSchema
from wallet_api.schemas.fields import with_strings
from wallet_api.times import shown_time

# Changes that are read, and saved, at a time.
PAGE = 200
# What was reported is known for so long: corrections and removals after that are of something unknown.
KNOWN_FOR = timedelta(days=30)
_ADD_AT_ONCE = 1_000
_FORGET_AT_ONCE = 5_000
_FORGET_EVERY = timedelta(minutes=1)

# By the `amounts` of targets.
_SCHEMAS = {"number": ChangeSchema(), "string": with_strings(ChangeSchema())}


class Follower:
    """Reads the feed on from the place in the database, or first from now on."""

    def __init__(self, session: Session, database: Database) -> None:
        self._session, self._database = session, database
        self._forgotten_at = datetime.min.replace(tzinfo=UTC)

    def follow(self, rules: Rules) -> int:
        """Save what is reported of the next changes; return how many were read.

        Raises ServiceUnavailable, CursorUnknown if the feed has no such place.
        """
        now = datetime.now(UTC)
        with self._session.transaction() as connection:
            place = reports.read_place(connection)
        # Read between two transactions, so that no target waits for it.
        cursor, changes, rows = _read_page(self._database, place, now, rules)
        if cursor != place:
            with self._session.transaction() as connection:
                if reports.read_place(connection) != place:
                    # Without the lock for a moment, another process has saved this page.
                    return 0
                _save(connection, rules, changes, rows)
                reports.move(connection, cursor)
        self._forget(datetime.fromisoformat(changes[-1]["arrived_at"]) if changes else now, now)
        return len(changes)

    def _forget(self, read_until: datetime, now: datetime) -> None:
        """Forget what was reported long before the changes that are read."""
        if now - self._forgotten_at < _FORGET_EVERY:
            return
        with self._session.transaction() as connection:
            count = reports.forget(connection, read_until - KNOWN_FOR, _FORGET_AT_ONCE)
        if count < _FORGET_AT_ONCE:
            self._forgotten_at = now


def _read_page(
    database: Database, place: str | None, now: datetime, rules: Rules
) -> tuple[str, Sequence[Change], Mapping[str, Sequence[str]]]:
    """Return the place after some changes, these changes, and each as JSON by the `amounts` of targets."""
    data = read_changes(database, now, "notify", None, place or NOW, limit=PAGE, wants_retyped=True)
    columns: Mapping[str, Sequence[Any]] = data["transactions"]
    changes = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    forms = {target.amounts for target in rules.targets.values()} if changes else ()
    return data["pagination"]["next_cursor"], changes, {form: _SCHEMAS[form].write(columns) for form in forms}


def _save(
    connection: Connection, rules: Rules, changes: Sequence[Change], rows: Mapping[str, Sequence[str]]
) -> None:
    page = Page(connection, rules, changes)
    waiting: list[queue.Waiting] = []
    for number, change in enumerate(changes):
        at = datetime.fromisoformat(change["arrived_at"])
        for message in page.report(change):
            members, words = _members(message), _words(message)
            for name in message.rule.targets:
                target = rules.targets[name]
                body = body_of(target.template, members, rows[target.amounts][number], words)
                waiting.append(queue.Waiting(name, message.rule.name, message.id, body, at))
        if len(waiting) > _ADD_AT_ONCE:
            queue.add(connection, waiting)
            waiting.clear()
    page.save()
    queue.add(connection, waiting)


def _members(message: WebhookMessage) -> dict[str, Any]:
    change = message.change
    members = {"type": message.type, "timestamp": change["arrived_at"], "rule": message.rule.name}
    if message.ended_at is None:
        return members
    cluster = {
        "blockchain": change["profile_blockchain"],
        "mint": change["mint"],
        "at": shown_time(message.ended_at),
    }
    return members | {"cluster": cluster, "wallets": list(message.wallets)}


def _words(message: WebhookMessage) -> dict[str, Any]:
    words = {name: message.change.get(column) for name, column in WORDS.items()}
    return words | {"wallets": ", ".join(message.wallets), "count": len(message.wallets)}
