"""Apply the numbered SQL files that create and change the tables, while all that uses them runs.

A released file is never edited: a database stores the checksum of each file that was applied to it. A file
changes at once what it changes, and leaves what takes long to `fill_wallets` of the ledger.
"""

import re
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib import resources

from wallet_api.base.chains import CHAINS
from wallet_api.base.errors import CommandError
from wallet_api.database import Connection, QueryTimeout, load_sql, locks, translated

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
_HAS_FILL = "SELECT to_regclass('public.wallet_fill') IS NOT NULL AS found"
_IS_FILLING = "SELECT done_until IS NOT NULL AS found FROM wallet_fill"
# The one fact of chains that SQL uses; a table would not be there for functions on the workers of a cluster.
_CURRENCIES = "native_currency"
_CURRENCY = "WHEN '{0.name}'::text THEN '{0.currency}'::text"
# Without the function, which the second file makes, nothing is missing.
_HAS_CURRENCIES = """
SELECT COALESCE(bool_and(position(branch IN stated.definition) > 0), TRUE)
  FROM unnest(%(branches)s::text[]) AS branch
 CROSS JOIN (SELECT pg_get_functiondef(to_regprocedure('native_currency(text)')) AS definition) AS stated
"""
_STATE_CURRENCIES = """
CREATE OR REPLACE FUNCTION native_currency(chain text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE chain {} ELSE public.refuse_chain(chain) END
"""
_HOLD = "SELECT pg_advisory_xact_lock_shared(%(lock)s)"
_APPLIED = "SELECT name FROM schema_migrations ORDER BY name"
# Databases of version 1.0.0 and before do not have it.
_FIRST = "0001_schema"

# Whoever migrates may be killed, or lose its network: its statement then ends within seconds.
_SESSION = """
SET client_connection_check_interval = '1s';
SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3
"""
_ALTERED = re.compile(r"^ALTER TABLE (\w+)", re.MULTILINE)
_CREATED = re.compile(r"^CREATE TABLE (\w+)", re.MULTILINE)
# Writers alone wait for the first lock, and for one of each table, by which PostgreSQL ends a vacuum of it.
# Requests queue behind the locks that a file's own statements wait for: briefly, and these are tried again.
_WAIT_FOR_WRITERS = "SET LOCAL lock_timeout = '10min'"
_WAIT_FOR_READERS = "SET LOCAL lock_timeout = '100ms'"
# On Citus, a file that changes a table and a function must use one connection to each worker.
_ONE_CONNECTION = "SET LOCAL citus.multi_shard_modify_mode = 'sequential'"
# It plans no UPDATE with a STABLE function of columns, nor one of the coordinator's table by one of workers.
# Released files have both: the first is written otherwise there, the second is found out before.
_STABLE_CALL = "concat_ws(' ', image_url, twitter, telegram, copytrade_link)"
_SAME_PLANNED = "(image_url || ' ' || twitter || ' ' || telegram || ' ' || copytrade_link)"
_HAS_WALLETS = "EXISTS (SELECT FROM wallets)"
_TRIES = 600
_PAUSE_SECONDS = 0.5


class SchemaError(CommandError):
    """This version cannot use the tables; the message says why and what to do."""


@dataclass(frozen=True)
class Schema:
    """The state of a database, as names of migrations.

    `pending` are not applied yet, among them `native_currency` where this version has other chains. `newer`
    were applied by a later version, and `changed` were applied from files with other contents. `is_earlier`
    means tables of version 1.0.0 or before, `is_filling` that some sums of wallets are not computed yet.
    """

    pending: tuple[str, ...]
    newer: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    is_earlier: bool = False
    is_filling: bool = False

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
    schema = compare({row["name"]: row.get("checksum") for row in rows})
    is_filling = connection.fetch_value(_HAS_FILL) and connection.fetch_value(_IS_FILLING)
    if not schema.pending and not connection.fetch_value(_HAS_CURRENCIES, {"branches": _currencies()}):
        schema = replace(schema, pending=(_CURRENCIES,))
    return replace(schema, is_filling=bool(is_filling))


def _currencies() -> list[str]:
    """Return the branches of native_currency() for the chains of this version."""
    return [_CURRENCY.format(chain) for chain in CHAINS.values()]


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


def hold_tables(connection: Connection) -> None:
    """Keep migrations away until the transaction ends, which is about to write.

    Raises SchemaError if there was one since this process started: it would not write what is new.
    """
    connection.execute(_HOLD, {"lock": locks.MIGRATIONS})
    # A statement of its own, since it has to see what was committed before the lock was taken.
    applied, own = [row["name"] for row in connection.execute(_APPLIED)], available()
    if applied != own:
        raise SchemaError(
            "The tables were changed while this process ran, which does not have their migration"
            f" {', '.join(sorted({*applied}.symmetric_difference(own)))}. What it was about to store was not"
            " stored. Start it again, with the version of wallet-api that changed them; an import can simply"
            " be given its whole file again."
        )


def migrate(
    connection: Connection,
    progress: Callable[[str], None] = lambda name: None,
    names: Collection[str] | None = None,
) -> list[str]:
    """Apply the pending migrations, or those of these names, and return their names in order.

    Each migration is one transaction; a lock ensures that concurrent commands apply it only once, and that
    nothing writes meanwhile. Raises SchemaError for tables that this version cannot upgrade, and if others
    use them all the time.
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
    connection.execute(_SESSION)
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [locks.MIGRATIONS])
        if connection.fetch_value("SELECT current_schema()") != "public":
            raise SchemaError(
                "The tables belong in the schema public, which must come first in this role's search_path. "
                "Run: ALTER ROLE … IN DATABASE … SET search_path = public"
            )
        connection.execute(_CREATE_TABLE)
    done: list[str] = []
    while name := _apply_next(connection, progress, names):
        done.append(name)
    return [name for name in done if name != _CURRENCIES]


def _apply_next(
    connection: Connection, progress: Callable[[str], None], names: Collection[str] | None
) -> str | None:
    """Apply the next pending migration, and return its name; None if there is none."""
    for _ in range(_TRIES):
        try:
            with translated(), connection.transaction():
                return _apply_one(connection, progress, names)
        except QueryTimeout:
            # Named once.
            progress = _nothing
            time.sleep(_PAUSE_SECONDS)
    raise SchemaError(
        "The tables are in use all the time, so that a migration would make requests wait. End the longest"
        " transaction of pg_stat_activity, such as a dump or a report, and run 'wallet-api migrate' again."
    )


def _nothing(name: str) -> None:
    """Report no progress."""


def _apply_one(
    connection: Connection, progress: Callable[[str], None], names: Collection[str] | None
) -> str | None:
    if connection.is_sharded:
        connection.execute(_ONE_CONNECTION)
    connection.execute(_WAIT_FOR_WRITERS)
    connection.execute("SELECT pg_advisory_xact_lock(%s)", [locks.MIGRATIONS])
    schema = inspect(connection)
    schema.check()
    pending = [name for name in schema.pending if names is None or name in {*names, _CURRENCIES}]
    if not pending:
        return None
    name = pending[0]
    if name == _CURRENCIES:
        connection.execute(_STATE_CURRENCIES.format(" ".join(_currencies())))
        return name
    progress(name)
    sql = load_sql(__name__, name)
    if connection.is_sharded:
        sql = _planned_by_citus(connection, sql)
    for table in sorted({*_ALTERED.findall(sql)}.difference(_CREATED.findall(sql))):
        connection.execute(f"LOCK TABLE {table} IN SHARE UPDATE EXCLUSIVE MODE")
    connection.execute(_WAIT_FOR_READERS)
    # One at a time: Citus cannot pass on a change of a table that comes with others.
    for statement in _STATEMENT.findall(sql):
        connection.execute(statement)
    connection.execute(_RECORD, [name, checksum(name)])
    return name


def _planned_by_citus(connection: Connection, sql: str) -> str:
    """Return statements that do the same, and that Citus plans."""
    if _HAS_WALLETS in sql:
        sql = sql.replace(_HAS_WALLETS, str(connection.fetch_value(f"SELECT {_HAS_WALLETS} AS found")))
    return sql.replace(_STABLE_CALL, _SAME_PLANNED)
