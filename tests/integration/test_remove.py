"""`wallet-api remove`: afterwards the ledger is as if it never had the rows, even beside imports."""

import gzip
import os
import pty
import subprocess
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import strategies as st

from tests.integration.test_ledger_properties import NOW, files
from tests.ledger import in_process, random_trades, strategies
from tests.ledger.command import Outcome, rejects_of, run_file
from tests.ledger.contents import contents, orphans
from tests.ledger.in_process import Row
from tests.ledger.mints import mint_of
from tests.ledger.rows import UNTRACKED, ndjson, written
from tests.lib.backups import at
from tests.lib.processes import run_command, wallet_api
from tests.naive.walk import folded
from wallet_api.database import Connection, connect
from wallet_api.ledger import merge
from wallet_api.ledger.files.ndjson import ndjson_records
from wallet_api.ledger.files.rows import TradeIdentity
from wallet_api.ledger.rebuild import rebuild_ledger
from wallet_api.ledger.remove import remove_trades, stage_trades

UNKNOWN_TRADE = "the wallet has no such trade"
UNKNOWN_WALLET = "the wallet is not tracked"

Remove = Callable[..., Outcome]


@pytest.fixture
def remove(database_url: str, tmp_path: Path) -> Remove:
    """Write rows to a file, and run the command on it."""

    def run(kind: str, *rows: Row | bytes, options: tuple[str, ...] = ("--yes",)) -> Outcome:
        return run_file(database_url, "remove", kind, written(tmp_path / "removal.ndjson", *rows), *options)

    return run


def fill(database_url: str, trades: int = 600) -> tuple[list[Row], list[Row]]:
    """Fill the ledger with six wallets and their trades, and return the rows of both files."""
    return random_trades.fill(in_process.Importer(database_url), 6, trades)


@strategies.for_any(data=st.data())
def test_a_ledger_from_which_anything_was_removed_is_one_that_never_had_it(
    data: st.DataObject, database_url: str, connection: Connection
) -> None:
    steps = data.draw(files())
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
    removed = contents(connection, NOW)
    assert orphans(connection) == {}
    with connect(database_url) as rebuilding:
        assert set(rebuild_ledger(rebuilding).values()) == {0}
    assert contents(connection, NOW) == removed

    in_process.clear(connection)
    for kind, rows in steps:
        getattr(importer, kind)(row for row in rows if stays(kind, row))
    assert contents(connection, NOW) == removed


def _wallet_key(row: Row) -> tuple[str, str]:
    return row["blockchain"], folded(row["blockchain"], row["wallet_address"])


@pytest.mark.parametrize(
    ("name", "delimiter"), [("trades.csv", ","), ("semicolons.csv", ";"), ("trades.ndjson.gz", ",")]
)
def test_the_very_file_that_was_imported_removes_what_it_brought(
    database_url: str, connection: Connection, tmp_path: Path, name: str, delimiter: str
) -> None:
    fill(database_url, trades=0)
    before = contents(connection, NOW)
    _, rows = fill(database_url)
    path = written(tmp_path / name, *rows, delimiter=delimiter)
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(path.read_bytes()))
    distinct = {strategies.trade_key(row) for row in rows}

    outcome = run_file(database_url, "remove", "trades", path, "--yes", "--delimiter", delimiter)

    assert outcome.status == 0
    assert outcome.summary["removed"] == outcome.summary["trades"] == len(distinct)
    assert outcome.summary["rejected"] == 0
    assert outcome.rejects is None
    assert contents(connection, NOW) == before


def test_wallets_take_along_what_belongs_to_them_and_nothing_of_others(
    database_url: str, connection: Connection, remove: Remove
) -> None:
    wallets, _ = fill(database_url)
    connection.execute("INSERT INTO holdings_snapshots (wallet_id) SELECT wallet_id FROM wallets")
    connection.execute("INSERT INTO sync_wallets (wallet_id, tried_at) SELECT wallet_id, now() FROM wallets")
    # Trades do not take out the buckets that are about to expire.
    bucket = connection.execute(
        "SELECT token_id, bucket_seconds, ends_at FROM volume_rollup LIMIT 1"
    ).fetchone()
    assert bucket is not None
    connection.execute(
        "UPDATE volume_rollup SET ends_at = now() - %(age)s WHERE token_id = %(token_id)s"
        " AND bucket_seconds = %(bucket_seconds)s AND ends_at = %(ends_at)s",
        bucket | {"age": merge.VOLUME_WINDOW + timedelta(minutes=30)},
    )
    assert remove("wallets", wallets[0]).status == 0
    assert orphans(connection) == {}
    for table in ("holdings_snapshots", "sync_wallets"):
        left = connection.execute(f"SELECT count(*) AS n FROM {table}").fetchone()  # type: ignore[arg-type]
        assert left == {"n": len(wallets) - 1}
    assert remove("wallets", *wallets[1:]).summary["removed"] == len(wallets) - 1
    # Nor of their groups.
    for table in ("volume_rollup", "wallet_groups"):
        assert connection.execute(f"SELECT FROM {table}").rowcount == 0  # type: ignore[arg-type]


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
        known | {"event_index": "first"},
        b"not JSON",
        known | {"event_index": None},
        known | {"event_index": "0", "value": "as it never was"},
    )
    assert outcome.status == 3
    assert (outcome.summary["removed"], outcome.summary["rejected"]) == (1, 7)
    assert sorted(outcome.reasons) == list(range(1, 8))
    assert outcome.reasons[1] == UNKNOWN_WALLET
    assert {outcome.reasons[line] for line in range(2, 6)} == {UNKNOWN_TRADE}
    assert "event_index" in outcome.reasons[6]
    assert all(reject["row"] for reject in outcome.rejects or [])
    assert outcome.summary["rejects"].endswith("removal.ndjson.rejects.ndjson")

    again = remove("trades", known)
    assert (again.status, again.summary["removed"], again.reasons) == (3, 0, {1: UNKNOWN_TRADE})
    untracked = remove("wallets", {"blockchain": "solana", "wallet_address": UNTRACKED})
    assert (untracked.status, untracked.reasons) == (3, {1: UNKNOWN_WALLET})


@pytest.mark.parametrize("options", [("--dry-run",), ()])
def test_nothing_is_removed_by_a_dry_run_or_without_consent(
    database_url: str, connection: Connection, remove: Remove, tmp_path: Path, options: tuple[str, ...]
) -> None:
    wallets, rows = fill(database_url)
    before = contents(connection, NOW)
    of_first = {strategies.trade_key(row) for row in rows if _wallet_key(row) == _wallet_key(wallets[0])}
    outcome = remove("wallets", wallets[0], options=options)
    if options:
        found = {name: outcome.summary[name] for name in ("dry_run", "removed", "trades")}
        assert (outcome.status, found) == (0, {"dry_run": True, "removed": 1, "trades": len(of_first)})
    else:
        assert outcome.status == 1
        assert "--yes" in outcome.text
        assert "--dry-run" in outcome.text
        missing = run_file(database_url, "remove", "wallets", tmp_path / "missing.csv", "--yes")
        assert (missing.status, "No such file" in missing.text) == (1, True)
    assert contents(connection, NOW) == before


@pytest.mark.parametrize(("reply", "status", "left"), [("y\n", 0, 5), ("\n", 1, 6)])
def test_on_a_terminal_it_says_what_goes_from_where_and_asks(
    database_url: str, connection: Connection, tmp_path: Path, reply: str, status: int, left: int
) -> None:
    wallets, rows = fill(database_url)
    trades = len({strategies.trade_key(row) for row in rows if _wallet_key(row) == _wallet_key(wallets[0])})
    path = written(tmp_path / "wallets.ndjson", wallets[0])
    ours, theirs = pty.openpty()
    try:
        os.write(ours, reply.encode())
        streams = {"stdin": theirs, "stderr": subprocess.PIPE}
        with wallet_api("remove", "wallets", str(path), settings=at(database_url), **streams) as removing:
            output, errors = removing.communicate()
    finally:
        os.close(ours)
        os.close(theirs)
    assert removing.returncode == status, errors
    name = connection.info.dbname
    assert f"This removes 1 wallet with {trades:,} trades from {name} on " in errors
    assert output.startswith(f"Removed 1 wallet with {trades:,} trades from ") is (status == 0)
    assert ("Nothing was removed." in errors) is (status == 1)
    count = connection.execute("SELECT count(*) AS n FROM wallets").fetchone()
    assert count == {"n": left}


def test_standard_input_is_taken_when_no_question_is_asked(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _, rows = fill(database_url)
    lines = ndjson(rows[0], rows[0] | {"tx_signature": "never"}).decode()
    removed = run_command("remove", "trades", "-", "--yes", settings=at(database_url), input=lines)
    assert removed.exit_code == 3
    assert removed.stdout.startswith("Removed 1 trade of 1 wallet from ")
    assert [reject["line"] for reject in rejects_of(tmp_path / "stdin") or []] == [2]


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
        stage_trades(interrupted, ndjson_records(ndjson(*rows).splitlines(), TradeIdentity), print)
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
