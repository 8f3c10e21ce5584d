"""The schema and every query keep to what Citus takes on a sharded ledger; what does not is found."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from tests.citus import Tables, cluster_faults, own_faults, read_tables, schema_faults, statements
from tests.ledger.sql_files import included_files, package_of
from wallet_api.database import load_sql, sharded_sql

ROOT = Path(__file__).parent.parent.parent
DISTRIBUTION = (ROOT / "wallet_api" / "migrations" / "citus.sql").read_text()
MIGRATIONS = sorted((ROOT / "wallet_api" / "migrations").glob("*.sql"))
# A part is in the statements that include it.
QUERIES = sorted(set((ROOT / "wallet_api").rglob("*.sql")) - set(MIGRATIONS) - set(included_files()))


@pytest.fixture(scope="module")
def tables() -> Tables:
    plain = re.search(r"Plain tables of the coordinator:(.*)\Z", DISTRIBUTION, re.DOTALL)
    assert plain is not None
    # What a later migration drops was never placed.
    numbered = [file for file in MIGRATIONS if file.name[0].isdigit()]
    dropped = re.findall(
        r"^DROP TABLE (\w+);", "\n".join(file.read_text() for file in numbered), re.MULTILINE
    )
    return read_tables(DISTRIBUTION, ", ".join([plain[1].strip().removesuffix("."), *dropped]))


def test_every_table_has_one_place(tables: Tables) -> None:
    made = {
        name
        for file in MIGRATIONS
        for name in re.findall(
            r"^CREATE TABLE (?:IF NOT EXISTS )?(?:\w+\.)?(\w+)", file.read_text(), re.MULTILINE
        )
    }
    assert made | {"schema_migrations"} == tables.reference | tables.distributed | tables.plain
    assert not tables.reference & tables.distributed
    assert not tables.plain & (tables.reference | tables.distributed)


@pytest.mark.parametrize("file", MIGRATIONS, ids=lambda file: file.stem)
def test_a_migration_keeps_to_the_rules(file: Path, tables: Tables) -> None:
    faults = [
        fault for statement in statements(file.read_text()) for fault in schema_faults(statement, tables)
    ]
    assert faults == []


@pytest.mark.parametrize("file", QUERIES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_a_query_keeps_to_the_rules(file: Path, tables: Tables) -> None:
    faults = [
        fault
        for statement in statements(sharded_sql(load_sql(package_of(file), file.stem)))
        for fault in cluster_faults(statement, tables)
    ]
    assert faults == []


@pytest.mark.parametrize("name", ["history", "calendar", "tracker"])
def test_a_statement_of_one_wallet_reads_no_rows_of_others(name: str, tables: Tables) -> None:
    # The module says which part a cluster leaves out.
    import_module(f"wallet_api.queries.{name}")
    (statement,) = statements(sharded_sql(load_sql("wallet_api.queries", name)))
    assert list(own_faults(statement, tables)) == []


@pytest.mark.parametrize(
    ("sql", "fault"),
    [
        ("SELECT * FROM positions WHERE token_id = $1", "positions of other wallets"),
        ("WITH tokens AS (SELECT 1) SELECT * FROM tokens", "tokens is a table too"),
        ("SELECT * FROM wallets, trades WHERE trades.wallet_id = $1", "a list of tables"),
        ("SELECT * FROM volume_rollup", "on the coordinator alone"),
    ],
)
def test_what_a_shard_cannot_run_is_found(sql: str, fault: str, tables: Tables) -> None:
    faults = [found for statement in statements(sql) for found in own_faults(statement, tables)]
    assert any(fault in found for found in faults), faults


@pytest.mark.parametrize(
    ("sql", "fault"),
    [
        ("CREATE TABLE trades (trade_id bigint PRIMARY KEY, wallet_id bigint)", "a key of trades"),
        ("CREATE TABLE trades (wallet_id bigint, a int, UNIQUE (a))", "a key of trades"),
        ("CREATE UNIQUE INDEX ON trades (tx_signature)", "a unique index"),
        ("ALTER TABLE trades ADD CONSTRAINT a UNIQUE (tx_signature)", "a key of trades"),
        (
            "ALTER TABLE wallets ADD FOREIGN KEY (wallet_id) REFERENCES positions (wallet_id)",
            "not co-located",
        ),
        ("ALTER TABLE trades ADD FOREIGN KEY (wallet_id) REFERENCES api_keys (key_id)", "coordinator alone"),
        ("CREATE TABLE elsewhere (a int)", "placed nowhere"),
        ("CREATE TRIGGER a AFTER INSERT ON tokens EXECUTE FUNCTION b()", "a trigger"),
        (
            "CREATE FUNCTION f() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM trades'",
            "the function f",
        ),
        (
            "CREATE FUNCTION f() RETURNS SETOF numeric BEGIN ATOMIC SELECT value FROM trades; END",
            "the function f",
        ),
        ("SET search_path = ledger", "search_path"),
        ("SELECT * FROM trades WHERE wallet_id IN (1, 2) FOR UPDATE", "FOR UPDATE"),
        ("WITH RECURSIVE a AS (SELECT 1) SELECT * FROM a", "recursive"),
        ("SELECT wallet_id FROM trades GROUP BY ROLLUP (wallet_id)", "ROLLUP"),
        (
            "SELECT * FROM wallets w WHERE EXISTS (SELECT FROM trades t WHERE t.value > w.wallet_id)",
            "a subquery",
        ),
        ("SELECT * FROM wallets, LATERAL (SELECT * FROM trades ORDER BY value LIMIT 1) AS a", "LATERAL"),
        ("SELECT * FROM tokens LEFT JOIN trades ON trades.token_id = tokens.token_id", "an outer join"),
        ("UPDATE trades SET value = random()", "random()"),
        ("UPDATE trades SET wallet_id = 2", "wallet_id changes"),
        (
            "INSERT INTO holdings_snapshots (wallet_id) VALUES (1)"
            " ON CONFLICT (wallet_id) DO UPDATE SET claimed_at = now()",
            "now()",
        ),
        (
            "INSERT INTO holdings_snapshots (wallet_id) VALUES (1)"
            " ON CONFLICT (wallet_id) DO UPDATE SET claimed_at = CURRENT_TIMESTAMP",
            "the time of now",
        ),
    ],
)
def test_what_breaks_a_rule_is_found(sql: str, fault: str, tables: Tables) -> None:
    faults = [found for statement in statements(sql) for found in schema_faults(statement, tables)]
    assert any(fault in found for found in faults), faults


@pytest.mark.parametrize(
    ("sql", "fault"),
    [
        (
            "SELECT EXISTS (SELECT FROM tokens) FROM trades WHERE wallet_id = $1",
            "EXISTS of no column",
        ),
        (
            "SELECT * FROM incoming LEFT JOIN trades ON trades.wallet_id = incoming.wallet_id",
            "an outer join with a table that is not sharded",
        ),
        (
            "SELECT * FROM tracked, LATERAL (SELECT * FROM trades WHERE wallet_id = tracked.wallet_id"
            " OFFSET 0) AS own",
            "OFFSET in a LATERAL",
        ),
        (
            "SELECT * FROM tracked, LATERAL (SELECT * FROM trades WHERE wallet_id = tracked.wallet_id"
            " LIMIT 1) AS own",
            "LIMIT in a LATERAL",
        ),
        (
            "UPDATE holdings_snapshots SET failure = NULL WHERE wallet_id = $1"
            " RETURNING to_char(refreshed_at, 'YYYY')",
            "to_char() in RETURNING",
        ),
        (
            "INSERT INTO holdings_snapshots AS kept (wallet_id) VALUES (1) ON CONFLICT (wallet_id)"
            " DO UPDATE SET failure = NULL WHERE kept.refreshed_at + make_interval(secs => 1) < now()",
            "ON CONFLICT adds an interval",
        ),
        (
            "INSERT INTO holdings_snapshots AS kept (wallet_id) SELECT wallet_id FROM wallets ON CONFLICT"
            " (wallet_id) DO UPDATE SET failure = NULL WHERE kept.failure = $1",
            "a parameter in the ON CONFLICT of a SELECT",
        ),
        (
            "SELECT (SELECT address FROM wallets WHERE wallets.wallet_id = trades.wallet_id) FROM trades"
            " WHERE token_id = $1 ORDER BY created_at FETCH FIRST 1 ROW WITH TIES",
            "WITH TIES",
        ),
        ("DELETE FROM wallets USING removed WHERE removed.wallet_id = wallets.wallet_id", "DELETE … USING"),
        (
            "DELETE FROM volume_rollup WHERE NOT EXISTS (SELECT 1 FROM wallets)",
            "a plain table is changed by one that is not",
        ),
    ],
)
def test_what_a_cluster_does_not_plan_is_found(sql: str, fault: str, tables: Tables) -> None:
    faults = [found for statement in statements(sql) for found in cluster_faults(statement, tables)]
    assert any(fault in found for found in faults), faults
