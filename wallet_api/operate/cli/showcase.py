"""The demo's key, and what `wallet-api up` prints about the next steps."""

import os
import secrets
from pathlib import Path

from wallet_api.api.keys import create_key, key_hash, top_up_key
from wallet_api.database import Connection, load_sql
from wallet_api.operate.cli.output import typed, warn
from wallet_api.operate.demo import has_demo, newest_trade

_FIND_EXAMPLE = load_sql("wallet_api.operate.cli", "find_example")
_FIND_KEY = load_sql("wallet_api.api.access", "find_keys")

# Shown in each response; enough for a smoke check every five minutes, ten days long.
_CREDITS = 100_000

_HAS_WALLETS = "SELECT EXISTS (SELECT FROM wallets)"
_REQUESTS = (
    "wallets?blockchain=solana&type=kol&limit=3",
    "wallets/history?blockchain=solana&type=kol&address={address}&limit=3",
    "wallets/holdings?blockchain=solana&address={address}",
    "transactions/volume?blockchain=solana&type=kol&hours=24",
    "wallet/leaderboard?blockchain=solana&type=kol&period=7d&limit=3",
    "wallets/tracker?blockchain=solana&address={address}",
    "transactions/latest?blockchain=solana&type=kol&limit=3",
    "signals?blockchain=solana&type=kol&mode=cluster&limit=3",
    "transactions/count?blockchain=solana&type=kol&hours=1",
)


def warn_of_demo(connection: Connection) -> None:
    """Warn on standard error if the database contains the demo's wallets."""
    if has_demo(connection):
        warn(
            "this database contains the demo data, so responses will mix your wallets with it. "
            "To keep them apart, set WALLET_API_HOME to a new folder (or DATABASE_URL to an empty database), "
            f"start '{typed('up --no-demo')}', and import there."
        )


def guide(
    connection: Connection, url: str, demo_home: Path | None, *, has_page: bool, is_synced: bool
) -> str:
    """Return the text for a first visit: the addresses, and the next steps; for the demo also requests.

    `demo_home` is the folder of the demo, if it is one; `is_synced` is whether trades are read beside it.
    """
    page = f"Boards, wallets and tokens, in a browser, are at {url}/\n" if has_page else ""
    if demo_home is not None:
        next_steps = _demo_guide(connection, demo_home, url)
    elif connection.fetch_value(_HAS_WALLETS):
        next_steps = _own_guide()
    else:
        next_steps = _first_wallets(f"{url}/" if has_page else f"{url}/docs", is_synced=is_synced)
    return (
        f"\n{page}The Wallet Intelligence API is at {url}/v1\n"
        f"Its reference, with a console to try requests, is at {url}/docs\n\n{next_steps}"
    )


def _own_guide() -> str:
    return f"""\
Next, in another terminal with the same settings:

  {typed("keys create NAME")}       # prints a key
  {typed("import wallets FILE")}    # then prices and trades: docs/import.md
  {typed("sync trades")}            # or import them from a provider: docs/sync.md"""


def _first_wallets(page: str, *, is_synced: bool) -> str:
    beside = "# Their trades of the last 30 days are then read by this command itself."
    return f"""\
No wallets are tracked yet. Next, in another terminal with the same settings (docs/first-wallets.md):

  {typed("discover MINT MINT --chain solana")}    # finds wallets by the first buyers of tokens
  {typed("import wallets discovered-solana.ndjson")}    # that list, or your own
  {beside if is_synced else typed("sync trades --since 30d")}

Then '{typed("keys create NAME")}' prints a key for {page}."""


def _demo_guide(connection: Connection, home: Path, url: str) -> str:
    address = connection.fetch_value(_FIND_EXAMPLE, {"blockchain": "solana", "type": "kol"}) or ""
    requests = "\n".join(
        f"""  curl -H "Authorization: Bearer $KEY" '{url}/v1/{request.format(address=address)}'"""
        for request in _REQUESTS
    )
    return f"""\
Demo data up to {newest_trade(connection):%Y-%m-%d %H:%M} UTC is loaded. Try it in another terminal:

  KEY={_demo_key(connection, home)}
{requests}

Next, for wallets of your own, in a new database (docs/first-wallets.md, docs/import.md):

  export WALLET_API_HOME=…    # a new folder
  {typed("up --no-demo")}"""


def demo_key_file(home: Path) -> Path:
    """Return the file with the demo's key."""
    return home / "demo-key"


def _demo_key(connection: Connection, home: Path) -> str:
    """Return a valid key with all of its credits, the same at each start.

    It is stored in a file that only this user can read.
    """
    file = demo_key_file(home)
    if file.exists():
        key = file.read_text().strip()
        row = connection.execute(_FIND_KEY, {"key_ids": [], "key_hash": key_hash(key)}).fetchone()
        if row is not None and row["revoked_at"] is None:
            if row["credits"] is not None and row["credits"] < _CREDITS:
                top_up_key(connection, row["name"], _CREDITS - row["credits"])
            return key
    key = create_key(connection, f"demo {secrets.token_hex(3)}", credits=_CREDITS)
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as output:
        output.write(f"{key}\n")
    return key
