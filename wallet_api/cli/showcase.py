"""The demo's key, and what `wallet-api up` prints about the next steps."""

import os
from pathlib import Path
from urllib.parse import urlencode

import click

from wallet_api.database import Connection, load_sql
from wallet_api.demo import has_demo, newest_trade
from wallet_api.keys import create_key, key_hash, list_keys

_FIND_EXAMPLE = load_sql("wallet_api.cli", "find_example")
_FIND_KEY = load_sql("wallet_api.access", "find_key")
_GROUP = {"blockchain": "solana", "type": "kol"}

OWN_DATA_GUIDE = """\
Next, in another terminal with the same settings:

  wallet-api keys create NAME       # prints a key
  wallet-api import wallets FILE    # then prices and trades: docs/import.md
  wallet-api sync trades            # or import them from a provider: docs/sync.md"""


def warn_of_demo(connection: Connection) -> None:
    """Warn on standard error if the database contains the demo's wallets."""
    if has_demo(connection):
        click.echo(
            "Warning: this database contains the demo data, so responses will mix your wallets with it. "
            "To keep them apart, set WALLET_API_HOME to a new folder (or DATABASE_URL to an empty database), "
            "start 'wallet-api up --no-demo', and import there.",
            err=True,
        )


def demo_guide(connection: Connection, home: Path, url: str) -> str:
    """Return the text for a first visit: the key, examples of requests, and the next steps."""
    newest = newest_trade(connection)
    address = {"address": connection.fetch_value(_FIND_EXAMPLE, _GROUP) or ""}
    chain = {"blockchain": _GROUP["blockchain"]}
    requests = (
        ("/v1/wallets", _GROUP | {"limit": "3"}),
        ("/v1/wallets/history", _GROUP | address | {"limit": "3"}),
        ("/v1/wallets/holdings", chain | address),
        ("/v1/transactions/volume", _GROUP | {"hours": "24"}),
        ("/v1/wallet/leaderboard", _GROUP | {"period": "7d", "limit": "3"}),
        ("/v1/wallets/tracker", chain | address),
        ("/v1/transactions/latest", _GROUP | {"limit": "3"}),
        ("/v1/transactions/count", _GROUP | {"hours": "1"}),
    )
    lines = [
        f"Demo data up to {newest:%Y-%m-%d %H:%M} UTC is loaded. Try it in another terminal:",
        "",
        f"  KEY={_demo_key(connection, home)}",
        *(
            f"""  curl -H "Authorization: Bearer $KEY" '{url}{path}?{urlencode(arguments)}'"""
            for path, arguments in requests
        ),
        "",
        "Next, to import your own data into a new database (docs/import.md, docs/sync.md):",
        "",
        "  export WALLET_API_HOME=…    # a new folder",
        "  wallet-api up --no-demo",
    ]
    return "\n".join(lines)


def _demo_key(connection: Connection, home: Path) -> str:
    """Return a valid key, the same at each start. It is stored in a file that only this user can read."""
    file = home / "demo-key"
    if file.exists():
        key = file.read_text().strip()
        row = connection.execute(_FIND_KEY, {"key_hash": key_hash(key)}).fetchone()
        if row is not None and row["revoked_at"] is None:
            return key
    taken = {row["name"] for row in list_keys(connection)}
    names = (f"demo {number}" if number > 1 else "demo" for number in range(1, len(taken) + 2))
    key = create_key(connection, next(name for name in names if name not in taken))
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as output:
        output.write(f"{key}\n")
    return key
