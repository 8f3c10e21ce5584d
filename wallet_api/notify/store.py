"""The state of webhooks in the database: the place in the feed, what was reported, and what waits."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from wallet_api.database import Connection, Row, load_sql, load_statements
from wallet_api.notify.matching import Change, Reported, WebhookMessage
from wallet_api.notify.rules import Rule

_STORE = load_statements(__package__, "store")
_CLUSTER = load_sql(__package__, "cluster")

# By the subject and the name of the rule.
AllReported = dict[tuple[str, str], Reported]


def read_place(connection: Connection) -> str | None:
    """Return the cursor up to which the feed was read; None before the first time."""
    cursor: str | None = connection.fetch_value(_STORE["place"])
    return cursor


def move(connection: Connection, cursor: str) -> None:
    """Save up to where the feed was read."""
    connection.execute(_STORE["move"], {"cursor": cursor})


def forget_place(connection: Connection) -> None:
    """Begin with what arrives from now on."""
    connection.execute(_STORE["forget_place"])


def read_reported(connection: Connection, subjects: Iterable[str]) -> AllReported:
    """Return what the rules reported last of these subjects."""
    return _reported(connection.execute(_STORE["reported"], {"subjects": list(subjects)}).fetchall())


def read_reported_among(connection: Connection, change: Change) -> AllReported:
    """Return what is reported of the trades of a removed wallet, or of a purge, and of all clusters."""
    wallet = change.get("profile_wallet_address")
    parameters = {
        "wallet": wallet and f"{change['profile_blockchain']}|{wallet}|",
        "mint": None if wallet else change.get("mint"),
        "before": None if wallet else change.get("before"),
    }
    return _reported(connection.execute(_STORE["reported_among"], parameters).fetchall())


def _reported(rows: list[Row]) -> AllReported:
    return {
        (row["subject"], row["rule"]): Reported(row["message_id"], row["is_reported"], row["traded_at"])
        for row in rows
    }


def read_trades(
    connection: Connection, rule: Rule, chain: str, mint: str, since: datetime, until: datetime
) -> list[tuple[datetime, str]]:
    """Return the trades in a token that a rule counts, as their times and wallets, oldest first."""
    side = rule.transaction_type
    parameters = {
        "chain": chain,
        "mint": mint,
        "since": since,
        "until": until,
        "type": rule.type,
        "addresses": None if rule.address is None else list(rule.address),
        "wants_sells": None if side is None else side == "sell",
        "min_value": rule.min_value,
        "min_value_usd": rule.min_value_usd,
    }
    return [(row["created_at"], row["address"]) for row in connection.execute(_CLUSTER, parameters)]


def add(
    connection: Connection, message: WebhookMessage, bodies: Mapping[str, str], arrived_at: datetime
) -> None:
    """Save what a rule reported, and the message to each target by its name."""
    reported = message.reported
    state = {
        "message_id": reported.message_id,
        "is_reported": reported.is_reported,
        "traded_at": reported.traded_at,
    }
    named = {"rule": message.rule.name, "subjects": list(message.subjects)}
    connection.execute(_STORE["report"], state | named)
    for target, body in bodies.items():
        add_body(connection, target, message.rule.name, reported.message_id, body, arrived_at)


def add_body(
    connection: Connection, target: str, rule: str, message_id: str, body: str, arrived_at: datetime
) -> None:
    """Save a message that waits for a target."""
    own = {"target": target, "rule": rule, "message_id": message_id, "body": body, "arrived_at": arrived_at}
    connection.execute(_STORE["add"], own)


def next_message(connection: Connection, target: str) -> Row | None:
    """Return the oldest message that waits for a target."""
    return connection.execute(_STORE["next"], {"target": target}).fetchone()


def count_waiting(connection: Connection, target: str, most: int) -> int:
    """Return how many messages wait for a target, `most` if there are more."""
    count: int = connection.fetch_value(_STORE["waiting"], {"target": target, "most": most})
    return count


def delivered(connection: Connection, target: str, message: Row, now: datetime) -> None:
    """Remove a message that was received, and count it."""
    delay = (now - message["arrived_at"]).total_seconds()
    with connection.transaction():
        connection.execute(_STORE["remove"], {"place": message["place"]})
        connection.execute(_STORE["delivered"], {"target": target, "now": now, "delay_seconds": delay})


def failed(connection: Connection, target: str, failure: str, now: datetime) -> Row:
    """Count a try that failed; return how many in a row have, and since when."""
    parameters = {"target": target, "failure": failure, "now": now}
    row = connection.execute(_STORE["failed"], parameters).fetchone()
    assert row is not None
    return row


def pause(connection: Connection, target: str, now: datetime) -> None:
    """Send a target nothing until it is resumed."""
    connection.execute(_STORE["pause"], {"target": target, "now": now})


def resume(connection: Connection, target: str, *, drop: bool) -> int | None:
    """Send a target again what waits, or drop that; return how many messages. None without such a target."""
    with connection.transaction():
        if drop:
            taken = connection.execute(_STORE["collapse"], {"target": target}).fetchone()
            assert taken is not None
            count: int = taken["count"]
        else:
            count = count_waiting(connection, target, 10**9)
        parameters = {"target": target, "dropped": count if drop else 0}
        found = connection.execute(_STORE["resume"], parameters).rowcount
    return count if found or count else None


def collapse(connection: Connection, target: str) -> Row:
    """Take all messages that wait for a target, and count them as held back."""
    taken = connection.execute(_STORE["collapse"], {"target": target}).fetchone()
    assert taken is not None
    connection.execute(_STORE["held_back"], {"target": target, "count": taken["count"]})
    return taken


def standing(connection: Connection, target: str) -> Row | None:
    """Return whether and since when a target fails or is paused."""
    return connection.execute(_STORE["paused"], {"target": target}).fetchone()


def status(connection: Connection) -> list[dict[str, Any]]:
    """Return the state of all targets."""
    return connection.execute(_STORE["status"]).fetchall()
