"""What the rules report of a page of changes, by what they reported before."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from wallet_api.database import Connection
from wallet_api.notify import reports
from wallet_api.notify.matching import (
    Change,
    Reported,
    ReportedCluster,
    WalletTrades,
    WebhookMessage,
    cluster_around,
    matches,
    may_be_of,
    of_cluster,
    of_many,
    of_trade,
    subject_of,
)
from wallet_api.notify.rules import Rule, Rules

_OF_MANY = ("wallet_removal", "purge")
_OF_TRADES = ("trade", "correction")
_IS_REPORTED = (*_OF_TRADES, "cluster")


class Page:
    """What was reported of some changes before, and is by now. To be saved at its end."""

    def __init__(self, connection: Connection, rules: Rules, changes: Sequence[Change]) -> None:
        self._connection, self._rules = connection, rules
        trades = [change for change in changes if change["event"] not in _OF_MANY]
        self._subjects = {subject_of(change) for change in trades}
        self._tokens = {(change["profile_blockchain"], change["mint"]) for change in trades}
        self._wallets: dict[Any, list[WalletTrades]] = {}
        self._load()

    def _load(self) -> None:
        self._reported = reports.read_reported(self._connection, self._subjects)
        self._clusters = reports.read_clusters(self._connection, self._tokens)
        self._new: reports.AllReported = {}
        self._new_clusters: dict[tuple[reports.ClusterKey, datetime], ReportedCluster] = {}

    def save(self) -> None:
        """Save what is reported by now."""
        if self._new:
            reports.save_reported(self._connection, self._new, self._at)
        if self._new_clusters:
            reports.save_clusters(self._connection, self._new_clusters, self._at)

    def report(self, change: Change) -> Iterator[WebhookMessage]:
        """Yield what the rules report of the next change, in their order."""
        self._at = datetime.fromisoformat(change["arrived_at"])
        if change["event"] in _OF_MANY:
            # Where all that was reported is looked up, that of this page has to be.
            self.save()
            self._load()
            yield from self._of_many(change)
            self.save()
            self._load()
            return
        subject = subject_of(change)
        for rule in self._rules.rules:
            if rule.cluster is not None:
                yield from self._of_token(rule, change)
                continue
            message = of_trade(rule, change, self._reported.get((subject, rule.name)))
            if message is not None:
                traded_at = datetime.fromisoformat(change["created_at"])
                known = Reported(message.id, message.type in _IS_REPORTED, traded_at)
                self._reported[subject, rule.name] = self._new[subject, rule.name] = known
                yield message

    def _of_many(self, change: Change) -> Iterator[WebhookMessage]:
        newest = reports.newest_among(self._connection, change)
        clusters = reports.clusters_among(self._connection, change)
        of_tokens = reports.read_clusters(self._connection, {(chain, mint) for chain, mint, _ in clusters})
        for rule in self._rules.rules:
            if change.get("is_retyped") and rule.type != change["profile_type"]:
                # It left the wallets that a rule of its type is about, and no others.
                continue
            if rule.cluster is None and rule.name in newest:
                message = of_many(rule, change, newest[rule.name])
                reports.take_back(self._connection, change, rule.name, message.id, self._at)
                yield message
            for (chain, mint, name), known in clusters.items() if rule.cluster else ():
                if name == rule.name:
                    of_token = {**change, "profile_blockchain": chain, "mint": mint}
                    yield from self._broken(rule, of_token, of_tokens[chain, mint, name], known)

    def _of_token(self, rule: Rule, change: Change) -> Iterator[WebhookMessage]:
        """Yield which clusters in the token of a trade are none any more, and whether it is in a new one."""
        assert rule.cluster is not None
        token = (change["profile_blockchain"], change["mint"])
        if not may_be_of(rule, *token):
            return
        known = self._clusters.setdefault((*token, rule.name), {})
        counts = change["event"] in _OF_TRADES and matches(rule, change)
        if not (counts and change["event"] == "trade"):
            # A new trade that counts breaks none.
            yield from self._broken(rule, change, known, known)
        if not counts:
            return
        at, length = datetime.fromisoformat(change["created_at"]), timedelta(hours=rule.cluster.hours)
        near = [each for each in known.values() if each.is_reported and abs(at - each.ended_at) < length]
        for each in near:
            # One that may be in it from now on.
            own = each.wallets | {change["profile_wallet_address"]}
            self._keep(rule, token, replace(each, wallets=own), known)
        if near:
            # It is reported once in its hours.
            return
        yield from self._found(rule, change, at, known)

    def _found(
        self, rule: Rule, change: Change, at: datetime, known: dict[datetime, ReportedCluster]
    ) -> Iterator[WebhookMessage]:
        """Yield the first cluster that has a time in its hours, and is in those of no other one."""
        assert rule.cluster is not None
        token = (change["profile_blockchain"], change["mint"])
        wallets = self._counted(rule, token, at, at + timedelta(hours=rule.cluster.hours))
        found = cluster_around(
            rule, at, wallets, [each.ended_at for each in known.values() if each.is_reported]
        )
        if found is not None:
            yield self._changed(rule, "cluster", change, *found, known)

    def _broken(
        self,
        rule: Rule,
        change: Change,
        known: dict[datetime, ReportedCluster],
        checked: Collection[datetime],
    ) -> Iterator[WebhookMessage]:
        """Yield which of the clusters of a token are none any more, and what was in their hours."""
        assert rule.cluster is not None
        token = (change["profile_blockchain"], change["mint"])
        for each in [known[ended_at] for ended_at in sorted(checked) if known[ended_at].is_reported]:
            wallets = [one.address for one in self._counted(rule, token, each.ended_at, each.ended_at)]
            if len(wallets) >= rule.cluster.wallets:
                self._keep(rule, token, replace(each, wallets=each.wallets.union(wallets)), known)
                continue
            yield self._changed(rule, "cluster_broken", change, each.ended_at, wallets, known)
            for at in (each.ended_at - timedelta(hours=rule.cluster.hours), each.ended_at):
                yield from self._found(rule, change, at, known)

    def _changed(
        self,
        rule: Rule,
        type: str,
        change: Change,
        ended_at: datetime,
        wallets: Sequence[str],
        known: dict[datetime, ReportedCluster],
    ) -> WebhookMessage:
        before = known[ended_at].message_id if ended_at in known else ""
        message = of_cluster(rule, type, change, ended_at, wallets, before)
        token = (change["profile_blockchain"], change["mint"])
        is_reported = message.type in _IS_REPORTED
        self._keep(rule, token, ReportedCluster(message.id, is_reported, ended_at, frozenset(wallets)), known)
        return message

    def _keep(
        self,
        rule: Rule,
        token: tuple[str, str],
        cluster: ReportedCluster,
        known: dict[datetime, ReportedCluster],
    ) -> None:
        if known.get(cluster.ended_at) != cluster:
            known[cluster.ended_at] = self._new_clusters[(*token, rule.name), cluster.ended_at] = cluster

    def _counted(
        self, rule: Rule, token: tuple[str, str], at: datetime, until: datetime
    ) -> Sequence[WalletTrades]:
        """Return the wallets around a time. They are read once: of the ledger as it is, at any change."""
        assert rule.cluster is not None
        key = (rule.name, token, at, until)
        if key not in self._wallets:
            since = at - timedelta(hours=rule.cluster.hours)
            self._wallets[key] = reports.read_wallets(self._connection, rule, token, since, at, until)
        return self._wallets[key]
