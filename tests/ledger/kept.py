"""What the tables keep for answers: holdings after trades, days of wallets, times of newest trades."""

from fractions import Fraction
from typing import Any

from wallet_api.database import Connection

Row = dict[str, Any]

_EXACT = ("bought", "sold", "bought_usd", "sold_usd", "bought_without_usd", "sold_without_usd")

_HOLDINGS = """
SELECT tokens.mint,
       trades.tx_signature,
       trades.is_sell,
       trades.event_index,
       trades.quantity_after,
       trades.peak_after
  FROM trades
  JOIN wallets
    ON wallets.wallet_id = trades.wallet_id
  JOIN tokens
    ON tokens.token_id = trades.token_id
 WHERE wallets.blockchain = %s
   AND wallets.address = %s
"""
_DAYS = """
SELECT wallet_days.*,
       round_half_up(realized, 18) AS realized,
       round_half_up(realized_cost, 18) AS realized_cost,
       round_half_up(realized_usd, 18) AS realized_usd,
       round_half_up(hold_seconds, 18) AS hold_seconds,
       round_half_up(hold_cost, 6) AS hold_cost
  FROM wallet_days
  JOIN wallets
    ON wallets.wallet_id = wallet_days.wallet_id
 WHERE wallets.blockchain = %s
   AND wallets.address = %s
 ORDER BY day
"""
_NEWEST = """
SELECT wallets.address,
       lifetimes.last_seen
  FROM lifetimes
  JOIN wallets
    ON wallets.wallet_id = lifetimes.wallet_id
 WHERE lifetimes.blockchain = %s
   AND lifetimes.type = %s
 ORDER BY lifetimes.last_seen DESC,
          wallets.address DESC
"""


def holdings(connection: Connection, blockchain: str, address: str) -> dict[tuple[Any, ...], tuple[Any, Any]]:
    """Return quantity and peak after each trade of a wallet, by what identifies the trade."""
    return {
        (row["mint"], row["tx_signature"], row["is_sell"], row["event_index"]): (
            Fraction(row["quantity_after"]),
            Fraction(row["peak_after"]),
        )
        for row in connection.execute(_HOLDINGS, [blockchain, address])
    }


def days(connection: Connection, blockchain: str, address: str) -> list[Row]:
    """Return the days of a wallet: exact figures, and those of what was realized with 18 decimals."""
    return [
        {
            name: Fraction(value) if name in _EXACT else value
            for name, value in row.items()
            if name != "wallet_id"
        }
        for row in connection.execute(_DAYS, [blockchain, address])
    ]


def newest(connection: Connection, blockchain: str, type: str) -> list[tuple[str, Any]]:
    """Return address and time of the newest trade of each wallet of a group, the newest first."""
    rows = connection.execute(_NEWEST, [blockchain, type])
    return [(row["address"], row["last_seen"]) for row in rows]
