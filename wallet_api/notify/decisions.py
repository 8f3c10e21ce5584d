"""What the rules report of a change, by what they reported before. Nothing here reads or stores."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from wallet_api.notify import clusters
from wallet_api.notify.events import REPORTED, Change, MessageType, RuleReport, TradeChange
from wallet_api.notify.known import Known, Reported
from wallet_api.notify.messages import event_id
from wallet_api.notify.rules import Rule

_VERSION = ("value", "token_amount", "created_at")
_REMOVED = ("profile_blockchain", "profile_wallet_address", "blockchain", "mint", "before")


def decide_trade(rules: Sequence[Rule], change: TradeChange, known: Known) -> Iterator[RuleReport]:
    """Yield what the rules report of a trade, its correction or its removal, in their order."""
    for rule in rules:
        if rule.cluster is not None:
            yield from clusters.clusters_of_trade(rule, change, known, counts=matches(rule, change, known))
            continue
        report = _of_trade(rule, change, known)
        if report is not None:
            reported = Reported(report.id, report.kind in REPORTED, change.traded_at)
            known.set_trade(change.key, rule.name, reported)
            yield report


def _of_trade(rule: Rule, change: TradeChange, known: Known) -> RuleReport | None:
    """Return what a rule reports of a trade; None if nothing.

    What was reported is corrected, also if it no longer matches. What was not is a trade, once it matches.
    """
    reported = known.trades.get((change.key, rule.name))
    was_reported = reported is not None and reported.is_reported
    if change.kind == MessageType.REMOVAL:
        kind = MessageType.REMOVAL if was_reported else None
    elif was_reported:
        kind = MessageType.CORRECTION
    else:
        kind = MessageType.TRADE if matches(rule, change, known) else None
    if kind is None:
        return None
    version = (change.columns.get(name) for name in _VERSION)
    # With the one before, so that what is reported again after it was taken back is another message.
    before = "" if reported is None else reported.event_id
    return RuleReport(rule, kind, event_id(rule.name, kind, *change.key, *version, before), change)


def matches(rule: Rule, change: TradeChange, known: Known) -> bool:
    """Return whether a trade has all that the rule requires; one that was removed has not."""
    key, columns = change.key, change.columns
    if change.kind == MessageType.REMOVAL or not rule.may_be_of(key.blockchain, key.mint):
        return False
    return (
        (rule.type is None or columns["profile_type"] == rule.type)
        and (rule.address is None or key.wallet_address in rule.address)
        and (rule.transaction_type is None or columns["transaction_type"] == rule.transaction_type)
        and _is_within(rule.min_value, change.amount("value"), None)
        and _is_within(rule.min_value_usd, change.amount("value_usd"), None)
        and _is_within(rule.min_market_cap, change.market_cap, rule.max_market_cap)
        and (not rule.exit or (key.is_sell and change.amount("holdings_after_token_amount") == 0))
        and (not rule.first_buy or key in known.first_buys)
    )


def _is_within(least: Decimal | None, amount: Decimal | None, most: Decimal | None) -> bool:
    if least is None and most is None:
        return True
    return amount is not None and (least is None or amount >= least) and (most is None or amount <= most)


def rules_of_many(rules: Sequence[Rule], change: Change) -> list[Rule]:
    """Return the rules that a change of many is about.

    A wallet that has another type left the wallets that a rule of its type is about, and no others.
    """
    is_retyped = change.columns.get("is_retyped")
    return [rule for rule in rules if not is_retyped or rule.type == change.columns["profile_type"]]


def decide_many(
    rules: Sequence[Rule], change: Change, known: Known, taken_back: Mapping[str, str]
) -> Iterator[RuleReport]:
    """Yield what the rules report of a change of many.

    By rule, `taken_back` has the id of what was reported of the newest trade that it removed.
    """
    removed = [change.columns.get(name) for name in _REMOVED]
    for rule in rules:
        if rule.cluster is not None:
            yield from clusters.ended_clusters(rule, change, known)
        elif rule.name in taken_back:
            id = event_id(rule.name, change.kind, *removed, taken_back[rule.name])
            yield RuleReport(rule, change.kind, id, change)
