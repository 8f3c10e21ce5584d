"""`wallet-api backup` and `wallet-api restore`: what comes back is what was there, on every server."""

import json
import os
import pty
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import psutil
import psycopg
import pytest
from flask import Flask

from tests import legacy
from tests.backups import (
    BALANCES,
    compare_answers,
    contents,
    created,
    debian_server,
    done,
    objects,
    questions,
    refused,
    run,
    session,
)
from tests.demo_service import DemoService, demo_service
from tests.ledger.door import Importer
from tests.processes import wallet_api
from tests.waiting import eventually
from wallet_api import embedded, migrations
from wallet_api.access.keys import create_key, revoke_key
from wallet_api.app import create_app
from wallet_api.backup.programs import oldest_for
from wallet_api.database import connect
from wallet_api.demo.world import World
from wallet_api.settings import Settings

Made = Callable[[str], str]


@pytest.fixture(scope="module")
def newest_server(servers: Settings) -> Iterator[str]:
    """The address of a server of the embedded PostgreSQL."""
    with ExitStack() as stack:
        if not os.environ.get("DATABASE_URL"):
            yield str(servers.database_url)
            return
        home = stack.enter_context(tempfile.TemporaryDirectory(prefix="wallet-api-tests-"))
        own = Settings(wallet_api_home=home)
        yield str(stack.enter_context(embedded.running(own, valkey=False)).database_url)


@pytest.fixture(scope="module")
def older_server(newest_server: str) -> Iterator[str]:
    """The address of a server of Debian's PostgreSQL, which has to be older than the embedded one."""
    with (
        tempfile.TemporaryDirectory(prefix="wallet-api-tests-") as folder,
        debian_server(Path(folder)) as url,
    ):
        assert _major(url) < _major(newest_server)
        yield url


@pytest.fixture(scope="module")
def source(servers: Settings) -> Iterator[DemoService]:
    """A service with a demo world, snapshots of balances, keys of every kind and leased credits."""
    with created(str(servers.database_url)) as url:
        with connect(url) as connection:
            migrations.migrate(connection)
        settings = Settings(
            database_url=url, valkey_url=servers.valkey_url, web_threads=4, holdings_ttl_seconds=3600.0
        )
        with demo_service(settings) as service:
            with connect(url) as connection:
                _add_keys(connection)
            with closing(_Service(service.settings)) as asked:
                for path in questions(asked.client, service.headers):
                    assert asked.client.get(path, headers=service.headers).status_code == 200
            yield service


@pytest.fixture(scope="module")
def dump(source: DemoService, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of `source`."""
    file = tmp_path_factory.mktemp("backups") / "source.dump"
    done("backup", file, settings=_at(source.settings.database_url))
    return file


@pytest.fixture
def make() -> Iterator[Made]:
    """Makes empty databases on a server, and drops them after the test."""
    with ExitStack() as stack:
        yield lambda server: stack.enter_context(created(server))


@pytest.fixture
def target(make: Made, servers: Settings) -> str:
    """The address of an empty database."""
    return make(str(servers.database_url))


class _Service:
    """The application over a database, without a server between."""

    def __init__(self, settings: Settings) -> None:
        self.app: Flask = create_app(settings)
        self.client = self.app.test_client()

    def close(self) -> None:
        """Close its connections."""
        self.app.extensions["wallet_api"].close()


def _at(url: str | None) -> Settings:
    return Settings(database_url=url)


def _major(url: str) -> int:
    with session(url) as connection:
        return connection.info.server_version // 10_000


def _add_keys(connection: Any) -> None:
    create_key(connection, "limited", credits=5_000, rate="600/minute")
    create_key(connection, "expiring", expires_at=datetime(2100, 1, 1, tzinfo=UTC))
    create_key(connection, "revoked")
    revoke_key(connection, "revoked")
    connection.execute("UPDATE api_keys SET credits = credits - 256 WHERE name = 'limited'")
    connection.execute(
        "INSERT INTO credit_leases (lease_id, key_id, worker, amount, spent)"
        " SELECT gen_random_uuid(), key_id, gen_random_uuid(), 256, 56 FROM api_keys WHERE name = 'limited'"
    )


def _listed_keys(url: str) -> Any:
    result = run("keys", "list", "--json", settings=_at(url))
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def _rebuilt(url: str) -> int:
    return sum(done("rebuild", settings=_at(url)).values())


def _check_equal(source: DemoService, url: str) -> None:
    """Everything that is stored, answered and listed is equal in the source and in the database at `url`."""
    own = str(source.settings.database_url)
    assert contents(url, without=BALANCES) == contents(own, without=BALANCES)
    assert objects(url) == objects(own)
    assert _listed_keys(url) == _listed_keys(own)
    before, after = _Service(source.settings), _Service(replace(source.settings, database_url=url))
    with closing(before), closing(after):
        assert compare_answers(before.client, after.client, source.headers) > 100
    assert _rebuilt(url) == 0


def test_everything_is_equal_after_a_restore(source: DemoService, dump: Path, target: str) -> None:
    summary = done("restore", dump, settings=_at(target))
    assert {name: summary[name] for name in ("wallets", "trades", "keys", "migrated", "left_out")} == {
        "wallets": 24,
        "trades": 2_000,
        "keys": 4,
        "migrated": [],
        "left_out": [],
    }
    _check_equal(source, target)


def test_a_restored_database_takes_in_what_comes_later(dump: Path, target: str) -> None:
    done("restore", dump, settings=_at(target))
    world = World(datetime.now(UTC), wallets=30, trades=300, days=1, seed=99)
    Importer(target).wallets(world.wallet_rows())
    Importer(target).trades(world.trade_rows())
    assert run("keys", "create", "another", settings=_at(target)).exit_code == 0
    assert _rebuilt(target) == 0


def test_credits_that_workers_had_leased_are_returned_to_their_keys(dump: Path, target: str) -> None:
    done("restore", dump, settings=_at(target))
    with session(target) as connection:
        left = connection.execute("SELECT count(*) AS leases FROM credit_leases").fetchone()
        key = connection.execute("SELECT credits FROM api_keys WHERE name = 'limited'").fetchone()
    assert left == {"leases": 0}
    assert key == {"credits": 5_000 - 56}


def test_data_moves_from_the_embedded_server_to_an_own_one_and_back(
    newest_server: str, make: Made, tmp_path: Path
) -> None:
    with tempfile.TemporaryDirectory(prefix="wallet-api-tests-") as folder:
        first, second = (Settings(wallet_api_home=f"{folder}/{name}") for name in ("first", "second"))
        with embedded.running(first, valkey=False) as started:
            made = run("demo", "--wallets", "10", "--trades", "500", settings=first)
            assert made.exit_code == 0, made.output
            before = contents(str(started.database_url))
            done("backup", tmp_path / "1.dump", settings=first)
        own = make(newest_server)
        moved = run("restore", tmp_path / "1.dump", settings=_at(own))
        assert moved.exit_code == 0, moved.output
        assert "config/roles.sql" in moved.stderr
        assert contents(own) == before
        done("backup", tmp_path / "2.dump", settings=_at(own))
        with embedded.running(second, valkey=False) as started:
            back = run("restore", tmp_path / "2.dump", settings=second)
            assert (back.exit_code, back.stderr) == (0, "")
            assert contents(str(started.database_url)) == before


def test_a_newer_server_takes_the_backup_of_an_older_one(
    source: DemoService, older_server: str, newest_server: str, make: Made, tmp_path: Path
) -> None:
    old, new, other = make(older_server), make(newest_server), make(older_server)
    _fill(old)
    backup = tmp_path / "old.dump"
    assert done("backup", backup, settings=_at(old))["server"] == _major(older_server)
    done("restore", backup, settings=_at(new))
    done("restore", backup, settings=_at(other))
    assert contents(new) == contents(other) == contents(old)
    assert _rebuilt(new) == _rebuilt(other) == 0


def test_an_older_server_is_refused_before_anything_is_touched(
    older_server: str, newest_server: str, make: Made, tmp_path: Path
) -> None:
    new, old = make(newest_server), make(older_server)
    for url in (new, old):
        _fill(url)
    before = contents(old)
    done("backup", tmp_path / "new.dump", settings=_at(new))
    message = refused("restore", "--replace", tmp_path / "new.dump", settings=_at(old))
    assert f"this server is PostgreSQL {_major(older_server)}" in message
    assert f"Restore it to PostgreSQL {_major(newest_server)} or newer" in message
    assert contents(old) == before


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


def test_the_commands_for_a_folder_of_another_version_move_its_data(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="wallet-api-tests-") as folder:
        home = Path(folder) / "home"
        home.mkdir(mode=0o755)
        with debian_server(home, data_name="postgres", user="wallet_api") as url:
            with session(url) as connection:
                connection.execute("CREATE DATABASE wallet_api")
            old = urlsplit(url)._replace(path="/wallet_api").geturl()
            _fill(old)
            before = contents(old)
        message = _refused_with_commands(home)
        environment = {name: value for name, value in os.environ.items() if name not in Settings.variables()}
        environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
        for command in message:
            subprocess.run(command, shell=True, check=True, env=environment, cwd=tmp_path, timeout=60)
        with embedded.running(Settings(wallet_api_home=f"{home}-18"), valkey=False) as started:
            assert contents(str(started.database_url)) == before


def _refused_with_commands(home: Path) -> list[str]:
    """The commands in the message that refuses a folder of another version."""
    with (
        pytest.raises(embedded.EmbeddedError, match="To move the data") as refusal,
        embedded.running(Settings(wallet_api_home=str(home)), valkey=False),
    ):
        pass
    return [line.strip() for line in str(refusal.value).splitlines() if line.startswith("  ")]


def test_a_backup_of_a_version_before_commit_d967877_is_refused(
    old_database: str, target: str, tmp_path: Path
) -> None:
    with session(old_database) as connection:
        connection.execute("DROP FUNCTION latest_price")
    done("backup", tmp_path / "older.dump", settings=_at(old_database))
    message = refused("restore", tmp_path / "older.dump", settings=_at(target))
    assert "is of a version before commit d967877, which cannot be upgraded" in message
    assert contents(target) == {}


@pytest.mark.parametrize("form", ["plain", "custom"])
def test_a_dump_of_commit_d967877_restored_without_us_is_rescued_by_migrate(
    old_database: str, target: str, form: str
) -> None:
    text = _program(old_database, "pg_dump", f"--format={form}", old_database)
    options = ("--quiet", "--no-psqlrc") if form == "plain" else ("--no-owner",)
    program = oldest_for(_major(target), tls=False).path("psql" if form == "plain" else "pg_restore")
    ended = subprocess.run(
        [program, *options, f"--dbname={target}"], input=text, capture_output=True, timeout=60, check=False
    )
    assert b"function shown(numeric, integer) does not exist" in ended.stderr
    migrated = run("migrate", settings=_at(target))
    assert migrated.exit_code == 0, migrated.output
    assert _rebuilt(target) == 0
    assert _count(target) == 60


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
        assert eventually(lambda: _count(busy) > 0)
        summary = done("backup", Path(folder) / "busy.dump", settings=_at(busy))
        thread.join()
        restored = done("restore", Path(folder) / "busy.dump", settings=_at(target))
    assert 0 < summary["trades"] <= 6_000
    assert (restored["wallets"], restored["trades"]) == (summary["wallets"], summary["trades"])
    assert _rebuilt(target) == 0


def _count(url: str) -> int:
    with session(url) as connection:
        row = connection.execute("SELECT count(*) AS trades FROM trades").fetchone()
        return int(row["trades"]) if row else 0


def _fill(url: str) -> None:
    with connect(url) as connection:
        migrations.migrate(connection)
        create_key(connection, "one", credits=100)
    world = World(datetime.now(UTC), wallets=8, trades=200, days=3, seed=3)
    Importer(url).wallets(world.wallet_rows())
    Importer(url).prices(world.price_rows())
    Importer(url).trades(world.trade_rows())


@pytest.fixture
def old_database(make: Made, servers: Settings) -> str:
    """A database as commit d967877 made and filled it; all its trades are older than any rollup."""
    url = make(str(servers.database_url))
    with session(url) as connection:
        legacy.make_tables(connection)
        connection.execute("DELETE FROM credit_ledger")
        connection.execute((legacy.DATA / "old_rows.sql").read_bytes())
    return url


@pytest.mark.parametrize("maker", ["wallet-api", "pg_dump"])
def test_a_backup_of_commit_d967877_is_accepted(
    old_database: str, target: str, make: Made, servers: Settings, tmp_path: Path, maker: str
) -> None:
    backup = tmp_path / "old.dump"
    if maker == "wallet-api":
        done("backup", backup, settings=_at(old_database))
    else:
        _program(old_database, "pg_dump", "--format=custom", f"--file={backup}", f"--dbname={old_database}")
    keys = _rows(
        old_database, "SELECT name, key_hash, rate, revoked_at, created_at FROM api_keys ORDER BY name"
    )
    summary = done("restore", backup, settings=_at(target))
    assert summary["migrated"]
    assert (summary["wallets"], summary["trades"], summary["keys"]) == (8, 60, 3)
    assert _rebuilt(target) == 0
    assert (
        _rows(target, "SELECT name, key_hash, rate, revoked_at, created_at FROM api_keys ORDER BY name")
        == keys
    )
    assert [key["credits"] for key in _listed_keys(target)] == [5_000 - 56, None, None]

    # The answers are those of an import of the same trades.
    again = make(str(servers.database_url))
    _import_again(target, again)
    with connect(target) as connection:
        headers = {"Authorization": f"Bearer {create_key(connection, 'test', rate='100000/second')}"}
    with connect(again) as connection:
        connection.execute("INSERT INTO api_keys (name, key_hash, rate) SELECT %s, %s, %s", _key(target))
    one, other = (
        _Service(Settings(database_url=url, valkey_url=servers.valkey_url)) for url in (target, again)
    )
    with closing(one), closing(other):
        assert compare_answers(one.client, other.client, headers, skipping="holdings") > 50


def _key(url: str) -> list[Any]:
    [row] = _rows(url, "SELECT name, key_hash, rate FROM api_keys WHERE name = 'test'")
    return list(row.values())


def _rows(url: str, query: str) -> list[dict[str, Any]]:
    with session(url) as connection:
        return connection.execute(query.encode()).fetchall()


def _import_again(old: str, new: str) -> None:
    with connect(new) as connection:
        migrations.migrate(connection)
    wallets = """
    SELECT blockchain, type, address AS wallet_address, name, image_url, twitter, telegram, copytrade_link
      FROM wallets
    """
    trades = """
    SELECT wallets.blockchain, address AS wallet_address, tx_signature, mint, token_name,
           CASE WHEN is_sell THEN 'sell' ELSE 'buy' END AS transaction_type, token_amount::text, value::text,
           value_usd::text, to_json(created_at) #>> '{}' AS created_at, event_index
      FROM trades JOIN wallets USING (wallet_id) JOIN tokens USING (token_id)
    """
    prices = "SELECT currency, usd::text, to_json(priced_at) #>> '{}' AS priced_at FROM native_prices"
    importer = Importer(new)
    importer.wallets(_rows(old, wallets))
    importer.trades(_rows(old, trades))
    importer.prices(_rows(old, prices))


def test_plain_programs_of_postgresql_restore_it_too(source: DemoService, target: str, make: Made) -> None:
    own = str(source.settings.database_url)
    as_custom, as_schema = make(own), make(own)
    text = _program(own, "pg_dump", own)
    _program(
        target, "psql", "--quiet", "--set=ON_ERROR_STOP=1", "--no-psqlrc", f"--dbname={target}", given=text
    )
    custom = _program(own, "pg_dump", "--format=custom", own)
    _program(as_custom, "pg_restore", "--exit-on-error", f"--dbname={as_custom}", given=custom)
    schema = _program(own, "pg_dump", "--schema-only", own)
    _program(as_schema, "psql", "--quiet", "--set=ON_ERROR_STOP=1", f"--dbname={as_schema}", given=schema)
    assert contents(target) == contents(as_custom) == contents(own)
    assert objects(target) == objects(as_custom) == objects(as_schema) == objects(own)
    assert _rebuilt(target) == _rebuilt(as_custom) == 0


def _program(url: str, name: str, *arguments: str, given: bytes = b"") -> bytes:
    program = oldest_for(_major(url), tls=False).path(name)
    ended = subprocess.run([program, *arguments], input=given, capture_output=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr.decode()
    assert b"error" not in ended.stderr
    return ended.stdout


def test_a_backup_is_for_its_owner_alone_and_replaces_a_file_only_with_force(
    source: DemoService, tmp_path: Path
) -> None:
    file = tmp_path / "a.dump"
    settings = _at(source.settings.database_url)
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
    message = refused("backup", tmp_path / place, settings=_at(source.settings.database_url))
    assert "does not exist" in message or "is not a regular file" in message
    assert os.listdir(tmp_path) == []


def test_a_backup_of_nothing_is_refused(target: str, tmp_path: Path) -> None:
    assert "contains no tables of this service" in refused("backup", tmp_path / "a", settings=_at(target))
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
    settings = _at(url.replace("@/", ":very-secret@/"))
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
        assert "Another backup is writing" in refused("backup", "--force", file, settings=_at(url))
        command.send_signal(number)
        output = command.communicate(timeout=30)[0]
        assert "very-secret" not in output
    assert command.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -9}[number]
    assert file.read_text() == "the earlier one"
    if number != signal.SIGKILL:
        assert os.listdir(tmp_path) == ["a.dump"]
    assert eventually(lambda: not child.is_running())
    done("backup", "--force", file, settings=_at(url))
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
    _fill(own)
    with session(own) as connection:
        connection.execute("CREATE TABLE public.notes (text text)")
        connection.execute("INSERT INTO public.notes VALUES ('mine')")
        connection.execute("CREATE FUNCTION public.mine() RETURNS int LANGUAGE sql RETURN 1")
        connection.execute("CREATE VIEW public.few AS SELECT text FROM public.notes")
        connection.execute("CREATE SCHEMA other CREATE TABLE trades (a int)")
    before = contents(own)
    summary = done("backup", tmp_path / "a.dump", settings=_at(own))
    assert summary["left_out"] == ["few", "notes"]
    restored = done("restore", "--replace", tmp_path / "a.dump", settings=_at(own))
    assert restored["left_out"] == ["function public.mine"]
    assert contents(own) == before
    assert _rows(own, "SELECT mine(), (SELECT text FROM few), (SELECT count(*) FROM other.trades)")


def test_several_hosts_and_options_in_the_url_work(source: DemoService, target: str, tmp_path: Path) -> None:
    def several(url: str) -> Settings:
        parts = urlsplit(url)
        folder = parts.query.removeprefix("host=")
        hosts = f"host={quote(str(tmp_path / 'nobody'), safe='')},{folder}&port=5432,5432"
        return _at(parts._replace(query=f"{hosts}&options=-c%20statement_timeout%3D9000").geturl())

    done("backup", tmp_path / "a.dump", settings=several(str(source.settings.database_url)))
    done("restore", tmp_path / "a.dump", settings=several(target))
    own = str(source.settings.database_url)
    assert contents(target, without=BALANCES) == contents(own, without=BALANCES)


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
