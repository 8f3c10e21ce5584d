"""`wallet-api backup` and `wallet-api restore`: a restored database equals the original."""

import os
import pty
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import psutil
import psycopg
import pytest

from tests.backups import (
    Made,
    Service,
    at,
    compare_answers,
    contents,
    count_trades,
    created,
    done,
    fill,
    listed_keys,
    objects,
    program_of,
    questions,
    rebuilt,
    refused,
    rows,
    session,
)
from tests.demo_service import DemoService, demo_service
from tests.ledger.in_process import Importer
from tests.processes import run_command as run
from tests.processes import wallet_api
from tests.waiting import eventually
from wallet_api import embedded, migrations
from wallet_api.database import connect
from wallet_api.demo.world import World
from wallet_api.keys import create_key, revoke_key
from wallet_api.settings import Settings


@pytest.fixture(scope="module")
def source(servers: Settings) -> Iterator[DemoService]:
    """A service with a demo world, snapshots of balances and keys of every kind."""
    with created(str(servers.database_url)) as url:
        with connect(url) as connection:
            migrations.migrate(connection)
        settings = Settings(
            database_url=url, valkey_url=servers.valkey_url, web_threads=4, holdings_ttl_seconds=3600.0
        )
        with demo_service(settings) as service:
            with connect(url) as connection:
                _add_keys(connection)
            with closing(Service(service.settings)) as asked:
                for path in questions(asked.client, service.headers):
                    assert asked.client.get(path, headers=service.headers).status_code == 200
            yield service


@pytest.fixture(scope="module")
def dump(source: DemoService, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of `source`."""
    file = tmp_path_factory.mktemp("backups") / "source.dump"
    done("backup", file, settings=at(source.settings.database_url))
    return file


def _add_keys(connection: Any) -> None:
    create_key(connection, "limited", credits=5_000, rate="600/minute")
    create_key(connection, "expiring", expires_at=datetime(2100, 1, 1, tzinfo=UTC))
    create_key(connection, "revoked")
    revoke_key(connection, "revoked")


def _check_equal(source: DemoService, url: str) -> None:
    """Assert that tables, responses and keys of the database at `url` equal those of the source."""
    own = str(source.settings.database_url)
    assert contents(url) == contents(own)
    assert objects(url) == objects(own)
    assert listed_keys(url) == listed_keys(own)
    before, after = Service(source.settings), Service(replace(source.settings, database_url=url))
    with closing(before), closing(after):
        assert compare_answers(before.client, after.client, source.headers) > 100
    assert rebuilt(url) == 0


def test_everything_is_equal_after_a_restore(source: DemoService, dump: Path, target: str) -> None:
    summary = done("restore", dump, settings=at(target))
    assert {name: summary[name] for name in ("wallets", "trades", "keys", "migrated", "left_out")} == {
        "wallets": 24,
        "trades": 2_000,
        "keys": 4,
        "migrated": [],
        "left_out": [],
    }
    _check_equal(source, target)


def test_a_restored_database_takes_in_what_comes_later(dump: Path, target: str) -> None:
    done("restore", dump, settings=at(target))
    world = World(datetime.now(UTC), wallets=30, trades=300, days=1, seed=99)
    Importer(target).wallets(world.wallet_rows())
    Importer(target).trades(world.trade_rows())
    assert run("keys", "create", "another", settings=at(target)).exit_code == 0
    assert rebuilt(target) == 0


def test_another_worlds_data_is_not_taken_for_the_demos(dump: Path, tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="wallet-api-tests-") as folder:
        settings = Settings(wallet_api_home=f"{folder}/home")
        noted = Path(folder) / "home" / "demo.json"
        with embedded.running(settings, valkey=False):
            made = run("demo", "--wallets", "5", "--trades", "100", settings=settings)
            assert made.exit_code == 0, made.output
            done("backup", tmp_path / "demo.dump", settings=settings)
            done("restore", "--replace", tmp_path / "demo.dump", settings=settings)
            assert noted.exists()
            done("restore", "--replace", dump, settings=settings)
            assert not noted.exists()


def test_a_backup_that_is_made_while_trades_land_is_one_moment(
    target: str, make: Made, servers: Settings
) -> None:
    busy = make(str(servers.database_url))
    with connect(busy) as connection:
        migrations.migrate(connection)
    world = World(datetime.now(UTC), wallets=20, trades=6_000, days=3, seed=7)
    importer = Importer(busy, batch_rows=200)
    importer.wallets(world.wallet_rows())
    thread = threading.Thread(target=importer.trades, args=[world.trade_rows()])
    thread.start()
    with tempfile.TemporaryDirectory() as folder:
        assert eventually(lambda: count_trades(busy) > 0)
        summary = done("backup", Path(folder) / "busy.dump", settings=at(busy))
        thread.join()
        restored = done("restore", Path(folder) / "busy.dump", settings=at(target))
    assert 0 < summary["trades"] <= 6_000
    assert (restored["wallets"], restored["trades"]) == (summary["wallets"], summary["trades"])
    assert rebuilt(target) == 0


def test_plain_programs_of_postgresql_restore_it_too(source: DemoService, target: str, make: Made) -> None:
    own = str(source.settings.database_url)
    as_custom, as_schema = make(own), make(own)
    text = program_of(own, "pg_dump", own)
    program_of(
        target, "psql", "--quiet", "--set=ON_ERROR_STOP=1", "--no-psqlrc", f"--dbname={target}", given=text
    )
    custom = program_of(own, "pg_dump", "--format=custom", own)
    program_of(as_custom, "pg_restore", "--exit-on-error", f"--dbname={as_custom}", given=custom)
    schema = program_of(own, "pg_dump", "--schema-only", own)
    program_of(as_schema, "psql", "--quiet", "--set=ON_ERROR_STOP=1", f"--dbname={as_schema}", given=schema)
    assert contents(target) == contents(as_custom) == contents(own)
    assert objects(target) == objects(as_custom) == objects(as_schema) == objects(own)
    assert rebuilt(target) == rebuilt(as_custom) == 0


def test_a_backup_is_for_its_owner_alone_and_replaces_a_file_only_with_force(
    source: DemoService, tmp_path: Path
) -> None:
    file = tmp_path / "a.dump"
    settings = at(source.settings.database_url)
    before = os.umask(0)
    try:
        done("backup", file, settings=settings)
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.write_text("mine")
    assert f"{file} exists already" in refused("backup", file, settings=settings)
    assert file.read_text() == "mine"
    done("backup", file, "--force", settings=settings)
    assert file.read_bytes()[:5] == b"PGDMP"
    assert os.listdir(tmp_path) == ["a.dump"]


@pytest.mark.parametrize("place", ["missing/a.dump", "."])
def test_a_backup_to_where_no_file_can_be_is_refused(source: DemoService, tmp_path: Path, place: str) -> None:
    message = refused("backup", tmp_path / place, settings=at(source.settings.database_url))
    assert "does not exist" in message or "is not a regular file" in message
    assert os.listdir(tmp_path) == []


def test_a_backup_of_nothing_is_refused(target: str, tmp_path: Path) -> None:
    assert "contains no tables of this service" in refused("backup", tmp_path / "a", settings=at(target))
    missing = Settings(wallet_api_home=str(tmp_path / "home"))
    assert "There is no database in" in refused("backup", tmp_path / "a", settings=missing)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_backup_that_is_stopped_leaves_the_earlier_one_and_no_secret(
    source: DemoService, tmp_path: Path, number: signal.Signals
) -> None:
    file = tmp_path / "a.dump"
    file.write_text("the earlier one")
    url = str(source.settings.database_url)
    settings = at(url.replace("@/", ":very-secret@/"))
    with ExitStack() as stack:
        command = stack.enter_context(wallet_api("backup", "--force", str(file), settings=settings))
        stack.callback(command.kill)
        blocker = stack.enter_context(session(url))
        stack.enter_context(blocker.transaction())
        blocker.execute("LOCK TABLE position_rollup")
        assert eventually(lambda: _waits(blocker, "wallet-api backup"))
        [child] = psutil.Process(command.pid).children()
        assert "very-secret" not in " ".join(child.cmdline())
        assert child.environ()["PGPASSWORD"] == "very-secret"
        assert "Another backup is writing" in refused("backup", "--force", file, settings=at(url))
        command.send_signal(number)
        output = command.communicate(timeout=30)[0]
        assert "very-secret" not in output
    assert command.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -9}[number]
    assert file.read_text() == "the earlier one"
    if number != signal.SIGKILL:
        assert os.listdir(tmp_path) == ["a.dump"]
    assert eventually(lambda: not child.is_running())
    done("backup", "--force", file, settings=at(url))
    assert os.listdir(tmp_path) == ["a.dump"]


def _waits(connection: psycopg.Connection[dict[str, Any]], name: str) -> bool:
    connection.execute("SELECT pg_stat_clear_snapshot()")
    row = connection.execute(
        "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = %s AND wait_event_type = 'Lock'"
        " AND datname = current_database()) AS waits",
        [name],
    ).fetchone()
    return row is not None and bool(row["waits"])


def test_what_is_not_of_the_service_is_left_out_and_left_alone(
    source: DemoService, make: Made, tmp_path: Path
) -> None:
    own = make(str(source.settings.database_url))
    fill(own)
    with session(own) as connection:
        connection.execute("CREATE TABLE public.notes (text text)")
        connection.execute("INSERT INTO public.notes VALUES ('mine')")
        connection.execute("CREATE FUNCTION public.mine() RETURNS int LANGUAGE sql RETURN 1")
        connection.execute("CREATE VIEW public.few AS SELECT text FROM public.notes")
        connection.execute("CREATE SCHEMA other CREATE TABLE trades (a int)")
    before = contents(own)
    summary = done("backup", tmp_path / "a.dump", settings=at(own))
    assert summary["left_out"] == ["few", "notes"]
    restored = done("restore", "--replace", tmp_path / "a.dump", settings=at(own))
    assert restored["left_out"] == ["function public.mine"]
    assert contents(own) == before
    assert rows(own, "SELECT mine(), (SELECT text FROM few), (SELECT count(*) FROM other.trades)")


def test_several_hosts_and_options_in_the_url_work(source: DemoService, target: str, tmp_path: Path) -> None:
    def several(url: str) -> Settings:
        parts = urlsplit(url)
        folder = parts.query.removeprefix("host=")
        hosts = f"host={quote(str(tmp_path / 'nobody'), safe='')},{folder}&port=5432,5432"
        return at(parts._replace(query=f"{hosts}&options=-c%20statement_timeout%3D9000").geturl())

    done("backup", tmp_path / "a.dump", settings=several(str(source.settings.database_url)))
    done("restore", tmp_path / "a.dump", settings=several(target))
    own = str(source.settings.database_url)
    assert contents(target) == contents(own)


def test_on_a_terminal_a_bar_shows_the_progress(source: DemoService, target: str, tmp_path: Path) -> None:
    own = str(source.settings.database_url)
    for url, arguments in ((own, ["backup"]), (target, ["restore"])):
        ours, theirs = pty.openpty()
        ended = subprocess.run(
            [sys.executable, "-m", "wallet_api", *arguments, str(tmp_path / "a.dump")],
            env={**os.environ, "DATABASE_URL": url},
            stdout=subprocess.PIPE,
            stderr=theirs,
            text=True,
            timeout=60,
            check=False,
        )
        shown = os.read(ours, 65536).decode()
        os.close(ours)
        os.close(theirs)
        assert ended.returncode == 0, shown
        assert "24 wallets, 2,000 trades and 4 keys" in ended.stdout
        assert "100%" in shown
