"""Databases from before the first of the current migrations; one version of them can be upgraded in place."""

from hashlib import sha256

from wallet_api.database import Connection, load_sql

NAMES = frozenset({"0001_ledger", "0002_access", "0003_holdings", "0004_sync"})
UPGRADE = "upgrade_0004"
# Several versions recorded these names with different tables. Commit d967877 is the last of them.
FINGERPRINT = "289f1b524b2a52283a96d1aceeec6ec58406045b2634dd03e47b8a3f889afee6"

_OBJECTS = load_sql(__package__, "fingerprint")


def fingerprint(connection: Connection) -> str:
    """Return the SHA-256 of the definitions of the tables, columns and functions with those names."""
    rows = connection.execute(_OBJECTS).fetchall()
    return sha256("\n".join(row["object"] for row in rows).encode()).hexdigest()
