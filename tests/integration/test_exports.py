"""`wallet-api export`: imported into an empty database, its files give the same answers."""

import csv
import gzip
import io
import json
import stat
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from tests.integration.test_ledger_properties import NOW, files
from tests.integration.test_remove import fill
from tests.ledger import in_process, strategies
from tests.ledger.command import rejects_of
from tests.ledger.contents import contents
from tests.ledger.rows import price_row, trade_row, written
from tests.lib.backups import at, done, refused
from tests.lib.processes import run_command, wallet_api
from wallet_api.database import Connection

Row = dict[str, Any]
KINDS = ("wallets", "prices", "trades")
NAMES = ("ndjson", "csv", "ndjson.gz", "csv.gz")


def rows_of(path: Path) -> list[Row]:
    """Return the rows of a file."""
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    if ".csv" in path.suffixes:
        return list(csv.DictReader(io.StringIO(content.decode())))
    return [json.loads(line) for line in content.splitlines()]


def exported(folder: Path, ending: str, database_url: str) -> dict[str, Path]:
    """Export the ledger to three files."""
    paths = {kind: folder / f"{kind}.{ending}" for kind in KINDS}
    for kind, path in paths.items():
        summary = done("export", kind, path, "--force", settings=at(database_url))
        assert summary["rows"] == len(rows_of(path))
    return paths


def stored(connection: Connection) -> Any:
    """Return what the ledger contains, but for whether a dollar value was derived."""
    found = contents(connection, NOW)
    for row in found["trades"].values():
        del row["usd_derived"]
    return found


@strategies.for_any(data=st.data())
def test_what_was_exported_and_imported_again_is_the_same_ledger(
    data: st.DataObject, database_url: str, connection: Connection
) -> None:
    steps = [("wallets", strategies.wallets()), *data.draw(files())]
    importer = in_process.Importer(database_url)
    in_process.clear(connection)
    for kind, rows in steps:
        getattr(importer, kind)(rows)
    before = stored(connection)
    with tempfile.TemporaryDirectory() as folder:
        paths = exported(Path(folder), data.draw(st.sampled_from(NAMES)), database_url)
        first = {kind: rows_of(path) for kind, path in paths.items()}
        in_process.clear(connection)
        for kind in ("wallets", *data.draw(st.permutations(["prices", "trades"]))):
            summary = done("import", kind, paths[kind], settings=at(database_url))
            assert summary == summary | {"landed": len(first[kind]), "rejected": 0}
        assert stored(connection) == before
        again = exported(Path(folder), "ndjson", database_url)
        assert {kind: _as_text(rows_of(path)) for kind, path in again.items()} == {
            kind: _as_text(rows) for kind, rows in first.items()
        }
        # A file that was exported from a ledger changes nothing in it.
        for kind, path in again.items():
            assert done("import", kind, path, settings=at(database_url))["changed"] == 0


def _as_text(rows: list[Row]) -> list[str]:
    return sorted(
        json.dumps({name: "" if value is None else str(value) for name, value in row.items()}) for row in rows
    )


def test_a_dollar_value_that_a_farther_price_gave_is_kept(
    database_url: str, connection: Connection, tmp_path: Path
) -> None:
    importer = in_process.Importer(database_url)
    importer.wallets(strategies.wallets())
    hour = NOW.replace(minute=0) - timedelta(hours=3)
    importer.prices([price_row("100", hour)])
    importer.trades(
        trade_row(strategies.SOLANA[0], signature, hour + timedelta(minutes=minute), value="2")
        for signature, minute in (("near", 10), ("far", 50))
    )
    importer.prices([price_row("300", hour + timedelta(hours=1))])
    before = stored(connection)

    paths = exported(tmp_path, "ndjson", database_url)

    values = {row["tx_signature"]: row["value_usd"] for row in rows_of(paths["trades"])}
    assert values == {"near": None, "far": "200"}
    in_process.clear(connection)
    for kind in KINDS:
        done("import", kind, paths[kind], settings=at(database_url))
    assert stored(connection) == before


def test_filters_select_rows_from_a_time_until_before_another(database_url: str, tmp_path: Path) -> None:
    fill(database_url)
    path = tmp_path / "rows.ndjson"

    def of(kind: str, *options: str) -> list[Row]:
        done("export", kind, path, "--force", *options, settings=at(database_url))
        return rows_of(path)

    trades, prices, wallets = of("trades"), of("prices"), of("wallets")
    times = sorted(row["created_at"] for row in trades)
    since, until = times[100], times[200]
    part = of("trades", "--since", since, "--until", until)
    assert _as_text(part) == _as_text([row for row in trades if since <= row["created_at"] < until])
    addresses = {row["wallet_address"] for row in wallets if row["type"] == "smart"}
    smart = of("trades", "--type", "smart", "--blockchain", "solana")
    assert _as_text(smart) == _as_text([row for row in trades if row["wallet_address"] in addresses])
    assert of("wallets", "--type", "smart") == [row for row in wallets if row["type"] == "smart"]
    assert len(addresses) == 2
    address = wallets[0]["wallet_address"]
    assert of("wallets", "--address", address) == wallets[:1]
    own = [row for row in trades if row["wallet_address"] == address]
    assert 0 < len(own) < len(trades)
    assert _as_text(of("trades", "--address", address)) == _as_text(own)
    assert of("trades", "--address", address, "--blockchain", "eth") == []
    assert of("prices", "--since", prices[3]["priced_at"]) == prices[3:]
    assert of("trades", "--blockchain", "eth") == of("prices", "--blockchain", "eth") == []


def test_a_text_with_line_breaks_is_whole_in_ndjson_and_one_line_in_csv(
    database_url: str, connection: Connection, tmp_path: Path
) -> None:
    wallets, rows = fill(database_url)
    row = rows[0] | {"tx_signature": "injected", "token_name": 'x"\r\n' + "solana,a,b,c,,buy,1,1,,,,0\ny"}
    in_process.Importer(database_url).trades([row])
    # An import removes line breaks; earlier versions did not.
    connection.execute(
        "UPDATE trades SET token_name = %s WHERE tx_signature = 'injected'", [row["token_name"]]
    )

    paths = {ending: exported(tmp_path, ending, database_url)["trades"] for ending in ("ndjson", "csv")}

    names = {
        ending: next(found["token_name"] for found in rows_of(path) if found["tx_signature"] == "injected")
        for ending, path in paths.items()
    }
    assert names["ndjson"] == row["token_name"]
    assert names["csv"] == 'x" solana,a,b,c,,buy,1,1,,,,0 y'
    result = run_command("export", "trades", paths["csv"], "--force", settings=at(database_url))
    assert "Warning: 1 rows had line breaks" in result.stderr
    done(
        "remove", "wallets", written(tmp_path / "given.ndjson", *wallets), "--yes", settings=at(database_url)
    )
    in_process.Importer(database_url).wallets(wallets)
    assert done("import", "trades", paths["csv"], settings=at(database_url))["rejected"] == 0
    assert rejects_of(paths["csv"]) is None


def test_a_file_is_private_whole_and_never_replaced_unasked(database_url: str, tmp_path: Path) -> None:
    fill(database_url)
    path = tmp_path / "wallets.csv"
    settings = at(database_url)
    done("export", "wallets", path, settings=settings)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    content = path.read_bytes()
    assert "exists already" in refused("export", "wallets", path, settings=settings)
    assert "must end in" in refused("export", "wallets", tmp_path / "wallets.txt", settings=settings)
    assert "for --json" in refused("export", "wallets", "-", "--json", settings=settings)
    path.unlink()
    # In a process of its own, whose `main` makes a line of the error of the system.
    absent = tmp_path / "absent" / "wallets.csv"
    with wallet_api("export", "wallets", str(absent), settings=settings) as process:
        error = process.communicate()[0].splitlines()[-1]
    assert (process.returncode, error) == (1, f"Error: {absent.parent}: No such file or directory")
    done("export", "wallets", path, settings=settings)
    assert path.read_bytes() == content
    assert [file.name for file in tmp_path.iterdir()] == ["wallets.csv"]


def test_standard_output_has_the_rows_alone(database_url: str) -> None:
    wallets, _ = fill(database_url)
    exported = run_command("export", "wallets", "-", settings=at(database_url))
    assert exported.exit_code == 0
    found = [json.loads(line) for line in exported.stdout.splitlines()]
    assert {row["wallet_address"] for row in found} == {row["wallet_address"] for row in wallets}
    assert "Exported 6 rows to -" in exported.stderr
