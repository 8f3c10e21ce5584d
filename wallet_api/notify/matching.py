"""What a rule reports of a change of the feed. Nothing here reads or stores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from wallet_api.notify.messages import message_id
from wallet_api.notify.rules import Cluster, Rule

# A row of the feed, by its columns.
Change = Mapping[str, Any]
_AMOUNTS = (("min_value", "value"), ("min_value_usd", "value_usd"))
_VERSION = ("event", "value", "token_amount", "created_at", "before")


@dataclass(frozen=True)
class Reported:
    """What a rule reported last of a subject. `is_reported` is false once a message took it back."""

    message_id: str
    is_reported: bool
    traded_at: datetime


@dataclass(frozen=True)
class WebhookMessage:
    """What a rule reports of a change, and the subjects of which that is known then."""

    rule: Rule
    type: str
    subjects: Sequence[str]
    reported: Reported
    change: Change
    wallets: Sequence[str] = ()


def subject_of(change: Change) -> str:
    """Return what identifies a trade."""
    return "|".join(
        (
            *(change["profile_blockchain"], change["profile_wallet_address"], change["mint"]),
            *(change["tx_signature"], change["transaction_type"], str(change["event_index"])),
        )
    )


def cluster_subject(chain: str, mint: str) -> str:
    """Return what identifies the clusters of a token."""
    return f"cluster|{chain}|{mint}"


def matches(rule: Rule, change: Change) -> bool:
    """Return whether a trade has all that the rule requires."""
    return (
        (rule.chain is None or change["profile_blockchain"] == rule.chain)
        and (rule.type is None or change["profile_type"] == rule.type)
        and (rule.address is None or change["profile_wallet_address"] in rule.address)
        and (rule.mint is None or change["mint"] in rule.mint)
        and (rule.transaction_type is None or change["transaction_type"] == rule.transaction_type)
        and all(_is_least(getattr(rule, least), change[name]) for least, name in _AMOUNTS)
    )


def _is_least(least: Decimal | None, amount: str | None) -> bool:
    return least is None or (amount is not None and Decimal(amount) >= least)


def of_trade(rule: Rule, change: Change, reported: Reported | None) -> WebhookMessage | None:
    """Return what a rule reports of a trade, a correction or the removal of a trade; None if nothing.

    What was reported is corrected, also if it no longer matches. What was not is a trade, once it matches.
    """
    was_reported = reported is not None and reported.is_reported
    if change["event"] == "removal":
        type = "removal" if was_reported else None
    elif was_reported:
        type = "correction"
    else:
        type = "trade" if matches(rule, change) else None
    return None if type is None else _message(rule, type, [subject_of(change)], change, reported)


def of_many(rule: Rule, change: Change, reported: Mapping[str, Reported]) -> WebhookMessage | None:
    """Return what a rule reports of the removal of all trades that it reported of."""
    if not reported:
        return None
    newest = max(reported.values(), key=lambda one: one.traded_at)
    return _message(rule, str(change["event"]), sorted(reported), change, newest)


def of_cluster(
    rule: Rule, change: Change, trades: Sequence[tuple[datetime, str]], reported: Reported | None
) -> WebhookMessage | None:
    """Return the first cluster that the trade of a change is in; None without one.

    `trades` are the times and wallets of those that the rule counts, within its hours before and after.
    """
    cluster = rule.cluster
    assert isinstance(cluster, Cluster)
    at, length = datetime.fromisoformat(change["created_at"]), timedelta(hours=cluster.hours)
    for end in sorted({time for time, _ in trades if at <= time < at + length}):
        wallets = sorted({wallet for time, wallet in trades if end - length < time <= end})
        if len(wallets) >= cluster.wallets:
            return _of_token(rule, "cluster", {**change, "created_at": end.isoformat()}, wallets, reported)
    return None


def cluster_broken(
    rule: Rule, change: Change, trades: Sequence[tuple[datetime, str]], reported: Reported
) -> WebhookMessage | None:
    """Return that a cluster that was reported is none any more; None if it still is.

    `trades` are those of its hours.
    """
    cluster = rule.cluster
    assert isinstance(cluster, Cluster)
    wallets = sorted({wallet for _, wallet in trades})
    if len(wallets) < cluster.wallets:
        return _of_token(rule, "cluster_broken", change, wallets, reported)
    return None


def is_over(rule: Rule, change: Change, reported: Reported) -> bool:
    """Return whether the hours after a cluster have passed at a trade, so that the next one is reported."""
    assert rule.cluster is not None
    at = change.get("created_at")
    return at is not None and datetime.fromisoformat(at) - reported.traded_at >= timedelta(
        hours=rule.cluster.hours
    )


def _of_token(
    rule: Rule, type: str, change: Change, wallets: Sequence[str], reported: Reported | None
) -> WebhookMessage:
    subject = cluster_subject(change["profile_blockchain"], change["mint"])
    return _message(rule, type, [subject], change, reported, wallets)


def _message(
    rule: Rule,
    type: str,
    subjects: Sequence[str],
    change: Change,
    reported: Reported | None,
    wallets: Sequence[str] = (),
) -> WebhookMessage:
    version = [str(change.get(name)) for name in _VERSION]
    # With the one before, so that what is reported again after it was taken back is another message.
    id = message_id(rule.name, type, *subjects, *version, "" if reported is None else reported.message_id)
    is_reported = type in ("trade", "correction", "cluster")
    # A cluster that broke stays where it was; a wallet that was removed has no time of a trade.
    keeps = type == "cluster_broken" or change.get("created_at") is None
    traded_at = reported.traded_at if reported and keeps else datetime.fromisoformat(change["created_at"])
    known = Reported(id, is_reported, traded_at)
    return WebhookMessage(rule, type, subjects, known, change, wallets)
