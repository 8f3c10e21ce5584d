"""What a rule reports of a change of the feed. Nothing here reads or stores."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from wallet_api.notify.messages import message_id
from wallet_api.notify.rules import Rule

# A row of the feed, by its columns.
Change = Mapping[str, Any]
_AMOUNTS = (("min_value", "value"), ("min_value_usd", "value_usd"))
_VERSION = ("value", "token_amount", "created_at")


@dataclass(frozen=True)
class Reported:
    """What a rule reported last of a trade. `is_reported` is false once a message took it back."""

    message_id: str
    is_reported: bool
    traded_at: datetime


@dataclass(frozen=True)
class ReportedCluster:
    """What a rule reported last of a cluster: when it was one, and its wallets, maybe with some it had."""

    message_id: str
    is_reported: bool
    ended_at: datetime
    wallets: frozenset[str]


@dataclass(frozen=True)
class WebhookMessage:
    """What a rule reports of a change: of a trade, of many, or of a cluster with these wallets."""

    rule: Rule
    type: str
    id: str
    change: Change
    wallets: Sequence[str] = ()
    ended_at: datetime | None = None


@dataclass(frozen=True)
class WalletTrades:
    """A wallet with trades around a time: when the last one up to it was, and the first one after it."""

    address: str
    last_before: datetime | None
    first_after: datetime | None


def subject_of(change: Change) -> str:
    """Return what identifies a trade."""
    return "|".join(
        (
            *(change["profile_blockchain"], change["profile_wallet_address"], change["mint"]),
            *(change["tx_signature"], change["transaction_type"], str(change["event_index"])),
        )
    )


def matches(rule: Rule, change: Change) -> bool:
    """Return whether a trade has all that the rule requires."""
    return (
        may_be_of(rule, change["profile_blockchain"], change["mint"])
        and (rule.type is None or change["profile_type"] == rule.type)
        and (rule.address is None or change["profile_wallet_address"] in rule.address)
        and (rule.transaction_type is None or change["transaction_type"] == rule.transaction_type)
        and all(_is_least(getattr(rule, least), change[name]) for least, name in _AMOUNTS)
    )


def may_be_of(rule: Rule, chain: str, mint: str) -> bool:
    """Return whether the rule is about a token."""
    return rule.chain in (None, chain) and (rule.mint is None or mint in rule.mint)


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
    if type is None:
        return None
    version = (str(change.get(name)) for name in _VERSION)
    # With the one before, so that what is reported again after it was taken back is another message.
    before = "" if reported is None else reported.message_id
    id = message_id(rule.name, type, subject_of(change), *version, before)
    return WebhookMessage(rule, type, id, change)


def of_many(rule: Rule, change: Change, newest: str) -> WebhookMessage:
    """Return what a rule reports of the removal of trades, of which the newest was reported by this id."""
    given = ("profile_blockchain", "profile_wallet_address", "blockchain", "mint", "before")
    removed = (str(change.get(name)) for name in given)
    type = str(change["event"])
    return WebhookMessage(rule, type, message_id(rule.name, type, *removed, newest), change)


def of_cluster(
    rule: Rule, type: str, change: Change, ended_at: datetime, wallets: Iterable[str], before: str
) -> WebhookMessage:
    """Return that there is a cluster in a token, or none any more; `before` is the id of the one before."""
    token = (change["profile_blockchain"], change["mint"])
    id = message_id(rule.name, type, *token, ended_at.isoformat(), before)
    return WebhookMessage(rule, type, id, change, sorted(wallets), ended_at)


def cluster_around(
    rule: Rule, at: datetime, wallets: Sequence[WalletTrades], reported_at: Sequence[datetime]
) -> tuple[datetime, list[str]] | None:
    """Return when there first is a cluster with a time in its hours, and its wallets; None without one.

    It is none within the hours of one that was reported.
    """
    assert rule.cluster is not None
    length = timedelta(hours=rule.cluster.hours)
    times = ({each.last_before for each in wallets} & {at}) | {each.first_after for each in wallets}
    ends = (time for time in times if time is not None and time < at + length)
    free = (end for end in ends if all(abs(end - each) >= length for each in reported_at))
    for ended_at in sorted(free):
        within = [
            each.address
            for each in wallets
            if (each.last_before is not None and each.last_before > ended_at - length)
            or (each.first_after is not None and each.first_after <= ended_at)
        ]
        if len(within) >= rule.cluster.wallets:
            return ended_at, within
    return None
