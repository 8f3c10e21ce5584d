"""What was reported, in the database, and up to where the feed was read."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any

from wallet_api.database import Connection, Row, load_sql, load_statements
from wallet_api.notify.matching import Change, Reported, ReportedCluster, WalletTrades
from wallet_api.notify.rules import Rule

_REPORTS = load_statements(__package__, "reports")
_CLUSTER = load_sql(__package__, "cluster")
# Of a wallet or a chain are all subjects from it on until before this, which is after all that they have.
_END = "\x7f"

# By the subject and the name of the rule.
AllReported = dict[tuple[str, str], Reported]
# The chain and address of a token, and the name of a rule.
ClusterKey = tuple[str, str, str]
# Of each, the clusters by their times.
AllClusters = dict[ClusterKey, dict[datetime, ReportedCluster]]


def read_place(connection: Connection) -> str | None:
    """Return the cursor up to which the feed was read; None before the first time."""
    cursor: str | None = connection.fetch_value(_REPORTS["place"])
    return cursor


def move(connection: Connection, cursor: str) -> None:
    """Save up to where the feed was read."""
    connection.execute(_REPORTS["move"], {"cursor": cursor})


def forget_place(connection: Connection) -> None:
    """Begin with what arrives from now on."""
    connection.execute(_REPORTS["forget_place"])


def read_reported(connection: Connection, subjects: Iterable[str]) -> AllReported:
    """Return what the rules reported last of these trades."""
    rows = connection.execute(_REPORTS["reported"], {"subjects": list(subjects)})
    return {
        (row["subject"], row["rule"]): Reported(row["message_id"], row["is_reported"], row["traded_at"])
        for row in rows
    }


def save_reported(connection: Connection, reported: AllReported, at: datetime) -> None:
    """Save what the rules reported of changes that arrived at a time."""
    values = reported.values()
    columns = {
        "subjects": [subject for subject, _ in reported],
        "rules": [rule for _, rule in reported],
        "message_ids": [each.message_id for each in values],
        "are_reported": [each.is_reported for each in values],
        "traded_at": [each.traded_at for each in values],
        "reported_at": [at] * len(reported),
    }
    connection.execute(_REPORTS["report"], columns)


def newest_among(connection: Connection, change: Change) -> dict[str, str]:
    """Return by rule the id of the message about the newest trade of those that a change removed."""
    rows = connection.execute(_REPORTS["newest_among"], _among(change))
    return {row["rule"]: row["message_id"] for row in rows}


def take_back(connection: Connection, change: Change, rule: str, message_id: str, at: datetime) -> None:
    """Save that a message took back what a rule reported of the trades that a change removed."""
    own = {"rule": rule, "message_id": message_id, "reported_at": at}
    connection.execute(_REPORTS["take_back"], _among(change) | own)


def _among(change: Change) -> dict[str, Any]:
    wallet = change.get("profile_wallet_address")
    first = f"{change['profile_blockchain']}|{wallet}|" if wallet else ""
    if change.get("blockchain"):
        first = f"{change['blockchain']}|"
    return {
        "first": first,
        "end": first + _END,
        "mint": None if wallet else change.get("mint"),
        "before": None if wallet else change.get("before"),
    }


def read_clusters(connection: Connection, tokens: Collection[tuple[str, str]]) -> AllClusters:
    """Return the clusters that were reported in these tokens."""
    parameters = {"chains": [chain for chain, _ in tokens], "mints": [mint for _, mint in tokens]}
    return _clusters(connection.execute(_REPORTS["clusters"], parameters))


def clusters_among(connection: Connection, change: Change) -> AllClusters:
    """Return the reported clusters that may have trades that a change of many removed."""
    wallet = change.get("profile_wallet_address")
    parameters = {
        "chain": change["profile_blockchain"] if wallet else change.get("blockchain"),
        "wallet": wallet,
        "mint": None if wallet else change.get("mint"),
        "before": None if wallet else change.get("before"),
    }
    return _clusters(connection.execute(_REPORTS["clusters_among"], parameters))


def _clusters(rows: Iterable[Row]) -> AllClusters:
    clusters: AllClusters = {}
    for row in rows:
        of_rule = clusters.setdefault((row["blockchain"], row["mint"], row["rule"]), {})
        of_rule[row["ended_at"]] = ReportedCluster(
            row["message_id"], row["is_reported"], row["ended_at"], frozenset(row["wallets"])
        )
    return clusters


def save_clusters(
    connection: Connection, clusters: Mapping[tuple[ClusterKey, datetime], ReportedCluster], at: datetime
) -> None:
    """Save what the rules reported of clusters, by changes that arrived at a time."""
    values = clusters.values()
    columns = {
        "chains": [key[0] for key, _ in clusters],
        "mints": [key[1] for key, _ in clusters],
        "rules": [key[2] for key, _ in clusters],
        "ended_at": [each.ended_at for each in values],
        "message_ids": [each.message_id for each in values],
        "are_reported": [each.is_reported for each in values],
        "wallets": [" ".join(sorted(each.wallets)) for each in values],
        "reported_at": [at] * len(clusters),
    }
    connection.execute(_REPORTS["report_clusters"], columns)


def read_wallets(
    connection: Connection,
    rule: Rule,
    token: tuple[str, str],
    since: datetime,
    at: datetime,
    until: datetime,
) -> list[WalletTrades]:
    """Return the wallets with trades in a token that a rule counts, after a time and up to another one."""
    side = rule.transaction_type
    parameters = {
        "chain": token[0],
        "mint": token[1],
        "since": since,
        "at": at,
        "until": until,
        "type": rule.type,
        "addresses": None if rule.address is None else list(rule.address),
        "wants_sells": None if side is None else side == "sell",
        "min_value": rule.min_value,
        "min_value_usd": rule.min_value_usd,
    }
    rows = connection.execute(_CLUSTER, parameters)
    return [WalletTrades(row["address"], row["last_before"], row["first_after"]) for row in rows]


def forget(connection: Connection, horizon: datetime, most: int) -> int:
    """Forget up to so many reports that are older than a time, and clusters; return how many of trades."""
    connection.execute(_REPORTS["forget_clusters"], {"horizon": horizon})
    count: int = connection.fetch_value(_REPORTS["forget"], {"horizon": horizon, "most": most}) or 0
    return count


def count_forgotten(connection: Connection) -> int:
    """Return how many reports were forgotten."""
    count: int = connection.fetch_value(_REPORTS["forgotten"]) or 0
    return count
