"""`wallet-api backup` and `wallet-api restore`: everything is restored, or nothing is changed."""

import os
import pty
import re
import signal
import stat
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from itertools import product
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from tests.ledger import in_process, random_trades
from tests.lib.backups import WALLETS, Made, at, contents, created, done, fill, major, refused, session
from tests.lib.processes import Process, run_command, run_program, wallet_api
from tests.lib.versions import migrate_to
from tests.lib.waiting import eventually
from wallet_api.app import create_app
from wallet_api.database import connect, migrations
from wallet_api.operate.backup.programs import installed
from wallet_api.operate.backup.restore import restore_ledger
from wallet_api.settings import Settings

_ADVISORY_LOCK = 7_777
_LATER = "INSERT INTO schema_migrations VALUES ('9999_later', now(), '')"


@pytest.fixture(scope="module")
def source(servers: Settings) -> Iterator[str]:
    """The address of a database with data."""
    with created(str(servers.database_url)) as url:
        fill(url)
        yield url


@pytest.fixture(scope="module")
def dump(source: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of `source`."""
    file = tmp_path_factory.mktemp("backups") / "source.dump"
    done("backup", file, settings=at(source))
    return file


@pytest.fixture
def full(servers: Settings, source: str) -> Iterator[str]:
    """The address of a database with data of its own."""
    with created(str(servers.database_url), urlsplit(source).path.removeprefix("/")) as url:
        with session(url) as connection:
            connection.execute("UPDATE api_keys SET credits = 1")
        yield url


def test_a_restored_database_equals_the_original_and_goes_on(source: str, dump: Path, target: str) -> None:
    summary = done("restore", dump, settings=at(target))
    assert summary == summary | {"wallets": WALLETS, "trades": len(contents(source)["trades"]), "keys": 2}
    assert summary["migrated"] == []
    assert contents(target) == contents(source)
    in_process.Importer(target).trades(random_trades.trades(300, WALLETS, datetime.now(UTC), 1))
    assert run_command("keys", "create", "another", settings=at(target)).exit_code == 0
    assert not any(done("rebuild", settings=at(target)).values())


def test_a_backup_made_while_trades_land_is_one_moment(
    target: str, make: Made, servers: Settings, tmp_path: Path
) -> None:
    busy = make(str(servers.database_url))
    fill(busy)
    importer = in_process.Importer(busy, batch_rows=100)
    rows = random_trades.trades(1_500, WALLETS, datetime.now(UTC), 1)
    thread = threading.Thread(target=importer.trades, args=[rows])
    thread.start()
    summary = done("backup", tmp_path / "busy.dump", settings=at(busy))
    thread.join()
    restored = done("restore", tmp_path / "busy.dump", settings=at(target))
    assert (restored["wallets"], restored["trades"]) == (summary["wallets"], summary["trades"])
    assert not any(done("rebuild", settings=at(target)).values())


def test_plain_programs_of_postgresql_read_and_write_the_same_files(
    source: str, dump: Path, target: str, make: Made, tmp_path: Path
) -> None:
    by_hand = make(source)
    _program(source, "pg_restore", "--no-owner", "--schema=public", f"--dbname={by_hand}", str(dump))
    _program(source, "pg_dump", "--format=custom", f"--file={tmp_path / 'whole'}", source)
    done("restore", tmp_path / "whole", settings=at(target))
    assert contents(by_hand) == contents(target) == contents(source)


def _program(url: str, name: str, *arguments: str) -> None:
    run_program([installed()[major(url)] / name, *arguments], check=True, timeout=60)


def test_tables_of_an_older_version_are_migrated(
    empty_database_url: str, target: str, tmp_path: Path
) -> None:
    names = migrations.available()
    with connect(empty_database_url) as connection:
        migrate_to(connection, names[:1])
        connection.execute("INSERT INTO wallets VALUES (1, 'bnb', 'kol', '0x1', '', '', '', '', '')")
    done("backup", tmp_path / "older.dump", settings=at(empty_database_url))
    shown: list[str] = []
    with connect(target) as connection:
        upgrade = restore_ledger(connection, tmp_path / "older.dump", replace=False, progress=shown.append)
    assert (upgrade.applied, upgrade.filled) == (names[1:], 1)
    assert [f"applying {name}" for name in names[1:]] == [line for line in shown if "applying" in line]
    assert shown[-1] == "computing the figures of wallet 1 of 1"


def test_a_backup_is_for_its_owner_alone_and_replaces_a_file_only_with_force(
    source: str, tmp_path: Path
) -> None:
    file = tmp_path / "a.dump"
    before = os.umask(0)
    try:
        made = run_command("backup", file, settings=at(source))
    finally:
        os.umask(before)
    assert made.stdout.startswith(f"Backed up {WALLETS} wallets, ")
    assert f" and 2 keys to {file}: " in made.stdout
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.write_text("mine")
    assert f"{file} exists already" in refused("backup", file, settings=at(source))
    assert "exists already" in refused("backup", tmp_path, "--force", settings=at(source))
    assert file.read_text() == "mine"
    done("backup", file, "--force", settings=at(source))
    assert file.read_bytes()[:5] == b"PGDMP"
    assert os.listdir(tmp_path) == ["a.dump"]


def test_a_backup_of_nothing_is_refused(target: str, tmp_path: Path) -> None:
    assert "contains no tables of this service" in refused("backup", tmp_path / "a", settings=at(target))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_backup_that_is_stopped_leaves_the_earlier_one_and_no_secret(
    source: str, tmp_path: Path, number: signal.Signals
) -> None:
    file = tmp_path / "a.dump"
    file.write_text("the earlier one")
    with ExitStack() as stack:
        settings = at(source.replace("@/", ":very-secret@/"))
        command = stack.enter_context(wallet_api("backup", "--force", str(file), settings=settings))
        stack.callback(command.kill)
        blocker = stack.enter_context(session(source))
        stack.enter_context(blocker.transaction())
        blocker.execute("LOCK TABLE position_days")
        assert eventually(lambda: _waits(source, "wallet-api pg_dump"))
        child = _child(command, "pg_dump")
        assert child.environ()["PGPASSWORD"] == "very-secret"
        command.send_signal(number)
        assert "very-secret" not in command.communicate(timeout=60)[0]
    assert command.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -9}[number]
    assert eventually(lambda: not child.is_running())
    assert file.read_text() == "the earlier one"
    assert [name for name in os.listdir(tmp_path) if number != signal.SIGKILL or ".part" not in name] == [
        "a.dump"
    ]


def _child(command: Process[str], name: str) -> psutil.Process:
    """Return the program of PostgreSQL that a command runs, without the password in its arguments."""
    parent = psutil.Process(command.pid)
    [child] = [child for child in parent.children() if child.name() == name]
    assert "very-secret" not in " ".join([*child.cmdline(), *parent.cmdline()])
    return child


def _waits(url: str, name: str) -> bool:
    with session(url) as connection:
        query = "SELECT FROM pg_stat_activity WHERE application_name = %s AND wait_event_type = 'Lock'"
        return connection.execute(f"{query} AND datname = current_database()".encode(), [name]).rowcount > 0


def test_a_terminal_shows_that_a_long_restore_goes_on(full: str, dump: Path) -> None:
    ours, theirs = pty.openpty()
    with _held_up(full, "lifetimes"), ExitStack() as stack:
        command = ("restore", "--replace", str(dump))
        process = stack.enter_context(wallet_api(*command, settings=at(full), stderr=theirs))
        stack.callback(process.kill)
        shown = b""
        while b": lifetimes" not in shown:
            shown += os.read(ours, 4096)
    assert b"Restoring, " in shown
    os.close(ours)
    os.close(theirs)


def _change(url: str, statements: str) -> None:
    with session(url) as connection:
        connection.execute(statements.encode())


@pytest.mark.parametrize(
    ("statement", "options", "message"),
    [
        ("SELECT", "--format=plain", "cannot be read with pg_restore"),
        ("SELECT", "--schema-only", "has no rows of schema_migrations"),
        ("SELECT", "--table=wallets", "is not a backup of this service"),
        ("SELECT", "--exclude-table-data=trades", "the rows of the table trades are missing"),
        (_LATER, "--verbose", "newer than this version of wallet-api: it does not have 9999_later"),
        ("UPDATE schema_migrations SET checksum = 'another'", "--verbose", "other contents of 0001_schema"),
        (
            "UPDATE schema_migrations SET name = '0001_tables' WHERE name = '0001_schema'",
            "--verbose",
            "of a version whose tables cannot be upgraded in place",
        ),
    ],
)
def test_a_file_that_is_no_whole_backup_of_this_version_is_refused(
    database_url: str, full: str, tmp_path: Path, statement: str, options: str, message: str
) -> None:
    _change(database_url, statement)
    file, before = tmp_path / "a.dump", contents(full)
    _program(database_url, "pg_dump", "--format=custom", options, f"--file={file}", database_url)
    assert message in refused("restore", "--replace", file, settings=at(full))
    assert contents(full) == before


def test_a_file_of_a_newer_postgresql_is_refused_with_the_way_around(
    full: str, dump: Path, tmp_path: Path
) -> None:
    newer = bytearray(dump.read_bytes())
    # The version of the format follows the letters PGDMP.
    newer[6] = 99
    (tmp_path / "newer.dump").write_bytes(newer)
    message = refused("restore", "--replace", tmp_path / "newer.dump", settings=at(full))
    assert "unsupported version (1.99)" in message
    assert "'export' and 'import' move data to an older one" in message


def test_a_backup_that_was_cut_off_or_damaged_changes_nothing(full: str, dump: Path, tmp_path: Path) -> None:
    before, whole = contents(full), dump.read_bytes()
    for part, is_cut_off in product((0.0, 0.01, 0.3, 0.95), (True, False)):
        place = int(part * len(whole))
        rest = b"" if is_cut_off else bytes(1000) + whole[place + 1000 :]
        (tmp_path / "a.dump").write_bytes(whole[:place] + rest)
        message = refused("restore", "--replace", tmp_path / "a.dump", settings=at(full))
        assert "the database is unchanged" in message or "cannot be read" in message
        assert contents(full) == before


def test_data_is_replaced_only_when_that_is_said(
    full: str, database_url: str, source: str, dump: Path
) -> None:
    _change(database_url, "INSERT INTO native_prices VALUES ('SOL', now(), 1)")
    for url in (full, database_url):
        before = contents(url)
        assert "contains data. Add --replace" in refused("restore", dump, settings=at(url))
        assert contents(url) == before
    done("restore", "--replace", dump, settings=at(full))
    # Tables without rows are no data.
    _change(database_url, "DELETE FROM native_prices")
    done("restore", dump, settings=at(database_url))
    assert contents(full) == contents(database_url) == contents(source)


def test_tables_of_another_version_are_left_alone(full: str, dump: Path) -> None:
    _change(full, _LATER)
    before = contents(full)
    message = refused("restore", "--replace", dump, settings=at(full))
    assert "of another version than those of" in message
    assert "Restore into a new database" in message
    assert contents(full) == before


def test_a_service_or_a_command_that_is_connected_stops_a_restore(
    full: str, dump: Path, valkey_url: str
) -> None:
    before = contents(full)
    service = create_app(Settings(database_url=full, valkey_url=valkey_url, web_threads=2))
    with closing(service.extensions["wallet_api"]):
        message = refused("restore", "--replace", dump, settings=at(full))
    assert "The database is in use by wallet-api (" in message
    with connect(full):
        message = refused("restore", "--replace", dump, settings=at(full))
    assert "in use by wallet-api command (1). Stop it first" in message
    assert contents(full) == before


def test_the_owner_restores_and_other_roles_are_refused(
    full: str, dump: Path, make: Made, tmp_path: Path
) -> None:
    role = f"backup_owner_{os.getpid()}"
    own, before = make(full), contents(full)
    with session(own) as superuser:
        superuser.execute(f"CREATE ROLE {role} LOGIN".encode())
        try:
            settings = [at(urlsplit(url)._replace(netloc=f"{role}@").geturl()) for url in (own, full)]
            name = urlsplit(own).path.removeprefix("/")
            superuser.execute(f"ALTER DATABASE {name} OWNER TO {role}".encode())
            superuser.execute(f"GRANT CREATE ON SCHEMA public TO {role}".encode())
            for _ in range(2):
                done("restore", "--replace", dump, settings=settings[0])
            done("backup", tmp_path / "own.dump", settings=settings[0])
            refusal = run_command("backup", tmp_path / "full.dump", settings=settings[1]).exception
            assert type(refusal).__name__ == "NotPermitted"
            with session(full) as administrator:
                administrator.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}".encode())
            # pg_dump also needs the sequences.
            refusal = run_command("backup", tmp_path / "full.dump", settings=settings[1]).exception
            assert type(refusal).__name__ == "NotPermitted"
            # The words differ between versions of pg_dump; the sequence it names does not.
            assert re.search(r"\bsequence\b.*api_keys_key_id_seq", str(refusal.__cause__))
            message = refused("restore", "--replace", dump, settings=settings[1])
            assert "the database is unchanged: " in message
            assert "Restore as wallet_api_owner" in message
            assert contents(full) == before
        finally:
            superuser.execute(f"ALTER DATABASE {name} OWNER TO CURRENT_USER".encode())
            for url in (own, full):
                _change(url, f"DROP OWNED BY {role}")
            superuser.execute(f"DROP ROLE {role}".encode())


def test_what_others_built_on_the_tables_stays(full: str, dump: Path) -> None:
    _change(full, "CREATE SCHEMA reports; CREATE VIEW reports.sells AS SELECT * FROM public.trades")
    done("restore", "--replace", dump, settings=at(full))
    with session(full) as connection:
        both = connection.execute("SELECT FROM reports.sells"), connection.execute("SELECT FROM trades")
        assert both[0].rowcount == both[1].rowcount > 0


# What runs a program as the user of the server, wherever it is restored.
_EVIL = """
CREATE FUNCTION public.evil_deed() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF current_database() <> '{database}' THEN
        COPY (SELECT 1) TO PROGRAM 'touch {mark}';
    END IF;
END $$;
CREATE FUNCTION public.evil(name text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    PERFORM public.evil_deed();
    RETURN name;
END $$;
CREATE FUNCTION public.evil_trigger() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM public.evil('x');
    RETURN NEW;
END $$;
CREATE INDEX evil_index ON wallets (public.evil(name));
CREATE TRIGGER evil BEFORE INSERT ON wallets FOR EACH ROW EXECUTE FUNCTION public.evil_trigger();
ALTER TABLE wallets ENABLE ALWAYS TRIGGER evil;
CREATE VIEW evil_view AS SELECT public.evil('x');
CREATE TABLE evil_table (name text DEFAULT public.evil('x'), CHECK (public.evil(name) = name));
INSERT INTO evil_table VALUES ('x');
CREATE MATERIALIZED VIEW evil_rows AS SELECT public.evil(name) FROM wallets;
CREATE RULE evil AS ON INSERT TO tokens DO ALSO SELECT public.evil('x');
GRANT ALL ON api_keys TO PUBLIC;
"""


def test_nothing_of_a_dump_is_run_but_its_rows_are_restored(
    source: str, full: str, target: str, make: Made, empty_home: Path, tmp_path: Path
) -> None:
    # Where the server may write; pytest closes its own folders whenever another run begins.
    empty_home.mkdir()
    empty_home.chmod(0o777)
    evil, mark, file = make(source), empty_home / "mark", tmp_path / "evil.dump"
    done("backup", file, settings=at(source))
    done("restore", file, settings=at(evil))
    database = urlsplit(evil).path.removeprefix("/")
    _change(evil, _EVIL.replace("{mark}", str(mark)).replace("{database}", database))
    done("backup", file, "--force", settings=at(evil))
    for url in (target, full):
        done("restore", "--replace", file, settings=at(url))
        assert not mark.exists()
        restored, original = contents(url), contents(source)
        assert restored == original
        with session(url) as connection:
            shared = "SELECT FROM information_schema.role_table_grants WHERE grantee = 'PUBLIC'"
            assert connection.execute(f"{shared} AND table_schema = 'public'".encode()).rowcount == 0
    # PostgreSQL's own program runs what is in the same file.
    by_hand = make(source)
    with suppress(subprocess.CalledProcessError):
        _program(source, "pg_restore", "--no-owner", "--schema=public", f"--dbname={by_hand}", str(file))
    assert mark.exists()


def test_a_table_whose_rows_are_stated_by_another_command_is_refused(
    full: str, dump: Path, tmp_path: Path
) -> None:
    before, mark = contents(full), tmp_path / "m"
    content = dump.read_bytes()
    command = re.search(rb"COPY public\.trades \([^)]*\) FROM stdin;", content)
    assert command is not None
    evil = f"COPY trades FROM PROGRAM 'touch {mark}';".encode().ljust(len(command[0]))
    assert len(evil) == len(command[0])
    (tmp_path / "a.dump").write_bytes(content.replace(command[0], evil))
    message = refused("restore", "--replace", tmp_path / "a.dump", settings=at(full))
    assert "the database is unchanged: the rows of the table trades cannot be read" in message
    assert contents(full) == before
    assert not mark.exists()


@contextmanager
def _held_up(url: str, table: str) -> Iterator[tuple[Callable[[], bool], Callable[[], object]]]:
    """Block rows of this table; yield functions that return whether one waits, and that let them through."""
    with session(url) as holder:
        holder.execute(
            f"""
            CREATE SCHEMA tests;
            CREATE FUNCTION tests.wait() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN PERFORM pg_advisory_xact_lock_shared({_ADVISORY_LOCK}); RETURN NEW; END $$;
            CREATE TRIGGER wait BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION tests.wait();
            SELECT pg_advisory_lock({_ADVISORY_LOCK})
            """.encode()
        )
        yield (
            partial(_waits, url, "wallet-api command"),
            partial(holder.execute, "SELECT pg_advisory_unlock_all()"),
        )
    _change(url, "DROP SCHEMA tests CASCADE")


@pytest.mark.parametrize("victim", ["wallet-api", "pg_restore", "Ctrl-C", "SIGTERM"])
def test_whatever_is_killed_the_database_is_as_it_was(full: str, dump: Path, victim: str) -> None:
    before = contents(full)
    settings = at(full.replace("@/", ":very-secret@/"))
    with _held_up(full, "lifetimes") as (waits, release), ExitStack() as stack:
        command = stack.enter_context(wallet_api("restore", "--replace", str(dump), settings=settings))
        stack.callback(command.kill)
        assert eventually(waits)
        child = _child(command, "pg_restore")
        assert "PGPASSWORD" not in child.environ()
        if victim in ("Ctrl-C", "SIGTERM"):
            command.send_signal(signal.SIGINT if victim == "Ctrl-C" else signal.SIGTERM)
        else:
            (command if victim == "wallet-api" else child).kill()
        if victim == "pg_restore":
            release()
        output = command.communicate(timeout=60)[0]
    assert "very-secret" not in output
    status = {"wallet-api": -9, "pg_restore": 1, "Ctrl-C": 130, "SIGTERM": 143}
    assert command.returncode == status[victim], output
    assert eventually(lambda: not child.is_running())
    assert eventually(lambda: not _connected(full))
    assert contents(full) == before
    done("restore", "--replace", dump, settings=at(full))


def _connected(url: str) -> bool:
    with session(url) as connection:
        query = "SELECT FROM pg_stat_activity WHERE starts_with(application_name, 'wallet-api')"
        return connection.execute(f"{query} AND datname = current_database()".encode()).rowcount > 0
