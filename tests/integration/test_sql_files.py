"""Every .sql file: whole, headed by what it does and needs, and fit for the real tables."""

import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, LiteralString

import pytest

import wallet_api
from tests.documents import print_sql
from wallet_api.database import Connection, load_sql, load_statements
from wallet_api.ledger import staging
from wallet_api.queries import history

PACKAGE = Path(wallet_api.__file__).parent
FILES = sorted(PACKAGE.rglob("*.sql"))
# Those that others include, which are no statements by themselves.
INCLUDED = {
    (PACKAGE / folder if folder else file.parent) / f"{name}.sql"
    for file in FILES
    for folder, name in re.findall(r"^ *\{(?:(\w+)\.)?(\w+)[}:]", file.read_text(), re.MULTILINE)
    # They are no files: a column for each type, and the end of a statement of lists.
    if name not in ("wallet_types", "lists")
}
# A migration and the tables of a session have no plan. What other statements include is looked at in these.
PLANNED = [
    file
    for file in FILES
    if file.parent.name != "migrations" and file.stem not in ("staging", "clear") and file not in INCLUDED
]
QUERIES = [file for file in PLANNED if file.parent.name == "queries"]


def statements_of(file: Path) -> dict[str, LiteralString]:
    """The statements of a file that have a plan, by name."""
    package = ".".join(file.parent.relative_to(PACKAGE.parent).parts)
    statements = load_statements(package, file.stem) or {file.stem: load_sql(package, file.stem)}
    return {
        name: statement
        for name, statement in statements.items()
        if name != "staging" and not statement.startswith(("ANALYZE", "TRUNCATE"))
    }


# The tables that have all columns of a list of sums.
TABLES_OF = {
    "sums": ("positions", "lifetimes", "position_days", "wallet_days"),
    "highest": ("positions", "lifetimes", "position_days"),
    "lowest": ("positions", "lifetimes", "position_days"),
    "counts": ("lifetimes",),
    "hours": ("wallet_hours", "token_days"),
    "token_days": ("token_days",),
}
COLUMNS = "SELECT attname AS name FROM pg_attribute WHERE attrelid = %(table)s::regclass"

# What stands for the parameters of a name; others are NULL.
SAMPLES: dict[str, Any] = {
    "blockchain": "solana",
    "type": "kol",
    "address": "So11111111111111111111111111111111111111112",
    "mint": "mint",
    "mints": ["mint"],
    "currency": "SOL",
    "wallet_id": 1,
    "token_id": 1,
    "wallet_ids": [1],
    "limit": 50,
    "after": "",
    "tx_signature": "s",
    "event_index": 0,
    "is_sell": True,
    "amount": 1,
    "since": datetime(2026, 1, 1, tzinfo=UTC),
    "last_mint": "mint",
    "overview": True,
    "kept": 1,
    "price_min_usd": 1,
    "token_ids": [1],
    "lock_class": 1,
    "sizes": [3600, 1],
    "starts": [datetime(2026, 1, 1, tzinfo=UTC)] * 2,
    "ends": [datetime(2026, 1, 2, tzinfo=UTC)] * 2,
    "first_day": date(2026, 1, 1),
    "end_day": date(2026, 1, 2),
    # With NULL in their place nothing is read, and the plan says nothing.
    "length": timedelta(hours=6),
    **dict.fromkeys(
        ("now", "until", "created_at", "horizon", "earliest", "latest", "price_oldest_at"),
        datetime(2026, 1, 1, tzinfo=UTC),
    ),
}


# All indexes, and which of them enforce a key.
INDEXES = """
SELECT indexname,
       EXISTS (SELECT
                 FROM pg_constraint
                WHERE conindid = format('%I.%I', schemaname, indexname)::regclass
                  AND contype IN ('p', 'u')) AS is_rule
  FROM pg_indexes
 WHERE schemaname = 'public'
"""


def name_of(file: Path) -> str:
    """The name of a file in the output of tests."""
    return str(file.relative_to(PACKAGE))


def parameters_of(statement: str) -> dict[str, Any]:
    """Something for every parameter of a statement."""
    return {name: SAMPLES.get(name) for name in re.findall(r"%\((\w+)\)s", statement)}


def explain(connection: Connection, statement: LiteralString) -> str:
    """PostgreSQL's plan for a statement."""
    rows = connection.execute("EXPLAIN " + statement, parameters_of(statement))
    return "\n".join(row["QUERY PLAN"] for row in rows)


def head_of(file: Path) -> str:
    """The comment that a file begins with, as one line."""
    lines = file.read_text().splitlines()
    comment = lines[: next(n for n, line in enumerate([*lines, ""]) if not line.startswith("--"))]
    return " ".join(line.removeprefix("--").strip() for line in comment)


@pytest.fixture
def session(connection: Connection) -> Connection:
    """A connection that has the tables of an import as well, and looks for an index wherever one would do."""
    staging.prepare(connection)
    for name in ("wallets", "remove", "rebuild", "quotes"):
        connection.execute(load_statements("wallet_api.ledger", name)["staging"])
    connection.execute("CREATE TEMP TABLE incoming_prices (line_number bigint, LIKE native_prices)")
    connection.execute("SET enable_seqscan = off")
    return connection


def test_every_statement_fits_the_real_tables(session: Connection) -> None:
    statements = [(file, *named) for file in PLANNED for named in statements_of(file).items()]
    assert len(statements) > 80
    for file, name, statement in statements:
        if "run_command_on_workers" in statement:
            # Only Citus has it: test_citus_commits.py runs the statement.
            continue
        assert explain(session, statement), (name_of(file), name)


def test_every_file_is_headed_by_a_sentence() -> None:
    for file in FILES:
        assert re.match(r"[A-Z].+\.", head_of(file)), f"{name_of(file)} begins with {head_of(file)!r}"


def test_each_of_several_statements_ends_with_a_semicolon_and_a_single_one_without() -> None:
    for file in {*PLANNED, *INCLUDED}:
        single, *several = re.split(r"^(?=-- \w+ --$)", file.read_text(), flags=re.MULTILINE)
        ends = [text.rstrip().endswith(";") for text in several or [single]]
        assert ends == [bool(several)] * len(ends), name_of(file)


def test_a_statement_is_printed_as_it_runs(capsys: pytest.CaptureFixture[str]) -> None:
    print_sql.main("queries/leaderboard")
    assert (
        capsys.readouterr().out == f"-- leaderboard --\n{load_sql('wallet_api.queries', 'leaderboard')};\n\n"
    )
    print_sql.main("wallet_api/ledger/totals.sql")
    printed = capsys.readouterr().out
    assert "-- positions --\n" in printed
    assert "\nhold_cost = total.hold_cost + excluded.hold_cost,\n" in printed


def test_every_sum_is_a_column_of_the_tables_of_sums(connection: Connection) -> None:
    for name, tables in TABLES_OF.items():
        sums = set(re.findall(r" AS (\w+),?$", load_sql("wallet_api.ledger", name), re.MULTILINE))
        for table in tables:
            columns = {row["name"] for row in connection.execute(COLUMNS, {"table": table})}
            assert sums <= columns, f"{table} has no {sums - columns}"


def test_every_index_that_a_head_names_exists_and_every_index_is_named(connection: Connection) -> None:
    indexes = {row["indexname"]: bool(row["is_rule"]) for row in connection.execute(INDEXES)}
    named = set()
    for file in FILES:
        comments = "\n".join(line for line in file.read_text().splitlines() if line.startswith("--"))
        needed = {
            index
            for needs in re.findall(r"Needs([^.]*)\.", comments)
            for index in re.findall(r"\w+_pkey|\w+_key\b|\w+_by_\w+|\w+_(?:without|out)_\w+", needs)
        }
        assert needed <= set(indexes), f"{name_of(file)} needs {needed - set(indexes)}"
        named |= needed
    # What enforces a rule has its use without a statement.
    assert {index for index, is_rule in indexes.items() if not is_rule} <= named


def test_every_query_of_the_api_finds_its_rows_by_indexes_which_its_head_names(session: Connection) -> None:
    for file in QUERIES:
        assert " Needs " in head_of(file), f"{name_of(file)} names no index"
        (statement,) = statements_of(file).values()
        plan = explain(session, statement)
        assert "Seq Scan" not in plan, f"{name_of(file)}:\n{plan}"


def test_a_history_never_compares_each_trade_with_each_token(session: Connection) -> None:
    plan = explain(session, history.HISTORY)
    assert "Hash Full Join" in plan or "Merge Full Join" in plan, plan
    assert "Seq Scan" not in plan, plan


def test_a_page_of_changes_reads_trades_by_chunk_in_a_ledger_of_many_batches(connection: Connection) -> None:
    connection.execute(
        "INSERT INTO arrivals SELECT 4096 * n, 4096 * n, n, gen_random_uuid(), now()"
        " FROM generate_series(1, 30000) AS n"
    )
    connection.execute(
        "INSERT INTO trades (wallet_id, token_id, created_at, event_index, is_sell, usd_derived,"
        " tx_signature, token_amount, value, quantity_after, peak_after, arrival)"
        " SELECT 1, n, now(), 0, FALSE, FALSE, '', 1, 1, 1, 1, 4096 * n FROM generate_series(1, 30000) AS n"
    )
    connection.execute("ANALYZE arrivals, trades")
    # As the service does: one plan for any parameters.
    connection.execute("SET plan_cache_mode = force_generic_plan")
    statement = load_sql("wallet_api.queries", "changes_page")
    names = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", statement)))
    numbered = re.sub(r"%\((\w+)\)s", lambda found: f"${names.index(found[1]) + 1}", statement)
    connection.execute(f"PREPARE page AS {numbered}".encode())
    rows = connection.execute(f"EXPLAIN EXECUTE page ({', '.join(['NULL'] * len(names))})".encode())
    plan = "\n".join(row["QUERY PLAN"] for row in rows)
    assert "Index Scan using trades_by_arrival" in plan, plan
    assert "Seq Scan on trades" not in plan, plan


def test_the_function_that_makes_prices_has_the_order_of_all_statements(connection: Connection) -> None:
    # It is a function for the sake of Citus, and so cannot include a file.
    (row,) = connection.execute("SELECT pg_get_functiondef('prices_before'::regproc) AS text").fetchall()
    order = re.findall(r"^(.+) AS \w+,?$", (PACKAGE / "ledger" / "trade_order.sql").read_text(), re.MULTILINE)
    assert len(order) == 6
    wanted = ", ".join(f"{expression} DESC" for expression in order)
    assert wanted in " ".join(row["text"].replace("trades.", "").split())
