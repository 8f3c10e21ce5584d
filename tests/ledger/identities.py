"""What the figures of different operations must agree in, for any ledger."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from tests.ledger import in_process
from wallet_api.database import Connection
from wallet_api.queries.token_price import DEFAULT_RULE

Row = dict[str, Any]

_DAY = 86_400
_HOURS_6 = 21_600
_HALF_A_UNIT = Decimal("0.0000000005")
# Where a tracker has another name for a figure of a leaderboard.
_IN_TRACKER = {"total_volume": "volume", "total_volume_usd": "volume_usd"}
# What figures of a history are called of a trader.
_IN_HISTORY = {
    "invested": "buy",
    "sold": "sell",
    "buy_txn": "buy_count",
    "sell_txn": "sell_count",
    "realized_pnl": "realized_pnl",
    "realized_pnl_percentage": "realized_pnl_percentage",
    "first_seen": "first_trade_at",
    "last_seen": "last_trade_at",
}

_DIFFERENT_DAYS = """
SELECT *
  FROM (SELECT wallet_id, buy_txn, sell_txn, invested AS bought, sold, realized, realized_cost
          FROM lifetimes) AS lifetime
  FULL JOIN (SELECT wallet_id, sum(buy_txn) AS buy_txn, sum(sell_txn) AS sell_txn, sum(bought) AS bought,
                    sum(sold) AS sold, sum(realized) AS realized, sum(realized_cost) AS realized_cost
               FROM wallet_days
              GROUP BY wallet_id) AS days
 USING (wallet_id, buy_txn, sell_txn, bought, sold, realized, realized_cost)
 WHERE lifetime IS NULL
    OR days IS NULL
"""


def check(connection: Connection, now: datetime) -> None:
    """Assert the identities between operations, for all wallets and groups, at this moment."""
    wallets = connection.execute("SELECT blockchain, type, address FROM wallets").fetchall()
    for period in in_process.PERIODS:
        _check_boards(connection, now, wallets, period)
    for blockchain, type in {(wallet["blockchain"], wallet["type"]) for wallet in wallets}:
        _check_windows(connection, now, blockchain, type)
    _check_tokens(connection, now)
    # The days of a calendar, before they are rounded.
    assert connection.execute(_DIFFERENT_DAYS).fetchall() == []


def _check_boards(connection: Connection, now: datetime, wallets: list[Row], period: str) -> None:
    """The tracker of a wallet has the figures of its entry, and its chart ends with its profit."""
    entries = {
        (blockchain, entry["wallet"]): entry
        for blockchain, type in {(wallet["blockchain"], wallet["type"]) for wallet in wallets}
        for entry in in_process.leaderboard(connection, now, blockchain, type, period)
    }
    for wallet in wallets:
        place = (wallet["blockchain"], wallet["address"])
        tracked = in_process.tracker(connection, now, *place, period)
        stats, chart = tracked["period_stats"], tracked["period_realized_pnl_chart"]
        if place not in entries:
            assert stats["total_txn"] == 0
            continue
        entry = entries[place]
        figures = {_IN_TRACKER.get(name, name): value for name, value in entry["period_stats"].items()}
        assert figures.items() <= stats.items()
        # Unknown to one, unknown to the other.
        for name in ("realized_pnl_usd", "volume_usd", "avg_hold_time_minutes"):
            assert (name in figures) == (name in stats), name
        assert tracked["period_win_rate_distribution"] == entry["period_win_rate_distribution"]
        if chart:
            last = {name: value for name, value in chart[-1].items() if name != "timestamp"}
            assert last == {name: stats[name] for name in last}
            assert ("realized_pnl_usd" in last) == ("realized_pnl_usd" in stats)
        else:
            assert stats["realized_pnl"] == 0


def _check_windows(connection: Connection, now: datetime, blockchain: str, type: str) -> None:
    """A count is of the trades that a volume sums: those of a window, and of the entries of a board."""
    group = (connection, now, blockchain, type)
    trades = in_process.timerange(*group, 3600)
    wallets = {trade["profile"]["wallet_address"] for trade in trades}
    assert in_process.count(*group, 3600) == (len(trades), len(wallets))
    _assert_sum(in_process.volume(*group, 3600)["volume"], [trade["value"] for trade in trades])
    for period, seconds in (("6h", _HOURS_6), ("1d", _DAY)):
        entries = in_process.leaderboard(*group, period)
        stats = [entry["period_stats"] for entry in entries]
        assert in_process.count(*group, seconds) == (sum(own["total_txn"] for own in stats), len(entries))
        _assert_sum(in_process.volume(*group, seconds)["volume"], [own["total_volume"] for own in stats])


def _check_tokens(connection: Connection, now: datetime) -> None:
    """The sums of a token are those of its traders, of all types or of each, and of its feed."""
    tokens = connection.execute(
        "SELECT DISTINCT blockchain, tokens.mint FROM tokens JOIN positions USING (token_id)"
    )
    for token in tokens.fetchall():
        place = (connection, now, token["blockchain"], token["mint"])
        stats = in_process.token_stats(*place, None, DEFAULT_RULE)
        holders = in_process.token_holders(*place, None)
        assert stats is not None
        assert holders is not None
        traders, totals = stats["traders"], stats["total_statistics"]
        assert holders["total_holders"] == stats["total_holders"]
        for total, figure in (("total_buy", "buy"), ("total_sell", "sell")):
            _assert_sum(totals[total], [trader["trader_stats"][figure] for trader in traders])
        peaks = [trader["trader_holdings"]["token_amount_peak"] for trader in traders]
        assert holders["total"] == sum(peak > 0 for peak in peaks)
        trades = sum(
            trader["trader_stats"]["buy_count"] + trader["trader_stats"]["sell_count"] for trader in traders
        )
        assert len(in_process.token_transactions(*place, limit=1000)) == trades
        _check_traders(connection, now, token["mint"], traders)


def _check_traders(connection: Connection, now: datetime, mint: str, traders: list[Row]) -> None:
    """What a trader did in a token is its row in the history."""
    for trader in traders:
        profile, stats, held = trader["profile"], trader["trader_stats"], trader["trader_holdings"]
        place = (profile["blockchain"], profile["type"], profile["wallet_address"])
        history = in_process.history(connection, now, *place, limit=1)
        (own,) = (row for row in history["token_overview"] if row["mint"] == mint)
        assert {name: own[name] for name in _IN_HISTORY} == {
            name: stats[figure] for name, figure in _IN_HISTORY.items()
        }
        assert own["still_holding"] == held["still_holding"]
        assert own.get("unrealized_pnl") == held["unrealized_pnl_sol"]


def _assert_sum(total: Decimal, parts: list[Decimal]) -> None:
    # Each of them is rounded by itself.
    assert abs(total - sum(parts)) <= _HALF_A_UNIT * (len(parts) + 1)
