"""`wallet-api restore`: what it refuses before any change, and that it restores everything or nothing."""

import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from tests.backups import at, contents, created, done, refused, session
from tests.ledger.in_process import Importer
from tests.processes import run_command as run
from tests.processes import wallet_api
from tests.running_up import free_port
from tests.waiting import eventually
from wallet_api import embedded, migrations
from wallet_api.app import create_app
from wallet_api.backup.programs import Programs, newest_for
from wallet_api.database import connect
from wallet_api.demo.world import World
from wallet_api.keys import create_key
from wallet_api.settings import Settings

Change = Callable[[str], None]
_ADVISORY_LOCK = 7_777


@pytest.fixture(scope="module")
def source(servers: Settings) -> Iterator[str]:
    """The address of a database with data."""
    with created(str(servers.database_url)) as url:
        _fill(url, seed=1)
        yield url


@pytest.fixture(scope="module")
def dump(source: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of `source`."""
    file = tmp_path_factory.mktemp("backups") / "source.dump"
    done("backup", file, settings=at(source))
    return file


@pytest.fixture(scope="module")
def other(servers: Settings) -> Iterator[str]:
    """The name of a database with other data than that of the backup."""
    with created(str(servers.database_url)) as url:
        _fill(url, seed=2)
        yield urlsplit(url).path.removeprefix("/")


@pytest.fixture
def target(servers: Settings, other: str) -> Iterator[str]:
    """The address of a copy of `other`."""
    with created(str(servers.database_url), other) as url:
        yield url


def _fill(url: str, seed: int) -> None:
    with connect(url) as connection:
        migrations.migrate(connection)
        create_key(connection, f"key {seed}", credits=100)
    world = World(datetime.now(UTC), wallets=8, trades=1_500, days=3, seed=seed)
    Importer(url).wallets(world.wallet_rows())
    Importer(url).trades(world.trade_rows())


def _programs(url: str) -> Programs:
    with connect(url) as connection:
        return newest_for(connection.info.server_version // 10_000, tls=False)


def _pg_dump(url: str, file: Path, *options: str) -> Path:
    command = [_programs(url).path("pg_dump"), *options, f"--file={file}", f"--dbname={url}"]
    subprocess.run(command, check=True, timeout=60, capture_output=True)
    return file


def _nothing(url: str) -> None:
    """Change nothing."""


def _of_a_newer_version(url: str) -> None:
    with connect(url) as connection:
        names = [
            row["column_name"]
            for row in connection.execute(
                "SELECT column_name FROM information_schema.columns"
                " WHERE table_name = 'schema_migrations' AND column_name <> 'name'"
            )
        ]
        rest = ", ".join(names)
        connection.execute(
            f"INSERT INTO schema_migrations (name, {rest})"
            f" SELECT '9999_later', {rest} FROM schema_migrations LIMIT 1".encode()
        )


def _with_edited_migrations(url: str) -> None:
    with connect(url) as connection:
        connection.execute("UPDATE schema_migrations SET checksum = 'another'")


def _with_other_tables(url: str) -> None:
    with session(url) as connection:
        connection.execute("CREATE TABLE notes (a int)")


def _without_a_table(url: str) -> None:
    with session(url) as connection:
        connection.execute("DROP TABLE trades CASCADE")


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (_nothing, ("--format=plain",), "is not a backup"),
        (_nothing, ("--format=tar",), "is not a backup"),
        (_nothing, ("--format=custom", "--schema-only"), "contains no rows of schema_migrations"),
        (_nothing, ("--format=custom", "--exclude-table-data=trades"), "rows of the table trades is missing"),
        (_nothing, ("--format=custom", "--table=wallets"), "is not a backup of this service"),
        (_without_a_table, ("--format=custom",), "the table trades is missing"),
        (
            _with_other_tables,
            ("--format=custom",),
            "contains tables that do not belong to this service (notes)",
        ),
        (
            _of_a_newer_version,
            ("--format=custom",),
            "newer version of this service (9999_later). Update this",
        ),
    ],
)
def test_a_file_that_is_no_whole_backup_is_refused(
    database_url: str, target: str, tmp_path: Path, change: Change, options: tuple[str, ...], message: str
) -> None:
    change(database_url)
    file = _pg_dump(database_url, tmp_path / "a.dump", *options)
    before = contents(target)
    assert message in refused("restore", "--replace", file, settings=at(target))
    assert contents(target) == before


def test_a_file_that_is_no_dump_at_all_is_refused(target: str, dump: Path, tmp_path: Path) -> None:
    assert "No such file" in refused("restore", tmp_path / "missing", settings=at(target))
    assert "Is a directory" in refused("restore", tmp_path, settings=at(target))
    (tmp_path / "short").write_bytes(dump.read_bytes()[:100])
    assert "cannot be read with pg_restore" in refused("restore", tmp_path / "short", settings=at(target))
    (tmp_path / "empty").write_bytes(b"")
    assert "is not a backup" in refused("restore", tmp_path / "empty", settings=at(target))


def test_data_is_replaced_only_when_that_is_said(target: str, source: str, dump: Path) -> None:
    before = contents(target)
    message = refused("restore", dump, settings=at(target))
    assert "contains data" in message
    assert "--replace" in message
    assert contents(target) == before
    done("restore", "--replace", dump, settings=at(target))
    assert contents(target) == contents(source)


@pytest.mark.parametrize("table", ["native_prices", "sync_heartbeats", "api_keys"])
def test_rows_of_any_table_count_as_data(database_url: str, dump: Path, table: str) -> None:
    with connect(database_url) as connection:
        if table == "native_prices":
            connection.execute("INSERT INTO native_prices VALUES ('SOL', now(), 1)")
        elif table == "sync_heartbeats":
            connection.execute("INSERT INTO sync_heartbeats VALUES ('trades', 'solana', now(), 1, 0)")
        else:
            create_key(connection, "mine")
    assert "contains data" in refused("restore", dump, settings=at(database_url))


def test_tables_without_rows_are_replaced_at_once(database_url: str, source: str, dump: Path) -> None:
    done("restore", dump, settings=at(database_url))
    assert contents(database_url) == contents(source)


def test_tables_of_a_newer_version_are_left_alone(target: str, dump: Path) -> None:
    _of_a_newer_version(target)
    before = contents(target)
    message = refused("restore", "--replace", dump, settings=at(target))
    assert "newer version of this service (9999_later). Restore into an empty database" in message
    assert contents(target) == before


def test_a_service_or_a_command_that_is_connected_stops_a_restore(
    target: str, source: str, dump: Path, valkey_url: str
) -> None:
    before = contents(target)
    service = create_app(Settings(database_url=target, valkey_url=valkey_url, web_threads=2))
    with closing(service.extensions["wallet_api"]):
        message = refused("restore", "--replace", dump, settings=at(target))
    assert "The database is in use by wallet-api (" in message
    assert "Stop it first" in message
    with connect(target):
        message = refused("restore", "--replace", dump, settings=at(target))
    assert "in use by wallet-api command (1)" in message
    assert contents(target) == before
    assert eventually(lambda: run("restore", "--replace", dump, settings=at(target)).exit_code == 0)
    assert contents(target) == contents(source)


def test_a_running_up_has_to_be_stopped_first(dump: Path, source: str) -> None:
    with tempfile.TemporaryDirectory(prefix="wallet-api-tests-") as folder:
        settings = Settings(wallet_api_home=f"{folder}/home")
        with wallet_api("up", "--no-demo", "--port", str(free_port()), settings=settings) as up:
            assert up.stdout is not None
            assert any("Ctrl-C stops everything" in line for line in up.stdout)
            assert "in use by wallet-api (" in refused("restore", dump, settings=settings)
            up.terminate()
            up.communicate(timeout=60)
        done("restore", dump, settings=settings)
        with embedded.running(settings, valkey=False) as started:
            assert contents(str(started.database_url)) == contents(source)


def test_a_role_without_the_rights_is_refused_by_name(target: str, dump: Path, tmp_path: Path) -> None:
    role = f"backup_reader_{os.getpid()}"
    before = contents(target)
    with session(target) as superuser:
        superuser.execute(f"CREATE ROLE {role} LOGIN".encode())
        try:
            settings = at(target.replace("://", f"://{role}@", 1) if "@" not in target else _as(target, role))
            assert f"The role {role} may not read" in refused("backup", tmp_path / "a", settings=settings)
            superuser.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}".encode())
            superuser.execute(f"GRANT SELECT ON ALL SEQUENCES IN SCHEMA public TO {role}".encode())
            done("backup", tmp_path / "a", settings=settings)
            message = refused("restore", "--replace", dump, settings=settings)
            assert f"The role {role} does not own" in message
        finally:
            superuser.execute(f"DROP OWNED BY {role}".encode())
            superuser.execute(f"DROP ROLE {role}".encode())
    assert contents(target) == before


def _as(url: str, role: str) -> str:
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{role}@{rest.partition('@')[2]}"


def test_what_others_built_on_the_tables_is_not_dropped(target: str, dump: Path) -> None:
    with session(target) as connection:
        connection.execute("CREATE SCHEMA reports")
        connection.execute("CREATE VIEW reports.sells AS SELECT * FROM public.trades WHERE is_sell")
    before = contents(target)
    message = refused("restore", "--replace", dump, settings=at(target))
    assert "the database is unchanged" in message
    assert "view reports.sells depends on table public.trades" in message
    assert contents(target) == before


@pytest.mark.parametrize("part", [0.3, 0.6, 0.95])
def test_a_backup_that_was_cut_off_changes_nothing(
    target: str, dump: Path, tmp_path: Path, part: float
) -> None:
    before = contents(target)
    whole = dump.read_bytes()
    (tmp_path / "cut.dump").write_bytes(whole[: int(part * len(whole))])
    message = refused("restore", "--replace", tmp_path / "cut.dump", settings=at(target))
    assert "the database is unchanged" in message or "cannot be read" in message
    assert contents(target) == before


@contextmanager
def _held_up(url: str, tag: str) -> Iterator[tuple[Callable[[], bool], Callable[[], object]]]:
    """Block SQL commands with this tag; yield functions that return whether one waits, and unblock it."""
    with session(url) as holder:
        holder.execute("CREATE SCHEMA tests")
        holder.execute(
            "CREATE FUNCTION tests.wait() RETURNS event_trigger LANGUAGE plpgsql AS"
            f" $$ BEGIN PERFORM pg_advisory_xact_lock_shared({_ADVISORY_LOCK}); END $$".encode()
        )
        holder.execute(
            "CREATE EVENT TRIGGER wait ON ddl_command_end"
            f" WHEN TAG IN ('{tag}') EXECUTE FUNCTION tests.wait()".encode()
        )
        holder.execute(f"SELECT pg_advisory_lock({_ADVISORY_LOCK})".encode())

        def waits() -> bool:
            query = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = %s"
            return holder.execute(query, [_ADVISORY_LOCK]).rowcount > 0

        yield waits, lambda: holder.execute("SELECT pg_advisory_unlock_all()")
    with session(url) as connection:
        connection.execute("DROP SCHEMA tests CASCADE")


@pytest.mark.parametrize(
    ("victim", "tag"),
    [
        *[(victim, "CREATE TABLE") for victim in ("wallet-api", "pg_restore", "psql", "Ctrl-C")],
        # By then pg_restore has ended, and psql has the end of the transaction in its input.
        *[(victim, "CREATE INDEX") for victim in ("wallet-api", "psql", "Ctrl-C")],
    ],
)
def test_whatever_is_killed_in_the_middle_the_data_is_whole(
    target: str, source: str, dump: Path, victim: str, tag: str
) -> None:
    before = contents(target)
    settings = at(target.replace("@/", ":very-secret@/"))
    with ExitStack() as stack:
        waits, go_on = stack.enter_context(_held_up(target, tag))
        command = stack.enter_context(wallet_api("restore", "--replace", str(dump), settings=settings))
        stack.callback(command.kill)
        assert eventually(waits)
        children = {child.name(): child for child in psutil.Process(command.pid).children()}
        assert not any("very-secret" in " ".join(child.cmdline()) for child in children.values())
        if victim == "Ctrl-C":
            command.send_signal(signal.SIGINT)
        elif victim == "wallet-api":
            command.kill()
        else:
            children[victim].kill()
        if victim == "pg_restore":
            go_on()
        output = command.communicate(timeout=30)[0]
    assert "very-secret" not in output
    assert command.returncode == {"wallet-api": -9, "Ctrl-C": 130}.get(victim, 1), output
    assert eventually(lambda: not any(child.is_running() for child in children.values()))
    assert eventually(lambda: not _connected(target))
    after = contents(target)
    if (victim, tag) == ("wallet-api", "CREATE INDEX"):
        assert after in (before, contents(source))
    else:
        assert after == before
    done("restore", "--replace", dump, settings=at(target))
    assert contents(target) == contents(source)


def _connected(url: str) -> bool:
    with session(url) as connection:
        query = (
            "SELECT FROM pg_stat_activity WHERE datname = current_database()"
            " AND application_name LIKE 'wallet-api%'"
        )
        return connection.execute(query).rowcount > 0
