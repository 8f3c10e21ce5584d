"""What was reported, in the database, and up to where the feed was read."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from wallet_api.database import Connection, load_statements
from wallet_api.notify.events import Change, MessageType, TokenId, TradeChange, TradeId
from wallet_api.notify.known import Known, Reported, WalletTrades
from wallet_api.notify.rules import Rule
from wallet_api.queries.changes import unread_since

_REPORTS = load_statements(__package__, "reports")
# The feed of webhooks, which binds its cursor.
OPERATION = "notify"
# Parameters of what identifies trades and tokens.
_TRADES = ("blockchains", "wallet_addresses", "mints", "tx_signatures", "are_sells", "event_indexes")
_TOKENS = ("blockchains", "mints")


class FeedProgress(NamedTuple):
    """How far the feed was read: how old the oldest change is that was not, and when it was last read.

    `forgotten` counts what was reported so long ago that it is forgotten.
    """

    behind_seconds: float
    read_at: datetime | None
    forgotten: int


def read_place(connection: Connection) -> tuple[str | None, datetime]:
    """Return the cursor up to which the feed was read, None before the first time; and the time there."""
    row = connection.fetch_row(_REPORTS["place"])
    return row["cursor"], row["now"]


def move(connection: Connection, cursor: str) -> None:
    """Save up to where the feed was read, and that it was read now."""
    connection.execute(_REPORTS["move"], {"cursor": cursor})


def forget_place(connection: Connection) -> None:
    """Begin with what arrives from now on."""
    connection.execute(_REPORTS["forget_place"])


def read_progress(connection: Connection, now: datetime) -> FeedProgress:
    """Return how far the feed was read; before the first time, nothing is to be read."""
    row = connection.execute(_REPORTS["progress"]).fetchone()
    if row is None:
        return FeedProgress(0.0, None, 0)
    oldest_at = unread_since(connection, OPERATION, row["cursor"])
    behind = 0.0 if oldest_at is None else max(0.0, (now - oldest_at).total_seconds())
    return FeedProgress(behind, row["read_at"], row["forgotten"])


def read_known(connection: Connection, rules: Sequence[Rule], changes: Sequence[TradeChange]) -> Known:
    """Return what the rules reported of these trades, and of clusters in their tokens."""
    keys = list(dict.fromkeys(change.key for change in changes))
    columns = _columns(_TRADES, keys)
    trades = {
        (keys[row["ordinal"] - 1], row["rule"]): Reported(
            row["event_id"], row["is_reported"], row["traded_at"]
        )
        for row in connection.execute(_REPORTS["trades"], columns)
    }
    wants_first = any(rule.first_buy for rule in rules)
    first = connection.execute(_REPORTS["first_buys"], columns).fetchall() if wants_first else ()
    first_buys = frozenset(keys[row["ordinal"] - 1] for row in first)
    return _known(connection, {change.token for change in changes}, trades, first_buys)


def read_known_of_many(connection: Connection, change: Change) -> Known:
    """Return what was reported of clusters in the tokens whose trades a change of many may have removed."""
    rows = connection.execute(_REPORTS["tokens_of_clusters"], _conditions(change))
    return _known(connection, {TokenId(row["blockchain"], row["mint"]) for row in rows}, {}, frozenset())


def _known(
    connection: Connection,
    tokens: Collection[TokenId],
    trades: dict[tuple[TradeId, str], Reported],
    first_buys: frozenset[TradeId],
) -> Known:
    clusters: dict[tuple[TokenId, str], dict[datetime, Reported]] = {}
    for row in connection.execute(_REPORTS["clusters"], _columns(_TOKENS, tokens)):
        of_rule = clusters.setdefault((TokenId(row["blockchain"], row["mint"]), row["rule"]), {})
        of_rule[row["ended_at"]] = Reported(
            row["event_id"], row["is_reported"], row["ended_at"], frozenset(row["wallets"])
        )
    counted: dict[Any, Sequence[WalletTrades]] = {}

    def count_wallets(rule: Rule, token: TokenId, at: datetime, until: datetime) -> Sequence[WalletTrades]:
        # They are read once: of the ledger as it is, at any change.
        key = (rule.name, token, at, until)
        if key not in counted:
            counted[key] = _read_wallets(connection, rule, token, at, until)
        return counted[key]

    return Known(trades, clusters, first_buys, count_wallets)


def _read_wallets(
    connection: Connection, rule: Rule, token: TokenId, at: datetime, until: datetime
) -> list[WalletTrades]:
    assert rule.cluster is not None
    side = rule.transaction_type
    parameters = {
        **token._asdict(),
        "since": at - timedelta(hours=rule.cluster.hours),
        "at": at,
        "until": until,
        "type": rule.type,
        "addresses": None if rule.address is None else list(rule.address),
        "wants_sells": None if side is None else side == "sell",
        "min_value": rule.min_value,
        "min_value_usd": rule.min_value_usd,
        "min_market_cap": rule.min_market_cap,
        "max_market_cap": rule.max_market_cap,
        "exit": rule.exit,
        "first_buy": rule.first_buy,
    }
    return [WalletTrades(**row) for row in connection.execute(_REPORTS["wallets"], parameters)]


def take_back(connection: Connection, rules: Sequence[Rule], change: Change) -> dict[str, str]:
    """Save that what rules reported of the trades that a change removed is reported no longer.

    Return by rule the id of what it reported of the newest one.
    """
    parameters = _conditions(change) | {
        "rules": [rule.name for rule in rules if rule.cluster is None],
        "reported_at": change.arrived_at,
    }
    return {row["rule"]: row["event_id"] for row in connection.execute(_REPORTS["take_back"], parameters)}


def _conditions(change: Change) -> dict[str, Any]:
    """Return what a change of many removed trades by: a wallet, a token or a time."""
    columns = change.columns
    if change.kind == MessageType.WALLET_REMOVAL:
        chain, wallet = columns["profile_blockchain"], columns["profile_wallet_address"]
        return {"blockchain": chain, "wallet_address": wallet, "mint": None, "before": None}
    removed_by = {name: columns.get(name) for name in ("blockchain", "mint", "before")}
    return removed_by | {"wallet_address": None}


def save(connection: Connection, known: Known, at: datetime) -> None:
    """Save what is new in what was reported, by changes that arrived at a time."""
    if known.new_trades:
        values = known.new_trades.values()
        columns = {
            **_columns(_TRADES, [key for key, _ in known.new_trades]),
            "rules": [rule for _, rule in known.new_trades],
            "event_ids": [each.event_id for each in values],
            "are_reported": [each.is_reported for each in values],
            "traded_at": [each.at for each in values],
            "reported_at": [at] * len(values),
        }
        connection.execute(_REPORTS["report_trades"], columns)
    for (token, rule, ended_at), each in known.new_clusters.items():
        parameters = {
            **token._asdict(),
            "rule": rule,
            "ended_at": ended_at,
            "event_id": each.event_id,
            "is_reported": each.is_reported,
            "wallets": sorted(each.wallets),
            "reported_at": at,
        }
        connection.execute(_REPORTS["report_cluster"], parameters)


def _columns(names: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> dict[str, list[Any]]:
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return {name: list(column) for name, column in zip(names, columns, strict=True)}


def forget_reports(connection: Connection, horizon: datetime, most: int) -> int:
    """Forget up to so many reports that are older than a time, and clusters; return how many of trades."""
    connection.execute(_REPORTS["forget_clusters"], {"horizon": horizon})
    count: int = connection.fetch_value(_REPORTS["forget"], {"horizon": horizon, "most": most}) or 0
    return count
