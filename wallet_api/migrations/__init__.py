"""Apply the numbered SQL files that create and change the tables.

A released file is never edited: a database stores the checksum of each file that was applied to it.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib import resources

from wallet_api.database import Connection, load_sql, locks

_FILE = re.compile(r"\d{4}_\w+\.sql")
# The text up to a semicolon that is not in the body of a function.
_STATEMENT = re.compile(r"(?:\$\$.*?\$\$|[^;$]|\$(?!\$))+", re.DOTALL)

_CREATE_TABLE = """
CREATE TABLE IF NOT EXISTS schema_migrations (
    name text PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT now(),
    checksum text NOT NULL
)
"""
_HAS_TABLE = "SELECT to_regclass('public.schema_migrations') IS NOT NULL AS found"
_RECORD = "INSERT INTO schema_migrations (name, checksum) VALUES (%s, %s)"
# Databases of version 1.0.0 and before do not have it.
_FIRST = "0001_schema"


class SchemaError(Exception):
    """This version cannot use the tables; the message says why and what to do."""


@dataclass(frozen=True)
class Schema:
    """The state of a database, as names of migrations.

    `pending` are not applied yet, `newer` were applied by a later version, and `changed` were applied from
    files with other contents. `is_earlier` means tables of version 1.0.0 or before.
    """

    pending: tuple[str, ...]
    newer: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    is_earlier: bool = False

    def check(self) -> None:
        """Raise SchemaError unless this version can use the tables after applying the pending migrations."""
        if self.is_earlier:
            raise SchemaError(
                "The tables are of a version whose tables cannot be upgraded in place. Move wallets, prices, "
                "trades and keys into an empty database (DATABASE_URL) or a new folder (WALLET_API_HOME): "
                "docs/production.md, Tables of version 1.0.0"
            )
        if self.newer:
            raise SchemaError(
                f"The tables are newer than this version of wallet-api: it does not have "
                f"{', '.join(self.newer)}. Install the version that created them, or a later one."
            )
        if self.changed:
            raise SchemaError(
                f"The tables were created with other contents of {', '.join(self.changed)} than this version "
                "has. A migration must not be edited: install an unmodified release, and put changes into a "
                "new file."
            )


def available() -> list[str]:
    """Return the names of all migrations of this version, in order."""
    files = resources.files(__name__).iterdir()
    return sorted(file.name.removesuffix(".sql") for file in files if _FILE.fullmatch(file.name))


def checksum(name: str) -> str:
    """Return the checksum of a migration of this version."""
    return checksum_of(resources.files(__name__).joinpath(f"{name}.sql").read_text(encoding="utf-8"))


def checksum_of(sql: str) -> str:
    """Return the SHA-256 of SQL without its comments and white space."""
    return sha256("".join(re.sub(r"--.*", "", sql).split()).encode()).hexdigest()


def inspect(connection: Connection) -> Schema:
    """Compare the tables of a database with the migrations of this version."""
    if not connection.fetch_value(_HAS_TABLE):
        return compare({})
    rows = connection.execute("SELECT * FROM schema_migrations ORDER BY name").fetchall()
    return compare({row["name"]: row.get("checksum") for row in rows})


def compare(applied: Mapping[str, str | None]) -> Schema:
    """Compare applied migrations, with their checksums, with those of this version."""
    names = available()
    if applied and _FIRST not in applied:
        return Schema(tuple(names), is_earlier=True)
    return Schema(
        pending=tuple(name for name in names if name not in applied),
        newer=tuple(name for name in applied if name not in names),
        changed=tuple(name for name in names if name in applied and applied[name] != checksum(name)),
    )


def migrate(
    connection: Connection,
    progress: Callable[[str], None] = lambda name: None,
    names: Collection[str] | None = None,
) -> list[str]:
    """Apply the pending migrations, or those of these names, and return their names in order.

    Each migration is one transaction; a lock ensures that concurrent commands apply it only once. Raises
    SchemaError for tables that this version cannot upgrade.
    """
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise SchemaError(
            f"The database has the encoding {encoding}, and names of tokens need UTF8. "
            "Drop it, and run: createdb --template=template0 --encoding=UTF8 --locale=C.UTF-8 …"
        )
    schema = inspect(connection)
    schema.check()
    if not schema.pending:
        return []
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [locks.MIGRATIONS])
        if connection.fetch_value("SELECT current_schema()") != "public":
            raise SchemaError(
                "The tables belong in the schema public, which must come first in this role's search_path. "
                "Run: ALTER ROLE … IN DATABASE … SET search_path = public"
            )
        connection.execute(_CREATE_TABLE)
    done: list[str] = []
    while True:
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", [locks.MIGRATIONS])
            schema = inspect(connection)
            schema.check()
            pending = [name for name in schema.pending if names is None or name in names]
            if not pending:
                return done
            name = pending[0]
            progress(name)
            # One at a time: Citus cannot pass on a change of a table that comes with others.
            for statement in _STATEMENT.findall(load_sql(__name__, name)):
                connection.execute(statement)
            connection.execute(_RECORD, [name, checksum(name)])
            done.append(name)
