"""The least-privilege roles of production: each does its work, and can do nothing else."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from flask import Flask
from psycopg.sql import SQL, Identifier

from tests.ledger import random_trades
from tests.ledger.contents import orphans
from tests.ledger.in_process import Importer
from tests.ledger.rows import GROUP, written
from tests.lib.backups import at, done
from tests.lib.demo_service import demo_service
from tests.lib.processes import run_command, wallet_api
from wallet_api.api.keys import create_key, revoke_key, top_up_key
from wallet_api.api.keys.usage import list_keys
from wallet_api.database import DatabaseUnavailable, NotPermitted, connect, migrations
from wallet_api.settings import Settings

ROLES = tuple(f"wallet_api_{name}" for name in ("owner", "writer", "service", "reader", "analyst"))
SCRIPT = (Path(__file__).parent.parent.parent / "config" / "roles.sql").read_bytes()


# Beside the tables that the reader and the service may not change.
_NOT_THEIR_WORK = (
    ("reader", "CREATE TEMP TABLE t (a int)"),
    ("analyst", "CREATE TEMP TABLE t (a int)"),
    ("analyst", "CREATE TABLE t (a int)"),
    *(
        ("analyst", f"SELECT * FROM {name}")
        for name in ("api_keys", "key_use", "cursor_secret", "sync_wallets")
    ),
    ("analyst", "DELETE FROM trades"),
    ("service", "UPDATE api_keys SET rate = NULL"),
    ("service", "UPDATE api_keys SET revoked_at = NULL"),
    ("service", "CREATE TABLE t (a int)"),
    ("service", "CREATE TEMP TABLE t (a int)"),
    ("service", "COPY api_keys TO PROGRAM 'cat'"),
    ("service", "SELECT pg_read_file('/etc/passwd')"),
    ("writer", "DROP TABLE trades"),
    ("writer", "ALTER TABLE trades ADD COLUMN mine int"),
    ("writer", "CREATE TABLE t (a int)"),
    ("writer", "DELETE FROM schema_migrations"),
    ("writer", "DELETE FROM api_keys"),
    ("writer", "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'"),
    ("owner", "CREATE ROLE mine"),
    ("owner", "COPY api_keys TO PROGRAM 'cat'"),
)


@dataclass(frozen=True)
class Parted:
    """A database that belongs to the owner; its address for each role, and for the superuser."""

    superuser: str

    def of(self, role: str) -> str:
        """The address for one of the roles."""
        parts = urlsplit(self.superuser)
        host = parts.netloc.rpartition("@")[2]
        return parts._replace(netloc=f"wallet_api_{role}@{host}").geturl()


@pytest.fixture
def parted(empty_database_url: str) -> Iterator[Parted]:
    parted = Parted(empty_database_url)
    with connect(empty_database_url) as superuser:
        superuser.execute(SCRIPT)
        name = Identifier(superuser.info.dbname)
        superuser.execute(SQL("ALTER DATABASE {} OWNER TO wallet_api_owner").format(name))
        with connect(parted.of("owner")) as owner:
            migrations.migrate(owner)
        # As an operator does, after every migration; a second time it changes nothing.
        superuser.execute(SCRIPT)
        superuser.execute(SCRIPT)
        yield parted
        superuser.execute(SQL("ALTER DATABASE {} OWNER TO {}").format(name, Identifier(superuser.info.user)))
        for role in ROLES:
            superuser.execute(SQL("REASSIGN OWNED BY {} TO CURRENT_USER").format(Identifier(role)))
            superuser.execute(SQL("DROP OWNED BY {}").format(Identifier(role)))
            superuser.execute(SQL("DROP ROLE {}").format(Identifier(role)))


def _tables(url: str) -> list[str]:
    with connect(url) as connection:
        rows = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
        return [row["tablename"] for row in rows]


def _refused(url: str, statement: str) -> bool:
    with connect(url) as connection:
        try:
            connection.execute(statement.encode())
        except psycopg.errors.InsufficientPrivilege:
            return True
        return False


def test_the_service_answers_everything_as_the_service_and_the_reader(
    parted: Parted, settings: Settings, make_app: Callable[[Settings], Flask]
) -> None:
    with demo_service(replace(settings, database_url=parted.of("writer"))) as service:
        with connect(parted.of("writer")) as writer:
            limited = create_key(writer, "limited", credits=2000, rate="100000/day")
        own = replace(
            service.settings, database_url=parted.of("service"), database_read_url=parted.of("reader")
        )
        client = make_app(own).test_client()
        wallet = {"blockchain": "solana", "address": service.wallet("solana", "kol")}
        headers = {"Authorization": f"Bearer {limited}"}
        for path, arguments in (
            ("/v1/wallets", GROUP),
            ("/v1/wallets/history", GROUP | wallet),
            ("/v1/wallets/holdings", wallet),
            ("/v1/transactions/volume", GROUP),
            ("/v1/wallet/leaderboard", GROUP | {"period": "7d"}),
        ):
            answer = client.get(path, query_string=arguments, headers=headers)
            assert answer.status_code == 200, (path, answer.text)
        # The first are charged in memory, and settled; the last in the database.
        for _ in range(1_010):
            answer = client.get("/v1/wallets", query_string=GROUP, headers=headers)
        assert int(answer.headers["X-Credits-Remaining"]) == 2000 - 5 - 1_010
        assert client.get("/readyz").json["data"]["primary"] == "ok"
        assert client.get("/metrics").status_code == 200
    with connect(parted.superuser) as superuser:
        assert superuser.execute("SELECT count(*) AS n FROM holdings_snapshots").fetchone() == {"n": 1}


def test_the_writer_manages_keys_and_removes_what_it_imports_and_the_reader_exports(
    parted: Parted, tmp_path: Path
) -> None:
    wallets, trades = random_trades.wallets(3), random_trades.trades(30, 3, datetime.now(UTC), 2)
    with connect(parted.of("writer")) as writer:
        create_key(writer, "one", credits=5)
        assert top_up_key(writer, "one", 5) == 10
        revoke_key(writer, "one")
        assert [row["name"] for row in list_keys(writer)] == ["one"]
    importer = Importer(parted.of("writer"))
    importer.wallets(wallets)
    for kind, rows in (("wallets", 3), ("trades", 0), ("prices", 0)):
        summary = done("export", kind, tmp_path / f"{kind}.csv", settings=at(parted.of("reader")))
        assert summary["rows"] == rows
    importer.trades(trades)
    with connect(parted.of("service")) as service:
        service.execute("INSERT INTO holdings_snapshots (wallet_id) SELECT wallet_id FROM wallets")
    assert importer.remove_trades(trades[:1]).trades == 1
    assert importer.remove_wallets(wallets[:2]).wallets == 2
    with connect(parted.of("reader")) as reader:
        assert reader.execute("SELECT count(*) AS n FROM holdings_snapshots").fetchone() == {"n": 1}
        assert orphans(reader) == {}


def test_no_role_does_what_is_not_its_work_and_another_one_cannot_even_connect(parted: Parted) -> None:
    # A reader and the service change no table but the service's own.
    own = {(table, right) for table in ("holdings_snapshots", "key_use") for right in ("INSERT", "UPDATE")}
    tables = _tables(parted.superuser)
    assert len(tables) >= 10
    for role, allowed in (("reader", set()), ("service", own)):
        with connect(parted.of(role)) as connection:
            for table in tables:
                for right in ("INSERT", "UPDATE", "DELETE", "TRUNCATE"):
                    row = connection.execute(
                        "SELECT has_table_privilege(%s, %s) AS may", [table, right]
                    ).fetchone()
                    assert row == {"may": (table, right) in allowed}, (role, table, right)
    allowed = [(role, text) for role, text in _NOT_THEIR_WORK if not _refused(parted.of(role), text)]
    assert allowed == []
    with connect(parted.superuser) as superuser:
        superuser.execute("CREATE ROLE wallet_api_stranger LOGIN")
        try:
            with pytest.raises(DatabaseUnavailable) as refusal:
                connect(parted.of("stranger"))
            assert "CONNECT" in str(refusal.value.__cause__)
        finally:
            superuser.execute("DROP ROLE wallet_api_stranger")


def test_a_command_with_a_wrong_role_names_the_one_that_it_needs(parted: Parted, tmp_path: Path) -> None:
    written(tmp_path / "wallets.ndjson", random_trades.wallets(1)[0])
    with connect(parted.of("writer")) as writer:
        create_key(writer, "one")
    file = str(tmp_path / "wallets.ndjson")
    for role, *command in (
        *(("reader", "rebuild"), ("reader", "demo", "--wallets", "9", "--trades", "20", "--days", "1")),
        *(("service", "keys", "revoke", "one"), ("service", "import", "wallets", file)),
        ("service", "remove", "wallets", "--yes", file),
    ):
        refused = run_command(*command, settings=at(parted.of(role)))
        # `main` translates the one into the other.
        refusals = (NotPermitted, psycopg.errors.InsufficientPrivilege)
        assert isinstance(refused.exception, refusals), command
    for role, command, needed in (
        ("reader", ["keys", "create", "two"], "wallet_api_writer"),
        # The last, since it loses the table of migrations.
        ("stranger", ["migrate"], "wallet_api_owner"),
    ):
        with connect(parted.superuser) as superuser:
            superuser.execute("CREATE ROLE wallet_api_stranger LOGIN IN ROLE wallet_api_writer")
            try:
                if role == "stranger":
                    superuser.execute("DROP TABLE schema_migrations CASCADE")
                own = Settings(database_url=parted.of(role))
                with wallet_api(*command, settings=own, cwd=tmp_path) as process:
                    output, _ = process.communicate(timeout=60)
            finally:
                superuser.execute("DROP ROLE wallet_api_stranger")
        assert process.returncode == 1, command
        last = output.splitlines()[-1]
        assert last.startswith("Error: permission denied")
        assert f"'wallet-api {command[0]}' needs the rights of the role {needed}" in last


def test_a_service_with_a_wrong_role_logs_the_one_that_it_needs(
    parted: Parted,
    settings: Settings,
    make_app: Callable[[Settings], Flask],
    caplog: pytest.LogCaptureFixture,
) -> None:
    with connect(parted.of("writer")) as writer:
        key = create_key(writer, "limited", credits=1)
    client = make_app(replace(settings, database_url=parted.of("reader"))).test_client()
    answer = client.get("/v1/wallets", query_string=GROUP, headers={"Authorization": f"Bearer {key}"})
    assert answer.status_code == 500
    assert answer.json["error"]["message"].startswith("The service lacks a right on the database.")
    assert "permission denied for table api_keys" in caplog.text
    assert "the service needs the rights of the role wallet_api_service" in caplog.text


def test_later_tables_need_no_other_grant_and_an_analyst_reads_the_ledger_alone(parted: Parted) -> None:
    with connect(parted.of("owner")) as owner:
        owner.execute("CREATE TABLE later (a int)")
    for role in ("reader", "service"):
        assert not _refused(parted.of(role), "SELECT FROM later")
        assert _refused(parted.of(role), "INSERT INTO later VALUES (1)")
    assert not _refused(parted.of("writer"), "INSERT INTO later VALUES (1)")
    readable = {
        table
        for table in _tables(parted.superuser)
        if not _refused(parted.of("analyst"), f"SELECT FROM {table}")
    }
    assert readable == {
        *("wallets", "wallet_groups", "tokens", "token_faces", "native_prices", "token_prices"),
        *("trades", "positions", "lifetimes", "position_days", "wallet_days", "wallet_hours"),
        *("volume_rollup", "token_days", "token_quotes", "market_prices", "signal_hours", "token_outcomes"),
    }
    for view in ("ledger_trades", "ledger_positions"):
        assert not _refused(parted.of("analyst"), f"SELECT * FROM {view}")
