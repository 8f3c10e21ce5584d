"""Read the feed, and save what the rules report of each change together with the place in the feed."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any, NamedTuple

from wallet_api.api.schemas.feed import ChangeSchema
from wallet_api.api.schemas.fields import with_strings
from wallet_api.base.times import shown_time
from wallet_api.database import Connection, Database
from wallet_api.notify import decisions, messages, queue, reports
from wallet_api.notify.events import Change, MessageType, RuleReport, TradeChange, change_of
from wallet_api.notify.rules import Rule
from wallet_api.notify.rules_file import RulesFile
from wallet_api.notify.session import Session
from wallet_api.queries.changes import NOW, read_changes

# Changes that are read, and saved, at a time.
_CHANGES = 200
# What was reported is known for so long: corrections and removals after that are of something unknown.
KNOWN_FOR = timedelta(days=30)
_ADD_AT_ONCE = 1_000
_FORGET_AT_ONCE = 5_000
_FORGET_EVERY = timedelta(minutes=1)
# So often it is saved that there is nothing to read.
_READ_EVERY = timedelta(seconds=10)

# By the `amounts` of targets.
_SCHEMAS = {"number": ChangeSchema(), "string": with_strings(ChangeSchema())}


class _Reading(NamedTuple):
    """Some changes that were read of the feed: by then all that arrived until `complete_until` is read."""

    cursor: str
    changes: Sequence[Change]
    complete_until: datetime


class Feed:
    """The feed from the place in the database on, or first from now on."""

    def __init__(self, session: Session, database: Database) -> None:
        self._session, self._database = session, database
        self._forgotten_at = self._read_at = datetime.min.replace(tzinfo=UTC)

    def follow(self, rules: RulesFile) -> int:
        """Save what is reported of the next changes, and the digests that are due; return how many were read.

        Raises ServiceUnavailable, and CursorUnknown if the feed has no such place.
        """
        with self._session.transaction() as connection:
            cursor, now = reports.read_place(connection)
        # Read between two transactions, so that no target waits for it.
        reading = _read(self._database, cursor, now, rules)
        with self._session.transaction() as connection:
            if reports.read_place(connection)[0] != cursor:
                # Without the lock for a moment, another process has saved these.
                return 0
            _save(connection, rules, reading)
            _save_digests(connection, rules, reading.complete_until)
            if reading.cursor != cursor or now - self._read_at > _READ_EVERY:
                reports.move(connection, reading.cursor)
                self._read_at = now
        self._forget(reading.changes[-1].arrived_at if reading.changes else now, now)
        return len(reading.changes)

    def _forget(self, read_until: datetime, now: datetime) -> None:
        """Forget what was reported, or refused, long before the changes that are read."""
        if now - self._forgotten_at < _FORGET_EVERY:
            return
        with self._session.transaction() as connection:
            queue.forget_refused(connection, now - KNOWN_FOR)
            count = reports.forget_reports(connection, read_until - KNOWN_FOR, _FORGET_AT_ONCE)
        if count < _FORGET_AT_ONCE:
            self._forgotten_at = now


def _read(database: Database, cursor: str | None, now: datetime, rules: RulesFile) -> _Reading:
    given = {"after": cursor or NOW, "limit": _CHANGES, "wants_retyped": True}
    data = read_changes(database, now, reports.OPERATION, given)
    columns: Mapping[str, Sequence[Any]] = data["transactions"]
    forms = {target.amounts for target in rules.targets.values()}
    written = {form: _SCHEMAS[form].write(columns) for form in forms}
    changes = [
        change_of(
            dict(zip(columns, row, strict=True)), {form: texts[place] for form, texts in written.items()}
        )
        for place, row in enumerate(zip(*columns.values(), strict=True))
    ]
    complete_until = now
    if changes:
        complete_until = changes[-1].arrived_at
    elif data["pagination"]["has_more"]:
        complete_until = datetime.min.replace(tzinfo=UTC)
    return _Reading(data["pagination"]["next_cursor"], changes, complete_until)


def _save(connection: Connection, rules: RulesFile, reading: _Reading) -> None:
    waiting: list[queue.Waiting] = []
    for batch in _batches(reading.changes):
        for report in _reports(connection, rules.rules, batch):
            waiting += _messages(rules, report)
            if len(waiting) > _ADD_AT_ONCE:
                queue.add_waiting(connection, waiting)
                waiting.clear()
    queue.add_waiting(connection, waiting)


def _batches(changes: Sequence[Change]) -> Iterator[list[Change]]:
    """Yield the changes: trades in a row together, and each change of many alone."""
    for are_trades, group in groupby(changes, lambda change: isinstance(change, TradeChange)):
        if are_trades:
            yield list(group)
        else:
            yield from ([change] for change in group)


def _reports(connection: Connection, rules: Sequence[Rule], batch: Sequence[Change]) -> list[RuleReport]:
    """Read what was reported of a batch, decide what is reported, write it, and return it."""
    trades = [change for change in batch if isinstance(change, TradeChange)]
    if trades:
        known = reports.read_known(connection, rules, trades)
        found = [report for trade in trades for report in decisions.decide_trade(rules, trade, known)]
    else:
        [change] = batch
        about = decisions.rules_of_many(rules, change)
        known = reports.read_known_of_many(connection, change)
        taken_back = reports.take_back(connection, about, change)
        found = list(decisions.decide_many(about, change, known, taken_back))
    reports.save(connection, known, batch[-1].arrived_at)
    return found


def _messages(rules: RulesFile, report: RuleReport) -> Iterator[queue.Waiting]:
    """Yield the message about a report to each target of its rule, or what a digest to it will have."""
    at = report.change.arrived_at
    due_at = report.rule.due_at(at)
    for name in report.rule.targets:
        target = rules.targets[name]
        content = messages.content_of(report, report.change.rows[target.amounts])
        body = messages.body_of(target, content) if due_at is None else messages.item_of(target, content)
        yield queue.Waiting(name, report.rule.name, messages.message_id(report.id, name), body, at, due_at)


def _save_digests(connection: Connection, rules: RulesFile, until: datetime) -> None:
    """Save the digests that are due by now; those of a target that left the rules wait for it."""
    for row in queue.take_collected(connection, list(rules.targets), until):
        first, last = (shown_time(row[name]) for name in ("first_at", "last_at"))
        data = {"count": row["count"], "first_at": first, "last_at": last}
        if row["count"] > len(row["items"]):
            data["left_out"] = row["count"] - len(row["items"])
        content = messages.content_of_many(MessageType.DIGEST, row["rule"], row["last_at"], data)
        body = messages.digest_body(rules.targets[row["target"]], content, row["items"])
        id = messages.message_id(
            messages.event_id(MessageType.DIGEST, row["rule"], row["first_id"], row["last_id"]), row["target"]
        )
        queue.add_waiting(connection, [queue.Waiting(row["target"], row["rule"], id, body, row["last_at"])])
