"""The tables, as numbered SQL files, and what brings a database up to date with them."""

import re
from importlib import resources

from wallet_api.database import Connection, load_sql

_FILE = re.compile(r"(\d{4})_\w+\.sql")
# Any constant will do, as long as every process takes the same one.
_LOCK = 7_401_001

_CREATE_TABLE = """
CREATE TABLE IF NOT EXISTS schema_migrations (
    name text PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT now()
)
"""


def available() -> list[str]:
    """The names of all migrations of this version, in order."""
    files = resources.files(__name__).iterdir()
    return sorted(file.name.removesuffix(".sql") for file in files if _FILE.fullmatch(file.name))


def pending(connection: Connection) -> list[str]:
    """The names of the migrations that this database still needs, in order."""
    exists = connection.execute("SELECT to_regclass('schema_migrations') IS NOT NULL AS found").fetchone()
    if exists is None or not exists["found"]:
        return available()
    applied = {row["name"] for row in connection.execute("SELECT name FROM schema_migrations")}
    return [name for name in available() if name not in applied]


def migrate(connection: Connection) -> list[str]:
    """Bring the tables up to date; the names of what was applied now, in order.

    Each migration lands whole or not at all, and two commands at once apply each only once.
    """
    done = []
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        connection.execute(_CREATE_TABLE)
    for name in pending(connection):
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
            if name not in pending(connection):
                continue
            connection.execute(load_sql(__name__, name))
            connection.execute("INSERT INTO schema_migrations (name) VALUES (%s)", [name])
            done.append(name)
    return done
