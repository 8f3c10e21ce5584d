"""What a rule reports of clusters: several wallets in one token within hours. Nothing here stores."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from wallet_api.notify.events import Change, MessageType, RuleReport, TokenId, TradeChange
from wallet_api.notify.known import Known, Reported, WalletTrades
from wallet_api.notify.messages import event_id
from wallet_api.notify.rules import Cluster, Rule


def clusters_of_trade(rule: Rule, change: TradeChange, known: Known, *, counts: bool) -> Iterator[RuleReport]:
    """Yield which clusters in the token of a trade are none any more, and whether it is in a new one."""
    cluster, token = _cluster_of(rule), change.token
    if not rule.may_be_of(*token):
        return
    if not (counts and change.kind == MessageType.TRADE):
        # A new trade that counts breaks none.
        yield from _broken(rule, change, token, known)
    if not counts:
        return
    near = [
        each
        for each in known.clusters_of(token, rule.name).values()
        if each.is_reported and abs(change.traded_at - each.at) < cluster.length
    ]
    for each in near:
        # One that may be in it from now on.
        own = each.wallets | {change.key.wallet_address}
        known.set_cluster(token, rule.name, replace(each, wallets=own))
    if not near:
        # It is reported once in its hours.
        yield from _found(rule, change, token, known, change.traded_at)


def ended_clusters(rule: Rule, change: Change, known: Known) -> Iterator[RuleReport]:
    """Yield which clusters are none any more since a change of many."""
    for token in [token for token, name in known.clusters if name == rule.name]:
        # The message is about this token, whatever the change was about.
        own = {**change.columns, "profile_blockchain": token.blockchain, "mint": token.mint}
        yield from _broken(rule, replace(change, columns=own), token, known)


def _broken(rule: Rule, change: Change, token: TokenId, known: Known) -> Iterator[RuleReport]:
    """Yield which clusters of a token are none any more, and what was in their hours."""
    cluster = _cluster_of(rule)
    reported = [each for each in known.clusters_of(token, rule.name).values() if each.is_reported]
    for each in sorted(reported, key=lambda each: each.at):
        wallets = known.count_wallets(rule, token, each.at, each.at)
        addresses = frozenset(one.address for one in wallets)
        if _is_one(cluster, wallets):
            known.set_cluster(token, rule.name, replace(each, wallets=each.wallets | addresses))
            continue
        broken = replace(each, is_reported=False, wallets=addresses)
        yield _report(rule, change, token, known, broken)
        for at in (each.at - cluster.length, each.at):
            yield from _found(rule, change, token, known, at)


def _found(rule: Rule, change: Change, token: TokenId, known: Known, at: datetime) -> Iterator[RuleReport]:
    """Yield the first cluster that has a time in its hours, and is in those of no other one."""
    cluster = _cluster_of(rule)
    around = known.count_wallets(rule, token, at, at + cluster.length)
    taken = [each.at for each in known.clusters_of(token, rule.name).values() if each.is_reported]
    for ended_at in _ends(cluster, at, around, taken):
        wallets = [each for each in around if _is_within(cluster, each, ended_at)]
        if cluster.transactions and len(wallets) >= cluster.wallets:
            wallets = list(known.count_wallets(rule, token, ended_at, ended_at))
        if _is_one(cluster, wallets):
            addresses = frozenset(each.address for each in wallets)
            yield _report(rule, change, token, known, Reported("", True, ended_at, addresses))
            return


def _ends(
    cluster: Cluster, at: datetime, around: Sequence[WalletTrades], taken: Sequence[datetime]
) -> list[datetime]:
    """Return when a cluster with a time in its hours may end, outside the hours of others."""
    times = {at, *(each.last_before for each in around), *(each.first_after for each in around)}
    ends = [time for time in times if time is not None and time < at + cluster.length]
    return sorted(end for end in ends if all(abs(end - each) >= cluster.length for each in taken))


def _is_within(cluster: Cluster, wallet: WalletTrades, ended_at: datetime) -> bool:
    return (wallet.last_before is not None and wallet.last_before > ended_at - cluster.length) or (
        wallet.first_after is not None and wallet.first_after <= ended_at
    )


def _is_one(cluster: Cluster, wallets: Sequence[WalletTrades]) -> bool:
    transactions = {each.first_transaction for each in wallets}
    return len(wallets) >= cluster.wallets and len(transactions) >= (cluster.transactions or 0)


def _report(rule: Rule, change: Change, token: TokenId, known: Known, cluster: Reported) -> RuleReport:
    """Return that there is a cluster, or none any more, and set it as known."""
    before = known.clusters_of(token, rule.name).get(cluster.at)
    kind = MessageType.CLUSTER if cluster.is_reported else MessageType.CLUSTER_BROKEN
    earlier = "" if before is None else before.event_id
    id = event_id(rule.name, kind, *token, cluster.at.isoformat(), earlier)
    known.set_cluster(token, rule.name, replace(cluster, event_id=id))
    return RuleReport(rule, kind, id, change, sorted(cluster.wallets), cluster.at)


def _cluster_of(rule: Rule) -> Cluster:
    assert rule.cluster is not None
    return rule.cluster
