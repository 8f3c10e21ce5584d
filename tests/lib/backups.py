"""Helpers for tests of backup and restore: databases, their contents, and a server of Debian's PostgreSQL."""

import json
import os
import secrets
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, LiteralString
from urllib.parse import quote, urlsplit

import psycopg
import pytest
from psycopg.rows import dict_row
from psycopg.sql import SQL, Identifier

from tests.ledger import random_trades
from tests.ledger.in_process import Importer
from tests.lib.processes import run_command, run_program
from wallet_api.api.keys import create_key, revoke_key
from wallet_api.database import connect, migrations
from wallet_api.operate.embedded.place import account_of, give_folder
from wallet_api.settings import Settings

DEBIAN = Path("/usr/lib/postgresql")
WALLETS, TRADES, DAYS = 12, 1_500, 20

_OBJECTS: LiteralString = """
SELECT concat(relkind, ' ', relname, ' ', pg_get_indexdef(oid)) AS row
  FROM pg_class
 WHERE relnamespace = 'public'::regnamespace
 UNION ALL
SELECT concat(attrelid::regclass, '.', attname, ' ', atttypid::regtype, attnotnull, attidentity)
  FROM pg_attribute
  JOIN pg_class ON pg_class.oid = attrelid
 WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
 UNION ALL
SELECT concat(oid::regprocedure, ' ', md5(prosrc))
  FROM pg_proc
 WHERE pronamespace = 'public'::regnamespace
 UNION ALL
SELECT concat(conrelid::regclass, ' ', pg_get_constraintdef(oid))
  FROM pg_constraint
 WHERE connamespace = 'public'::regnamespace AND contype <> 'n'
"""

Connection = psycopg.Connection[dict[str, Any]]
# Makes an empty database on a server, given its URL.
Made = Callable[[str], str]


def done(*arguments: str | Path, settings: Settings) -> dict[str, Any]:
    """Run a command with --json, which must succeed, and return what it prints."""
    result = run_command(*arguments, "--json", settings=settings)
    assert result.exit_code == 0, result.output
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def refused(*arguments: str | Path, settings: Settings) -> str:
    """Run a command that must fail, and return the single line that it prints."""
    result = run_command(*arguments, settings=settings)
    assert result.exit_code == 1, result.output
    assert result.stdout == ""
    if not isinstance(result.exception, SystemExit):
        # The line is made of it by `main`: see tests/unit/test_unexpected_errors.py.
        return str(result.exception)
    lines = [line for line in result.stderr.splitlines() if not line.startswith("Database: ")]
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("Error: ")
    return lines[0]


def at(url: str) -> Settings:
    """Return the settings of a command for a database."""
    return Settings(database_url=url)


def major(url: str) -> int:
    """Return the major version of a server."""
    with session(url) as connection:
        return connection.info.server_version // 10_000


@contextmanager
def session(url: str) -> Iterator[Connection]:
    """Yield a connection in autocommit, under an application name that is not the service's."""
    with psycopg.connect(
        url, autocommit=True, row_factory=dict_row, application_name="an operator"
    ) as connection:
        yield connection


@contextmanager
def created(server_url: str, template: str = "template0") -> Iterator[str]:
    """Yield the URL of a copy of `template` on a server, by default an empty database; drop it on exit."""
    name = f"wallet_api_test_backup_{secrets.token_hex(6)}"
    create = SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy")
    with session(server_url) as administrator:
        administrator.execute(create.format(Identifier(name), Identifier(template)))
        try:
            yield urlsplit(server_url)._replace(path=f"/{name}").geturl()
        finally:
            administrator.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))


@contextmanager
def debian_server(folder: Path) -> Iterator[str]:
    """Run the oldest PostgreSQL installed from Debian's packages, and yield its URL."""
    found = sorted(DEBIAN.glob("*/bin/postgres"), key=lambda program: int(program.parts[-3]))
    if not found:
        if os.environ.get("CI"):
            pytest.fail(f"There is no PostgreSQL below {DEBIAN}: apt-get install postgresql")
        pytest.skip("needs a PostgreSQL of Debian's packages: apt-get install postgresql")
    programs = found[0].parent
    account = account_of(folder)
    options = account.popen_options()
    data, sockets = folder / "data", folder / "run"
    for closed in (folder, folder.parent):
        # A temporary folder, which the user that root's servers run as has to pass.
        if options and closed.stat().st_mode & 0o777 == 0o700:
            closed.chmod(0o711)
    for made in (data, sockets):
        give_folder(made, account)

    def program(*arguments: str | Path) -> None:
        run_program(arguments, check=True, cwd=folder, stdout=subprocess.DEVNULL, timeout=60, **options)

    locale = ("--encoding=UTF8", "--locale=C.UTF-8", "--auth=trust")
    program(programs / "initdb", "-D", data, "-U", "operator", "--no-sync", *locale)
    settings = f"-c listen_addresses='' -c unix_socket_directories='{sockets}' -c fsync=off"
    program(programs / "pg_ctl", "-D", data, "-l", data / "log", "-o", settings, "-w", "start")
    try:
        yield f"postgresql://operator@/postgres?host={quote(str(sockets), safe='')}"
    finally:
        program(programs / "pg_ctl", "-D", data, "-m", "fast", "-w", "stop")


def fill(url: str, key: str = "limited") -> datetime:
    """Create the tables, a ledger and keys in a database, and return the time of the last trade."""
    now = datetime.now(UTC).replace(microsecond=0)
    with connect(url) as connection:
        migrations.migrate(connection)
        create_key(connection, key, credits=5_000, rate="600/minute")
        create_key(connection, "revoked")
        revoke_key(connection, "revoked")
    importer = Importer(url)
    importer.wallets(random_trades.wallets(WALLETS))
    importer.prices(random_trades.prices(now, DAYS))
    importer.trades(random_trades.trades(TRADES, WALLETS, now, DAYS))
    return now


def contents(url: str) -> dict[str, list[str]]:
    """Return all rows of all tables as sorted texts, the sequences, and the names of all objects."""
    with session(url) as connection:
        connection.execute("SET timezone = 'UTC'")
        names = connection.execute("SELECT tablename AS row FROM pg_tables WHERE schemaname = 'public'")
        queries = {
            name: SQL("SELECT t::text AS row FROM {} AS t").format(Identifier(name)) for name in _rows(names)
        }
        queries |= {"sequences": SQL("SELECT concat(sequencename, ' ', last_value) AS row FROM pg_sequences")}
        queries |= {"objects": SQL(_OBJECTS)}
        return {name: _rows(connection.execute(query)) for name, query in queries.items()}


def _rows(cursor: psycopg.Cursor[dict[str, Any]]) -> list[str]:
    return sorted(row["row"] for row in cursor)
