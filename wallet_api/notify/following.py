"""Read the feed, and save what the rules report of each change together with the place in the feed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from wallet_api.database import Connection, Database
from wallet_api.notify import store
from wallet_api.notify.matching import (
    Change,
    Reported,
    WebhookMessage,
    cluster_broken,
    cluster_subject,
    is_over,
    matches,
    of_cluster,
    of_many,
    of_trade,
    subject_of,
)
from wallet_api.notify.messages import WORDS, body_of
from wallet_api.notify.rules import Rule, Rules
from wallet_api.notify.store import AllReported
from wallet_api.queries.changes import NOW, read_changes
from wallet_api.schemas.feed import ChangeSchema

# Changes that are read, and saved, at a time.
PAGE = 200

_schema = ChangeSchema()

OnMessage = Callable[[WebhookMessage, Mapping[str, str], datetime], None]


def follow(database: Database, rules: Rules) -> int:
    """Save what is reported of the next changes; return how many were read. Begins with those to come.

    Raises ServiceUnavailable, CursorUnknown if the feed has no such place.
    """
    with database.write() as connection, connection.transaction():
        place = store.read_place(connection)
        cursor, changes, bodies = read_page(database, place)
        reported = store.read_reported(connection, _subjects(changes))
        report_page(connection, rules, changes, bodies, reported, partial(store.add, connection))
        store.move(connection, cursor)
    return len(changes)


def read_page(database: Database, place: str | None) -> tuple[str, list[Change], list[str]]:
    """Return the place after some changes, these changes, and each as JSON."""
    data = read_changes(database, datetime.now(UTC), "notify", None, place or NOW, limit=PAGE)
    columns: Mapping[str, Sequence[Any]] = data["transactions"]
    changes = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return data["pagination"]["next_cursor"], list(changes), _schema.write(columns) if changes else []


def report_page(
    connection: Connection,
    rules: Rules,
    changes: Sequence[Change],
    bodies: Sequence[str],
    reported: AllReported,
    report: OnMessage,
) -> None:
    """Call `report` with each message about the changes, in their order.

    `reported` is kept as of the last one.
    """
    for change, data in zip(changes, bodies, strict=True):
        arrived_at = datetime.fromisoformat(change["arrived_at"])
        if change["event"] in ("wallet_removal", "purge"):
            reported |= store.read_reported_among(connection, change)
        for rule in rules.rules:
            for message in _messages(connection, rule, change, reported):
                reported |= {(subject, rule.name): message.reported for subject in message.subjects}
                report(message, _bodies(rules, message, data, change["arrived_at"]), arrived_at)


def _subjects(changes: Sequence[Change]) -> Iterator[str]:
    for change in changes:
        if "tx_signature" in change and change["tx_signature"] is not None:
            yield subject_of(change)
            yield cluster_subject(change["profile_blockchain"], change["mint"])


def _messages(
    connection: Connection, rule: Rule, change: Change, reported: AllReported
) -> Iterator[WebhookMessage]:
    of_rule = {subject: one for (subject, name), one in reported.items() if name == rule.name}
    if change["event"] in ("wallet_removal", "purge"):
        clusters = {
            name: one for name, one in of_rule.items() if name.startswith("cluster|") and one.is_reported
        }
        if rule.cluster is None:
            gone = {name: one for name, one in of_rule.items() if _is_among(change, name, one)}
            message = of_many(rule, change, gone)
            if message is not None:
                yield message
        for subject in clusters if rule.cluster else ():
            _, chain, mint = subject.split("|")
            yield from _cluster(
                connection, rule, {**change, "profile_blockchain": chain, "mint": mint}, of_rule
            )
    elif rule.cluster is None:
        message = of_trade(rule, change, of_rule.get(subject_of(change)))
        if message is not None:
            yield message
    else:
        yield from _cluster(connection, rule, change, of_rule)


def _is_among(change: Change, subject: str, reported: Reported) -> bool:
    chain, wallet, mint, *_ = subject.split("|")
    if not reported.is_reported or chain == "cluster":
        return False
    if change["event"] == "wallet_removal":
        return (chain, wallet) == (change["profile_blockchain"], change["profile_wallet_address"])
    before = change.get("before")
    return (change.get("mint") in (None, mint)) and (
        before is None or reported.traded_at < datetime.fromisoformat(before)
    )


def _cluster(
    connection: Connection, rule: Rule, change: Change, reported: Mapping[str, Reported]
) -> Iterator[WebhookMessage]:
    assert rule.cluster is not None
    chain, mint = change["profile_blockchain"], change["mint"]
    if rule.chain not in (None, chain) or not (rule.mint is None or mint in rule.mint):
        return
    length = timedelta(hours=rule.cluster.hours)
    known = reported.get(cluster_subject(chain, mint))
    if known is not None and known.is_reported:
        end = known.traded_at
        trades = store.read_trades(connection, rule, chain, mint, end - length, end)
        message = cluster_broken(rule, change, trades, known)
        if message is not None:
            yield message
            known = message.reported
        elif not is_over(rule, change, known):
            # It is reported once in its hours.
            return
    if change["event"] in ("trade", "correction") and matches(rule, change):
        at = datetime.fromisoformat(change["created_at"])
        trades = store.read_trades(connection, rule, chain, mint, at - length, at + length)
        message = of_cluster(rule, change, trades, known)
        if message is not None:
            yield message


def _bodies(rules: Rules, message: WebhookMessage, data: str, at: str) -> dict[str, str]:
    change, rule = message.change, message.rule
    words = {name: change.get(column) for name, column in WORDS.items()}
    words |= {"wallets": ", ".join(message.wallets), "count": len(message.wallets)}
    members: dict[str, Any] = {"type": message.type, "timestamp": at, "rule": rule.name}
    if rule.cluster:
        members["wallets"] = list(message.wallets)
    return {name: body_of(rules.targets[name].template, members, data, words) for name in rule.targets}
