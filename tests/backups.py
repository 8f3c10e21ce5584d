"""Helpers for tests of backup and restore: databases, their contents, and a server of Debian's PostgreSQL."""

import json
import os
import secrets
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import psycopg
import pytest
from flask import Flask
from flask.testing import FlaskClient
from psycopg.rows import dict_row
from psycopg.sql import SQL, Identifier

from tests.callers import WALLETS
from tests.ledger.in_process import Importer
from tests.processes import run_command as run
from wallet_api import migrations
from wallet_api.app import create_app
from wallet_api.backup.programs import oldest_for
from wallet_api.chains import CHAINS
from wallet_api.database import connect
from wallet_api.demo.world import World
from wallet_api.embedded.account import choose, let_reach, own
from wallet_api.keys import create_key
from wallet_api.settings import Settings

DEBIAN = Path("/usr/lib/postgresql")

Connection = psycopg.Connection[dict[str, Any]]
# Makes an empty database on a server, given its URL.
Made = Callable[[str], str]


def done(*arguments: str | Path, settings: Settings) -> dict[str, Any]:
    """Run a command with --json, which must succeed, and return what it prints."""
    result = run(*arguments, "--json", settings=settings)
    assert result.exit_code == 0, result.output
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def refused(*arguments: str | Path, settings: Settings) -> str:
    """Run a command that must fail, and return the single line that it prints."""
    result = run(*arguments, settings=settings)
    assert result.exit_code == 1, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    lines = [line for line in result.stderr.splitlines() if not line.startswith("Database: ")]
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("Error: ")
    return lines[0]


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
    with session(server_url) as administrator:
        administrator.execute(
            SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy").format(
                Identifier(name), Identifier(template)
            )
        )
        try:
            yield urlsplit(server_url)._replace(path=f"/{name}").geturl()
        finally:
            administrator.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))


@contextmanager
def debian_server(folder: Path, data_name: str = "data", user: str = "operator") -> Iterator[str]:
    """Run the oldest PostgreSQL installed from Debian's packages, and yield its URL."""
    found = sorted(DEBIAN.glob("*/bin/postgres"), key=lambda program: int(program.parts[-3]))
    if not found:
        if os.environ.get("CI"):
            pytest.fail(f"There is no PostgreSQL below {DEBIAN}: apt-get install postgresql")
        pytest.skip("needs a PostgreSQL of Debian's packages: apt-get install postgresql")
    programs = found[0].parent
    account = choose(folder)
    options = account.popen_options() if account else {}
    data, sockets = folder / data_name, folder / "run"
    for made in (data, sockets):
        own(made, account)
        let_reach(made, account)

    def program(*arguments: str | Path) -> None:
        subprocess.run(arguments, check=True, cwd=folder, stdout=subprocess.DEVNULL, timeout=60, **options)

    locale = ("--encoding=UTF8", "--locale=C.UTF-8", "--auth=trust")
    program(programs / "initdb", "-D", data, "-U", user, "--no-sync", *locale)
    settings = f"-c listen_addresses='' -c unix_socket_directories='{sockets}' -c fsync=off"
    program(programs / "pg_ctl", "-D", data, "-l", data / "log", "-o", settings, "-w", "start")
    try:
        yield f"postgresql://{user}@/postgres?host={quote(str(sockets), safe='')}"
    finally:
        program(programs / "pg_ctl", "-D", data, "-m", "fast", "-w", "stop")


def contents(url: str) -> dict[str, list[str]]:
    """Return all rows of all tables as sorted texts, and the values of the sequences."""
    with session(url) as connection:
        connection.execute("SET timezone = 'UTC'")
        tables = [
            row["relname"]
            for row in connection.execute(
                "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"
            )
        ]
        rows = {
            name: sorted(
                row["row"]
                for row in connection.execute(
                    SQL("SELECT t::text AS row FROM {} AS t").format(Identifier(name))
                )
            )
            for name in tables
        }
        sequences = connection.execute("SELECT sequencename, last_value::text FROM pg_sequences")
        return rows | {row["sequencename"]: [row["last_value"]] for row in sequences}


def objects(url: str) -> set[str]:
    """Return the tables, columns, functions, types, constraints and indexes of the schema."""
    with session(url) as connection:
        rows = connection.execute(
            """
            SELECT pg_describe_object(classid, objid, 0) AS object
              FROM (SELECT 'pg_class'::regclass, oid FROM pg_class WHERE relnamespace = 'public'::regnamespace
                    UNION ALL
                    SELECT 'pg_proc'::regclass, oid FROM pg_proc WHERE pronamespace = 'public'::regnamespace
                    UNION ALL
                    SELECT 'pg_type'::regclass, oid FROM pg_type WHERE typnamespace = 'public'::regnamespace
                    UNION ALL
                    SELECT 'pg_constraint'::regclass, oid FROM pg_constraint
                     WHERE connamespace = 'public'::regnamespace) AS found (classid, objid)
            UNION ALL
            SELECT concat(attrelid::regclass, '.', attname, ' ', format_type(atttypid, atttypmod), attnotnull,
                          attgenerated, attidentity)
              FROM pg_attribute
              JOIN pg_class ON pg_class.oid = attrelid
             WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
            """
        )
        return {row["object"] for row in rows}


def questions(client: FlaskClient, headers: dict[str, str]) -> Iterator[str]:
    """Yield the paths of every list, history, leaderboard, volume and snapshot."""
    for chain in CHAINS.values():
        for type_name in chain.types:
            group = f"blockchain={chain.name}&type={type_name}"
            yield f"/v1/wallets?{group}"
            for period in ("6h", "1d", "7d", "30d"):
                yield f"/v1/wallet/leaderboard?{group}&period={period}"
            for window in ("hours=24", "minutes=90", "seconds=5000"):
                yield f"/v1/transactions/volume?{group}&{window}"
            listed = client.get(f"{WALLETS.partition('?')[0]}?{group}", headers=headers).json
            assert listed is not None
            for wallet in listed["data"]["wallets"]:
                address = f"address={wallet['wallet_address']}"
                yield f"/v1/wallets/history?{group}&{address}&limit=1000"
                yield f"/v1/wallets/holdings?blockchain={chain.name}&{address}"


def data_of(client: FlaskClient, path: str, headers: dict[str, str]) -> Any:
    """Return the data of a response."""
    answer = client.get(path, headers=headers)
    assert answer.status_code == 200, (path, answer.text)
    assert answer.json is not None
    return answer.json["data"]


def compare_answers(
    before: FlaskClient, after: FlaskClient, headers: dict[str, str], *, skipping: str = "none"
) -> int:
    """Compare the responses of two services to every request, and return the number of requests."""
    count = 0
    for path in questions(before, headers):
        if skipping in path:
            continue
        # A trade may leave a period between the two requests.
        pairs = ((data_of(before, path, headers), data_of(after, path, headers)) for _ in range(3))
        assert any(one == other for one, other in pairs), path
        count += 1
    return count


class Service:
    """The application without a server."""

    def __init__(self, settings: Settings) -> None:
        self.app: Flask = create_app(settings)
        self.client = self.app.test_client()

    def close(self) -> None:
        """Close the connections."""
        self.app.extensions["wallet_api"].close()


def at(url: str | None) -> Settings:
    """Return the settings of a command for a database."""
    return Settings(database_url=url)


def major(url: str) -> int:
    """Return the major version of a server."""
    with session(url) as connection:
        return connection.info.server_version // 10_000


def rebuilt(url: str) -> int:
    """Run a rebuild and return the number of changed rows."""
    return sum(done("rebuild", settings=at(url)).values())


def listed_keys(url: str) -> Any:
    """Return the output of `keys list`."""
    result = run("keys", "list", "--json", settings=at(url))
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def count_trades(url: str) -> int:
    """Return the number of trades in a database."""
    with session(url) as connection:
        row = connection.execute("SELECT count(*) AS trades FROM trades").fetchone()
        return int(row["trades"]) if row else 0


def fill(url: str) -> None:
    """Create the tables and a small ledger in a database."""
    with connect(url) as connection:
        migrations.migrate(connection)
        create_key(connection, "one", credits=100)
    world = World(datetime.now(UTC), wallets=8, trades=200, days=3, seed=3)
    Importer(url).wallets(world.wallet_rows())
    Importer(url).prices(world.price_rows())
    Importer(url).trades(world.trade_rows())


def rows(url: str, query: str) -> list[dict[str, Any]]:
    """Return the rows of a query."""
    with session(url) as connection:
        return connection.execute(query.encode()).fetchall()


def program_of(url: str, name: str, *arguments: str, given: bytes = b"") -> bytes:
    """Run a program of PostgreSQL, which must succeed without an error, and return what it prints."""
    program = oldest_for(major(url), tls=False).path(name)
    ended = subprocess.run([program, *arguments], input=given, capture_output=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr.decode()
    assert b"error" not in ended.stderr
    return ended.stdout
