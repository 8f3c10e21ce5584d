"""Synthetic data to try the service with: wallets, native prices, trades, and a provider of balances.

All addresses of demo wallets begin with the same characters. A database with any other wallet is the
operator's: the demo reads it, and changes nothing.
"""

from datetime import datetime

from wallet_api.database import Connection
from wallet_api.operate.demo.forms import EVM_PREFIX, SOLANA_PREFIX

_DEMO = {"demo": f"^({SOLANA_PREFIX}|{EVM_PREFIX})"}

_HAS_DEMO = "SELECT EXISTS (SELECT FROM wallets WHERE address ~ %(demo)s::text) AS found"
_HAS_OWN = """
SELECT EXISTS (SELECT FROM wallets WHERE address !~ %(demo)s::text)
       OR (EXISTS (SELECT FROM native_prices) AND NOT EXISTS (SELECT FROM wallets)) AS found
"""


def has_own(connection: Connection) -> bool:
    """Return whether the database has a wallet that is not the demo's, or prices without a wallet."""
    return bool(connection.fetch_value(_HAS_OWN, _DEMO))


def has_demo(connection: Connection) -> bool:
    """Return whether the database has a wallet of the demo."""
    return bool(connection.fetch_value(_HAS_DEMO, _DEMO))


def newest_trade(connection: Connection) -> datetime | None:
    """Return the time of the newest trade."""
    newest: datetime | None = connection.fetch_value("SELECT max(last_seen) AS newest FROM lifetimes")
    return newest
