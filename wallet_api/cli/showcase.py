"""The demo world of a database, its key, and the examples that `wallet-api up` prints."""

import os
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlencode

import click
import msgspec
from msgspec.structs import replace

from wallet_api.database import Connection, load_sql
from wallet_api.demo import Loaded, Progress, load
from wallet_api.demo.world import TRADES, World
from wallet_api.embedded import home_of
from wallet_api.keys import create_key, key_hash, list_keys
from wallet_api.settings import Settings

_FIND_EXAMPLE = load_sql("wallet_api.cli", "find_example")
_FIND_KEY = load_sql("wallet_api.access", "find_key")
_HAS_OTHERS = load_sql("wallet_api.cli", "has_others")
_HAS_WALLETS = load_sql("wallet_api.cli", "has_wallets")
_FIND_WALLET = load_sql("wallet_api", "find_wallet")
_DEMO_FILE = "demo.json"
_GROUP = {"blockchain": "solana", "type": "kol"}

OWN_DATA_GUIDE = """\
Next, in another terminal with the same settings:

  wallet-api keys create NAME       # prints a key
  wallet-api import wallets FILE    # then prices and trades: docs/import.md
  wallet-api sync trades            # or import them from a provider: docs/sync.md"""


class Demo(msgspec.Struct):
    """The note about the demo world of a database: its end, whether it is loaded, and the arguments of World.

    It was continued up to `continued` and had `trades` trades then. There are at most `most_trades`: more if
    `up` was killed while it continued.
    """

    until: datetime
    loaded: bool = False
    size: dict[str, int] = {}
    continued: datetime | None = None
    trades: int = 0
    most_trades: int = 0

    def load(self, home: Path, database_url: str, progress: Progress) -> Loaded:
        """Import the world. After an interruption the same world is imported, so no trade counts twice."""
        world = World(self.until, **self.size)
        # A load over an earlier one leaves the trades that continued that one.
        trades = max(self.most_trades, world.trades)
        begun = replace(self, loaded=False, continued=self.until, trades=trades, most_trades=trades)
        begun.save(home)
        loaded = load(database_url, world, progress)
        replace(begun, loaded=True).save(home)
        return loaded

    def save(self, home: Path) -> None:
        """Write the note."""
        _write_private(home / _DEMO_FILE, msgspec.json.encode(self))

    def is_alone(self, connection: Connection) -> bool:
        """Return whether the ledger has no wallet and no trade that is not the demo's."""
        rows = World(self.until, **self.size).wallet_rows()
        wallets = [f"{row['blockchain']} {row['wallet_address']}" for row in rows]
        trades = max(self.most_trades, self.size.get("trades", TRADES))
        return not connection.fetch_value(_HAS_OTHERS, {"wallets": wallets, "trades": trades})


def find_demo(connection: Connection, home: Path) -> Demo | None:
    """Return the demo world of this database, a new one if it is empty, or None if it has other wallets."""
    if not connection.fetch_value(_HAS_WALLETS):
        return Demo(datetime.now(UTC).replace(microsecond=0))
    demo = _noted_demo(home)
    # An interrupted load is not completed among other wallets.
    return None if demo and not demo.loaded and not demo.is_alone(connection) else demo


def has_demo_alone(connection: Connection, home: Path) -> bool:
    """Return whether the database has no wallet and no trade that is not the demo's."""
    demo = _noted_demo(home)
    return not connection.fetch_value(_HAS_WALLETS) or (demo is not None and demo.is_alone(connection))


def warn_of_demo(connection: Connection) -> None:
    """Warn on standard error if the database contains the demo's wallets."""
    noted = _noted_demo(home_of(Settings.from_environment()))
    # The note may be of another database, but a demo's addresses are the same in every database.
    first = next(World(datetime.now(UTC), **(noted.size if noted else {})).wallet_rows())
    row = connection.execute(
        _FIND_WALLET, {"blockchain": first["blockchain"], "address": first["wallet_address"]}
    ).fetchone()
    if row is not None:
        click.echo(
            "Warning: this database contains the demo data, so responses will mix your wallets with it. "
            "To keep them apart, set WALLET_API_HOME to a new folder (or DATABASE_URL to an empty database), "
            "start 'wallet-api up --no-demo', and import there.",
            err=True,
        )


def forget_demo(home: Path) -> None:
    """Remove the note that the database of this home contains demo data."""
    (home / _DEMO_FILE).unlink(missing_ok=True)


def demo_key(connection: Connection, home: Path) -> str:
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
    _write_private(file, f"{key}\n".encode())
    return key


def demo_guide(connection: Connection, home: Path, continued: datetime, url: str) -> str:
    """Return the text for a first visit: the key, an example of each operation, and the next steps."""
    address = {"address": connection.fetch_value(_FIND_EXAMPLE, _GROUP) or ""}
    requests = (
        ("/v1/wallets", _GROUP | {"limit": "3"}),
        ("/v1/wallets/history", _GROUP | address | {"limit": "3"}),
        ("/v1/wallets/holdings", {"blockchain": _GROUP["blockchain"]} | address),
        ("/v1/transactions/volume", _GROUP | {"hours": "24"}),
        ("/v1/wallet/leaderboard", _GROUP | {"period": "7d", "limit": "3"}),
        ("/v1/wallets/tracker", {"blockchain": _GROUP["blockchain"]} | address),
        ("/v1/transactions/latest", _GROUP | {"limit": "3"}),
        ("/v1/transactions/count", _GROUP | {"hours": "1"}),
    )
    lines = [
        f"Demo data up to {continued:%Y-%m-%d %H:%M} UTC is loaded. Try it in another terminal:",
        "",
        f"  KEY={demo_key(connection, home)}",
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


def _noted_demo(home: Path) -> Demo | None:
    try:
        return msgspec.json.decode((home / _DEMO_FILE).read_bytes(), type=Demo)
    except (OSError, msgspec.DecodeError):
        return None


def _write_private(file: Path, content: bytes) -> None:
    draft = file.with_name(f"{file.name}.new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as output:
        output.write(content)
    draft.rename(file)
