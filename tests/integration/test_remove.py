"""`wallet-api remove`: afterwards the ledger is as if it never had the rows, even beside imports."""

import csv
import gzip
import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from tests.integration.test_ledger_properties import NOW, WINDOWS, answers, compare, examples
from tests.ledger import in_process, random_trades, strategies
from tests.ledger.command import Outcome, rejects_of
from tests.ledger.contents import contents, orphans
from tests.ledger.in_process import Row
from tests.ledger.mints import evm_mint_of, mint_of
from tests.naive import Ledger
from tests.naive_walk import folded
from tests.waiting import eventually
from wallet_api.cli import cli
from wallet_api.database import Connection, connect
from wallet_api.ledger import merge
from wallet_api.ledger.identities import TradeIdentity
from wallet_api.ledger.readers import ndjson_records
from wallet_api.ledger.rebuild import rebuild_ledger
from wallet_api.ledger.remove import remove_trades, stage_trades

DAYS = 3
SOLANA = strategies.SOLANA[0]
UNTRACKED = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"
UNKNOWN_TRADE = "the wallet has no such trade"
UNKNOWN_WALLET = "the wallet is not tracked"

Remove = Callable[..., Outcome]
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def remove(database_url: str, tmp_path: Path) -> Remove:
    """Write rows to a file, and run the command on it."""

    def run(kind: str, *rows: Row | bytes, options: tuple[str, ...] = ("--yes",)) -> Outcome:
        path = tmp_path / "removal.ndjson"
        lines = (row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows)
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        return run_file(database_url, kind, path, *options)

    return run


def run_file(database_url: str, kind: str, path: Path, *options: str) -> Outcome:
    """Run the command on a file."""
    result = CliRunner().invoke(
        cli, ["remove", kind, str(path), "--json", *options], env={"DATABASE_URL": database_url}
    )
    summary = json.loads(result.stdout) if result.exit_code in (0, 3) else {}
    return Outcome(result.exit_code, summary, rejects_of(path), result.output)


@pytest.fixture
def start(database_url: str) -> Iterator[Start]:
    """Start commands as processes without a terminal, and stop them after the test."""
    with ExitStack() as stack:

        def run(*arguments: str) -> "subprocess.Popen[str]":
            process = stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-m", "wallet_api", *arguments],
                    env=os.environ | {"DATABASE_URL": database_url},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
            stack.callback(process.kill)
            return process

        yield run


def fill(database_url: str, trades: int = 600) -> tuple[list[Row], list[Row]]:
    """Fill the ledger with six wallets and their trades, and return the rows of both files."""
    now = datetime.now(UTC)
    wallets, rows = random_trades.wallets(6), random_trades.trades(trades, 6, now, DAYS) if trades else []
    importer = in_process.Importer(database_url)
    importer.wallets(wallets)
    importer.prices(random_trades.prices(now, DAYS))
    importer.trades(rows)
    return wallets, rows


def all_rows(connection: Connection) -> list[Any]:
    """Return the rows of all tables that imports fill, except tokens and prices."""
    tables = (
        *("wallets", "wallet_groups", "trades", "positions", "lifetimes", "position_days"),
        *("wallet_days", "volume_rollup", "holdings_snapshots", "sync_wallets"),
    )
    # Shards answer in any order.
    return [
        row
        for table in tables
        for row in sorted(connection.execute(f"SELECT * FROM {table}"), key=repr)  # type: ignore[arg-type]
    ]


@pytest.mark.timeout(1200)
@examples
@given(data=st.data())
def test_a_ledger_from_which_anything_was_removed_is_one_that_never_had_it(
    data: st.DataObject, database_url: str, connection: Connection
) -> None:
    steps = data.draw(
        st.lists(
            st.one_of(
                st.tuples(st.just("trades"), st.lists(strategies.trades(NOW), min_size=1, max_size=14)),
                st.tuples(st.just("trades"), st.lists(strategies.trades(NOW), min_size=1, max_size=14)),
                st.tuples(st.just("prices"), st.lists(strategies.prices(NOW), min_size=1, max_size=3)),
            ),
            min_size=1,
            max_size=5,
        )
    )
    importer = in_process.Importer(database_url, batch_rows=data.draw(st.sampled_from([1, 3, 100])))
    steps = [("wallets", strategies.wallets()), *steps]
    traded = [row for kind, rows in steps if kind == "trades" for row in rows]
    removed_trades = data.draw(st.lists(st.sampled_from(traded), max_size=len(traded))) if traded else []
    removed_wallets = data.draw(st.lists(st.sampled_from(strategies.wallets()), max_size=3))
    gone_trades = {strategies.trade_key(row) for row in removed_trades}
    gone_wallets = {_wallet_key(row) for row in removed_wallets}

    def stays(kind: str, row: Row) -> bool:
        if kind == "prices":
            return True
        wallet_stays = _wallet_key(row) not in gone_wallets
        return wallet_stays and (kind == "wallets" or strategies.trade_key(row) not in gone_trades)

    in_process.clear(connection)
    for kind, rows in steps:
        getattr(importer, kind)(rows)
    removals = [("remove_trades", removed_trades), ("remove_wallets", removed_wallets)]
    for name, rows in data.draw(st.permutations(removals)):
        getattr(importer, name)(rows)
    windows = data.draw(WINDOWS)
    removed, removed_answers = contents(connection, NOW), answers(connection, NOW, windows)
    assert orphans(connection) == {}
    with connect(database_url) as rebuilding:
        assert set(rebuild_ledger(rebuilding).values()) == {0}
    assert contents(connection, NOW) == removed

    in_process.clear(connection)
    ledger = Ledger()
    for kind, rows in steps:
        left = [row for row in rows if stays(kind, row)]
        getattr(importer, kind)(left)
        getattr(ledger, f"add_{kind}")(left)
    assert removed == contents(connection, NOW)
    assert removed_answers == answers(connection, NOW, windows)
    compare(removed_answers, ledger)


def _wallet_key(row: Row) -> tuple[str, str]:
    return row["blockchain"], folded(row["blockchain"], row["wallet_address"])


@pytest.mark.parametrize("name", ["trades.csv", "trades.ndjson.gz"])
def test_the_very_file_that_was_imported_removes_what_it_brought(
    database_url: str, connection: Connection, tmp_path: Path, name: str
) -> None:
    fill(database_url, trades=0)
    before = contents(connection, NOW)
    _, rows = fill(database_url)
    path = tmp_path / name
    path.write_bytes(_csv(rows) if name.endswith(".csv") else gzip.compress(_ndjson(rows)))
    distinct = {strategies.trade_key(row) for row in rows}

    outcome = run_file(database_url, "trades", path, "--yes")

    assert outcome.status == 0
    assert outcome.summary["removed"] == outcome.summary["trades"] == len(distinct)
    assert outcome.summary["rejected"] == 0
    assert outcome.rejects is None
    assert contents(connection, NOW) == before


@pytest.mark.parametrize("with_trades_first", [False, True])
def test_when_all_is_removed_the_ledger_is_as_empty_as_a_new_one(
    database_url: str, connection: Connection, remove: Remove, with_trades_first: bool
) -> None:
    wallets, rows = fill(database_url)
    connection.execute("INSERT INTO holdings_snapshots (wallet_id) SELECT wallet_id FROM wallets")
    connection.execute("INSERT INTO sync_wallets (wallet_id, tried_at) SELECT wallet_id, now() FROM wallets")
    trades = len({strategies.trade_key(row) for row in rows})
    if with_trades_first:
        assert remove("trades", *rows).summary["removed"] == trades
    outcome = remove("wallets", *wallets)
    assert outcome.summary["removed"] == len(wallets)
    assert outcome.summary["trades"] == (0 if with_trades_first else trades)
    assert all_rows(connection) == []
    assert set(rebuild_ledger(connection).values()) == {0}
    # Tokens that are known already are no hindrance.
    importer = in_process.Importer(database_url)
    importer.wallets(wallets)
    assert importer.trades(rows).changed > 0


def test_a_wallet_takes_its_snapshot_and_its_state_of_the_sync_along_and_no_other_s(
    database_url: str, connection: Connection, remove: Remove
) -> None:
    wallets, _ = fill(database_url)
    connection.execute("INSERT INTO holdings_snapshots (wallet_id) SELECT wallet_id FROM wallets")
    connection.execute("INSERT INTO sync_wallets (wallet_id, tried_at) SELECT wallet_id, now() FROM wallets")
    assert remove("wallets", wallets[0]).status == 0
    assert orphans(connection) == {}
    for table in ("holdings_snapshots", "sync_wallets"):
        left = connection.execute(f"SELECT count(*) AS n FROM {table}").fetchone()  # type: ignore[arg-type]
        assert left == {"n": len(wallets) - 1}


def test_rows_that_name_nothing_known_are_rejected_by_line_and_reason(
    database_url: str, connection: Connection, remove: Remove
) -> None:
    _, rows = fill(database_url)
    known = rows[0]
    outcome = remove(
        "trades",
        known | {"wallet_address": UNTRACKED},
        known | {"tx_signature": "never"},
        known | {"mint": mint_of("never traded")},
        known | {"event_index": 7},
        known | {"transaction_type": "sell" if known["transaction_type"] == "buy" else "buy"},
        known | {"wallet_address": "nobody"},
        known | {"event_index": "first"},
        known | {"mint": "nul\0"},
        {name: value for name, value in known.items() if name != "mint"},
        b"not JSON",
        known | {"event_index": None},
        known | {"event_index": "0", "value": "as it never was"},
    )
    assert outcome.status == 3
    assert (outcome.summary["removed"], outcome.summary["rejected"]) == (1, 10)
    assert sorted(outcome.reasons) == list(range(1, 11))
    assert outcome.reasons[1] == UNKNOWN_WALLET
    assert {outcome.reasons[line] for line in range(2, 6)} == {UNKNOWN_TRADE}
    assert "wallet_address" in outcome.reasons[6]
    assert "event_index" in outcome.reasons[7]
    assert "mint" in outcome.reasons[8]
    assert all(reject["row"] for reject in outcome.rejects or [])
    assert outcome.summary["rejects"].endswith("removal.ndjson.rejects.ndjson")

    again = remove("trades", known)
    assert (again.status, again.summary["removed"], again.reasons) == (3, 0, {1: UNKNOWN_TRADE})
    untracked = remove("wallets", {"blockchain": "solana", "wallet_address": UNTRACKED})
    assert (untracked.status, untracked.reasons) == (3, {1: UNKNOWN_WALLET})


def test_evm_addresses_and_mints_name_the_same_in_any_case(
    database_url: str, connection: Connection, remove: Remove
) -> None:
    importer = in_process.Importer(database_url)
    importer.wallets(strategies.wallets())
    upper = "0x" + strategies.EVM[2:].upper()
    trade = {
        **{
            "blockchain": "eth",
            "wallet_address": strategies.EVM,
            "mint": evm_mint_of("AB"),
            "tx_signature": "s",
        },
        **{"transaction_type": "buy", "token_amount": "1", "value": "1", "created_at": NOW.isoformat()},
    }
    importer.trades([trade])
    assert (
        remove("trades", trade | {"wallet_address": upper, "mint": evm_mint_of("aB")}).summary["removed"] == 1
    )
    assert remove("wallets", {"blockchain": "eth", "wallet_address": upper}).summary["removed"] == 1
    assert remove("wallets", {"blockchain": "solana", "wallet_address": SOLANA.lower()}).status == 3


def test_a_dry_run_shows_what_would_be_removed_and_removes_nothing(
    database_url: str, connection: Connection, remove: Remove
) -> None:
    wallets, rows = fill(database_url)
    before = all_rows(connection)
    of_first = {strategies.trade_key(row) for row in rows if _wallet_key(row) == _wallet_key(wallets[0])}
    outcome = remove("wallets", wallets[0], options=("--dry-run",))
    assert outcome.status == 0
    assert outcome.summary["dry_run"] is True
    assert (outcome.summary["removed"], outcome.summary["trades"]) == (1, len(of_first))
    assert remove("trades", *rows, options=("--dry-run",)).summary["removed"] == len(
        {strategies.trade_key(row) for row in rows}
    )
    assert all_rows(connection) == before


def test_without_a_terminal_nothing_is_removed_unless_told(
    database_url: str, connection: Connection, remove: Remove
) -> None:
    wallets, _ = fill(database_url)
    before = all_rows(connection)
    outcome = remove("wallets", *wallets, options=())
    assert outcome.status == 1
    assert "--yes" in outcome.text
    assert "--dry-run" in outcome.text
    assert all_rows(connection) == before


@pytest.mark.parametrize(("reply", "status", "left"), [("y\n", 0, 5), ("n\n", 1, 6), ("\n", 1, 6)])
def test_on_a_terminal_it_says_what_goes_from_where_and_asks(
    database_url: str, connection: Connection, tmp_path: Path, reply: str, status: int, left: int
) -> None:
    wallets, rows = fill(database_url)
    trades = len({strategies.trade_key(row) for row in rows if _wallet_key(row) == _wallet_key(wallets[0])})
    path = tmp_path / "wallets.ndjson"
    path.write_bytes(_ndjson(wallets[:1]))
    ours, theirs = pty.openpty()
    try:
        os.write(ours, reply.encode())
        done = subprocess.run(
            [sys.executable, "-m", "wallet_api", "remove", "wallets", str(path)],
            env=os.environ | {"DATABASE_URL": database_url},
            stdin=theirs,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == status, done.stderr
    name = connection.info.dbname
    assert f"This removes 1 wallet with {trades:,} trades from {name} on " in done.stderr
    assert done.stdout.startswith(f"Removed 1 wallet with {trades:,} trades from ") is (status == 0)
    assert ("Nothing was removed." in done.stderr) is (status == 1)
    count = connection.execute("SELECT count(*) AS n FROM wallets").fetchone()
    assert count == {"n": left}


def test_standard_input_is_taken_when_no_question_is_asked(database_url: str, tmp_path: Path) -> None:
    _, rows = fill(database_url)
    done = subprocess.run(
        [sys.executable, "-m", "wallet_api", "remove", "trades", "-", "--yes"],
        input=_ndjson([rows[0], rows[0] | {"tx_signature": "never"}]).decode(),
        env=os.environ | {"DATABASE_URL": database_url},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 3
    assert done.stdout.startswith("Removed 1 trade of 1 wallet from ")
    assert [reject["line"] for reject in rejects_of(tmp_path / "stdin") or []] == [2]


def test_a_file_that_cannot_be_used_is_status_one_and_removes_nothing(
    database_url: str, connection: Connection, tmp_path: Path
) -> None:
    fill(database_url)
    before = all_rows(connection)
    (tmp_path / "lacking.csv").write_text("blockchain,address\nsolana,x\n")
    (tmp_path / "wallets.txt").touch()
    for name, message in (
        ("missing.csv", "No such file"),
        ("wallets.txt", "must end in"),
        ("lacking.csv", "wallet_address"),
    ):
        outcome = run_file(database_url, "wallets", tmp_path / name, "--yes")
        assert outcome.status == 1
        assert message in outcome.text
    assert all_rows(connection) == before


def test_a_removal_that_was_interrupted_can_be_run_again(database_url: str, connection: Connection) -> None:
    fill(database_url, trades=0)
    before = contents(connection, NOW)
    _, rows = fill(database_url)
    distinct = len({strategies.trade_key(row) for row in rows})
    batches = iter(range(3))

    def progress(removed: int) -> None:
        assert removed == 50
        if next(batches) == 2:
            raise InterruptedError

    with connect(database_url) as interrupted:
        stage_trades(interrupted, ndjson_records(_ndjson(rows).splitlines(), TradeIdentity), print)
        with pytest.raises(InterruptedError):
            remove_trades(interrupted, progress, batch_rows=50)
    with connect(database_url) as rebuilding:
        assert set(rebuild_ledger(rebuilding).values()) == {0}
    left = connection.execute("SELECT count(*) AS n FROM trades").fetchone()
    assert left == {"n": distinct - 3 * 50}

    again = in_process.Importer(database_url, batch_rows=50).remove_trades(rows)
    assert again.trades == distinct - 3 * 50
    assert again.rejected > 0
    assert contents(connection, NOW) == before


def test_an_import_that_has_read_the_wallets_before_their_removal_lands_no_orphan(
    database_url: str, connection: Connection, tmp_path: Path, start: Start
) -> None:
    wallets, rows = fill(database_url)
    wallet_file, trade_file = tmp_path / "wallets.ndjson", tmp_path / "trades.ndjson"
    wallet_file.write_bytes(_ndjson(wallets[:1]))
    trade_file.write_bytes(_ndjson([row | {"tx_signature": f"later {n}"} for n, row in enumerate(rows)]))
    row = connection.execute(
        "SELECT wallet_id FROM wallets WHERE address = %s", [wallets[0]["wallet_address"]]
    ).fetchone()
    assert row is not None
    with connect(database_url) as holder:
        # Both commands stop at the lock of the first wallet, the removal in front.
        with holder.transaction():
            merge.lock_wallets(holder, [row["wallet_id"]])
            removing = start("remove", "wallets", str(wallet_file), "--yes", "--json")
            assert eventually(lambda: _waiting(connection) == 1, 60)
            importing = start("import", "trades", str(trade_file), "--json")
            assert eventually(lambda: _waiting(connection) == 2, 60)
        removed, _ = removing.communicate(timeout=60)
        imported, errors = importing.communicate(timeout=60)
    assert (removing.returncode, json.loads(removed)["removed"]) == (0, 1)
    assert (importing.returncode, imported) == (1, "")
    assert errors.splitlines()[-1] == (
        "Error: A wallet of this file was removed while the file was imported. Import it again."
    )
    assert orphans(connection) == {}
    assert set(rebuild_ledger(connection).values()) == {0}

    outcome = start("import", "trades", str(trade_file), "--json")
    again, _ = outcome.communicate(timeout=60)
    assert outcome.returncode == 3
    assert json.loads(again)["landed"] > 0
    assert orphans(connection) == {}


def test_imports_and_removals_at_once_leave_no_orphan_and_no_wrong_figure(
    database_url: str, connection: Connection
) -> None:
    wallets, rows = fill(database_url, trades=3_000)
    importer = in_process.Importer(database_url, batch_rows=200)

    def import_all() -> int:
        refused = 0
        for _ in range(3):
            importer.wallets(wallets)
            try:
                importer.trades(row for row in rows)
            except (merge.WalletRemoved, AssertionError):
                # Removed between two batches, or before the file was begun: its rows are rejected.
                refused += 1
        return refused

    with ThreadPoolExecutor(1) as pool:
        importing = pool.submit(import_all)
        while not importing.done():
            importer.remove_wallets(wallets[:3])
            importer.remove_trades(rows[::7])
        assert importing.result() > 0
    assert orphans(connection) == {}
    assert set(rebuild_ledger(connection).values()) == {0}


def _waiting(connection: Connection) -> int:
    row = connection.execute(
        "SELECT count(*) AS n FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    ).fetchone()
    assert row is not None
    count: int = row["n"]
    return count


def _ndjson(rows: list[Row]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def _csv(rows: list[Row]) -> bytes:
    text = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, names)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()
