"""The operations around the five: how each is requested, and the same figures of the raw trades by SQL.

To measure another operation, add it to OPERATIONS.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from tests.benchmarks import ledger_world

Row = dict[str, Any]
Figures = Iterable[tuple[Any, ...]]

GROUP = {"blockchain": ledger_world.BLOCKCHAIN, "type": ledger_world.TYPE}
PAGE = 50


@dataclass(frozen=True)
class Operation:
    """A request, and the figures of its data as rows.

    `sums` is SQL over the tables `trades`, `wallets` and `tokens`, which PostgreSQL and DuckDB both run. It
    returns the first columns of these rows; `walked`, for PostgreSQL, returns all of them. Both may name
    {now} and, with an address among the arguments, {wallet_id}. With `flat` the response has the same size in
    a ledger of any size, so that its time has to be the same as well.
    """

    name: str
    path: str
    arguments: Mapping[str, Any]
    figures: Callable[[Row], Figures]
    sums: str
    walked: str | None = None
    flat: bool = True
    calls: int | None = field(default=None, kw_only=True)


def _within(window: str) -> str:
    return f"created_at > TIMESTAMPTZ '{{now}}' - INTERVAL '{window}' AND created_at <= TIMESTAMPTZ '{{now}}'"


_IN_GROUP = "wallets.blockchain = '{blockchain}' AND wallets.type = '{type}'".format(**GROUP)
_STATE = """
walk(ROW(0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL)::walk_state, is_sell, token_amount, value, value_usd,
     extract(epoch FROM created_at), token_name)
OVER (PARTITION BY wallet_id, token_id ORDER BY created_at, is_sell, tx_signature, event_index) AS state
"""
_REALIZED = "round_half_up(COALESCE(sum((state).realized), 0), 9)"
_WALLET_STEPPED = f"(SELECT trades.*, {_STATE} FROM trades WHERE wallet_id = {{wallet_id}}) AS trades"
_BOTH_SIDES = """
count(*) FILTER (WHERE NOT is_sell) AS buys, count(*) FILTER (WHERE is_sell) AS sells,
COALESCE(sum(value) FILTER (WHERE NOT is_sell), 0) AS bought,
COALESCE(sum(value) FILTER (WHERE is_sell), 0) AS sold
"""

_LOOKUP = "SELECT blockchain, type FROM wallets WHERE address = '{address}'"

_NEWEST_FIRST = """
ORDER BY created_at DESC, is_sell DESC, tx_signature DESC, event_index DESC, mint DESC, address DESC
"""
_FEED_COLUMNS = "tx_signature, event_index, is_sell, mint, address, value, token_amount"


def _feed(condition: str) -> str:
    return f"""
SELECT {_FEED_COLUMNS}, total
  FROM (SELECT trades.*, wallets.address, tokens.mint, count(*) OVER () AS total
          FROM trades
          JOIN wallets USING (wallet_id)
          JOIN tokens USING (token_id)
         WHERE {condition}) AS trades
{_NEWEST_FIRST}
 LIMIT {PAGE}
"""


def _feed_with_holdings(condition: str) -> str:
    return f"""
WITH traded AS (
SELECT trades.*, wallets.address, tokens.mint, count(*) OVER () AS total
  FROM trades
  JOIN wallets USING (wallet_id)
  JOIN tokens USING (token_id)
 WHERE {condition}),
page AS (SELECT * FROM traded {_NEWEST_FIRST} LIMIT {PAGE}),
stepped AS (
SELECT trades.*, {_STATE}
  FROM trades
 WHERE (wallet_id, token_id) IN (SELECT wallet_id, token_id FROM page))
SELECT {", ".join(f"page.{column}" for column in _FEED_COLUMNS.split(", "))}, page.total,
       (state).quantity, (state).peak
  FROM page
  JOIN stepped USING (wallet_id, token_id, tx_signature, is_sell, event_index)
"""


def _feed_figures(total: Callable[[Row], int]) -> Callable[[Row], Figures]:
    def figures(data: Row) -> Figures:
        for row in data["transactions"]:
            held = row["holdings_after"]
            yield (
                row["tx_signature"],
                row["event_index"],
                row["transaction_type"] == "sell",
                # The rows of one token do not repeat it.
                row.get("mint", ledger_world.HOT_MINT),
                row["profile"]["wallet_address"],
                row["value"],
                row["token_amount"],
                total(data),
                held["token_amount"],
                held["token_amount_peak"],
            )

    return figures


_COUNT = f"""
SELECT count(*) AS trades, count(DISTINCT wallet_id) AS wallets
  FROM trades
  JOIN wallets USING (wallet_id)
 WHERE {_IN_GROUP} AND {_within("1 day")}
"""


def _calendar(trades: str, *more: str) -> str:
    columns = ", ".join((_BOTH_SIDES, "count(DISTINCT token_id) AS tokens", *more))
    return f"""
SELECT (created_at AT TIME ZONE 'UTC')::date AS day, {columns}
  FROM {trades}
 WHERE wallet_id = {{wallet_id}}
 GROUP BY day
"""


def _calendar_figures(data: Row) -> Figures:
    names = ("buy_txn", "sell_txn", "total_buy", "total_sell", "tokens_traded", "realized_pnl")
    for month in data["months"]:
        for day in month["dates"]:
            yield (date.fromisoformat(day["date"]), *(day[name] for name in names))


_CONNECTIONS = f"""
WITH own AS (SELECT DISTINCT token_id FROM trades WHERE wallet_id = {{wallet_id}} AND {_within("30 days")})
SELECT address, count(DISTINCT token_id) AS tokens,
       CAST(extract(epoch FROM max(created_at)) AS bigint) AS last_at
  FROM trades
  JOIN own USING (token_id)
  JOIN wallets USING (wallet_id)
 WHERE wallet_id <> {{wallet_id}} AND {_within("30 days")}
 GROUP BY address
"""


def _connections_figures(data: Row) -> Figures:
    for row in data["connections"]:
        last_at = datetime.fromisoformat(row["last_shared_at"])
        yield row["wallet_address"], row["shared_tokens_count"], int(last_at.timestamp())


def _tracker(trades: str, *more: str) -> str:
    return f"""
SELECT mint, {", ".join((_BOTH_SIDES, *more))}
  FROM {trades}
  JOIN tokens USING (token_id)
 WHERE wallet_id = {{wallet_id}} AND {_within("7 days")}
 GROUP BY mint
 ORDER BY max(created_at) DESC, mint
 LIMIT 1000
"""


def _tracker_figures(data: Row) -> Figures:
    names = ("mint", "buy_txn", "sell_txn", "buy_value", "sell_value", "realized_pnl")
    return (tuple(row[name] for name in names) for row in data["period_history_tokens"])


def _leaderboard(trades: str, *more: str) -> str:
    return f"""
SELECT address, {", ".join(("count(*) AS trades", "sum(value) AS volume", *more))}
  FROM {trades}
 WHERE {_within("30 days")}
 GROUP BY address
"""


_GROUP_TRADES = f"(SELECT * FROM trades JOIN wallets USING (wallet_id) WHERE {_IN_GROUP}) AS trades"
_GROUP_STEPPED = f"""
(SELECT trades.*, wallets.address, {_STATE}
   FROM trades
   JOIN wallets USING (wallet_id)
  WHERE {_IN_GROUP}) AS trades
"""


def _leaderboard_figures(data: Row) -> Figures:
    for entry in data["leaderboard"]:
        stats = entry["period_stats"]
        yield entry["wallet"], stats["total_txn"], stats["total_volume"], stats["realized_pnl"]


_IN_HOT = f"wallets.blockchain = '{ledger_world.BLOCKCHAIN}' AND tokens.mint = '{ledger_world.HOT_MINT}'"
_HOT_TRADES = f"""
(SELECT trades.*, wallets.address
   FROM trades
   JOIN wallets USING (wallet_id)
   JOIN tokens USING (token_id)
  WHERE {_IN_HOT}) AS trades
"""
_HOT_STEPPED = f"(SELECT trades.*, {_STATE} FROM {_HOT_TRADES}) AS trades"


def _traders(trades: str, *more: str) -> str:
    return f"SELECT address, {', '.join((_BOTH_SIDES, *more))} FROM {trades} GROUP BY address"


def _traders_figures(data: Row) -> Figures:
    names = ("buy_count", "sell_count", "buy", "sell", "realized_pnl")
    for trader in data["traders"]:
        stats = trader["trader_stats"]
        yield trader["profile"]["wallet_address"], *(stats[name] for name in names)


def _holders_figures(data: Row) -> Figures:
    yield (data["total"],)


def _wallet(address: str) -> Mapping[str, str]:
    return {"blockchain": ledger_world.BLOCKCHAIN, "address": address}


MEDIAN = _wallet(ledger_world.MEDIAN)
HOT = {"blockchain": ledger_world.BLOCKCHAIN, "mint": ledger_world.HOT_MINT}
_LAST_HOUR = f"{_IN_GROUP} AND {_within('1 hour')}"
_TRACKER_STATEMENTS = (_tracker("trades"), _tracker(_WALLET_STEPPED, _REALIZED))

OPERATIONS = (
    Operation(
        "lookup",
        "/v1/wallets/lookup",
        {"address": ledger_world.MEDIAN},
        lambda data: ((match["blockchain"], match["type"]) for match in data["matches"]),
        _LOOKUP,
    ),
    Operation(
        "latest, 50",
        "/v1/transactions/latest",
        GROUP,
        _feed_figures(lambda data: data["pagination"]["total"]),
        _feed(_IN_GROUP),
        _feed_with_holdings(_IN_GROUP),
    ),
    Operation(
        "timerange 1 h, 50",
        "/v1/transactions/timerange",
        GROUP | {"hours": 1},
        _feed_figures(lambda data: data["total"]),
        _feed(_LAST_HOUR),
        _feed_with_holdings(_LAST_HOUR),
    ),
    Operation(
        "count, 24 h",
        "/v1/transactions/count",
        GROUP,
        lambda data: [(data["count"], data["wallet_count"])],
        _COUNT,
    ),
    Operation(
        "calendar, median wallet",
        "/v1/wallet/pnl_calendar",
        MEDIAN,
        _calendar_figures,
        _calendar("trades"),
        _calendar(_WALLET_STEPPED, _REALIZED),
    ),
    Operation(
        "connections, median wallet",
        "/v1/wallets/connections",
        MEDIAN,
        _connections_figures,
        _CONNECTIONS,
    ),
    Operation(
        "tracker 7d, median wallet",
        "/v1/wallets/tracker",
        {**MEDIAN, "period": "7d"},
        _tracker_figures,
        *_TRACKER_STATEMENTS,
    ),
    Operation(
        "tracker 7d, heavy wallet",
        "/v1/wallets/tracker",
        {**_wallet(ledger_world.HEAVY), "period": "7d"},
        _tracker_figures,
        *_TRACKER_STATEMENTS,
        flat=False,
        calls=20,
    ),
    Operation(
        "token transactions, 50, hot token",
        "/v1/tokens/transactions",
        HOT,
        _feed_figures(lambda data: data["pagination"]["total"]),
        _feed(_IN_HOT),
        _feed_with_holdings(_IN_HOT),
    ),
    Operation(
        "token stats, hot token",
        "/v1/tokens/stats",
        HOT,
        _traders_figures,
        _traders(_HOT_TRADES),
        _traders(_HOT_STEPPED, _REALIZED),
    ),
    Operation(
        "token holders, hot token",
        "/v1/tokens/holders",
        HOT,
        _holders_figures,
        f"SELECT count(DISTINCT wallet_id) FILTER (WHERE NOT is_sell) AS holders FROM {_HOT_TRADES}",
    ),
    Operation(
        "leaderboard 30d by profit, recomputed",
        "/v1/wallet/leaderboard",
        GROUP | {"period": "30d", "sort": "realized_pnl"},
        _leaderboard_figures,
        _leaderboard(_GROUP_TRADES),
        _leaderboard(_GROUP_STEPPED, _REALIZED),
        flat=False,
        calls=5,
    ),
)
