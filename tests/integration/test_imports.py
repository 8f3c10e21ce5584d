"""`wallet-api import`: accepted and rejected rows, output and exit status."""

import csv
import json
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from tests.backups import at, done
from tests.ledger.command import WALLETS, Outcome, changed, command, rejects_of, run_file, trade
from tests.ledger.in_process import Row
from tests.ledger.mints import mint_of
from tests.ledger.rows import BEN, EVM, UNTRACKED, written
from tests.processes import run_command
from wallet_api.database import Connection
from wallet_api.ledger import tokens
from wallet_api.ledger.tokens import TokenIds

TakeIn = Callable[..., Outcome]

MINT = mint_of("mint")[:39]


@pytest.fixture
def take_in(database_url: str, tmp_path: Path) -> TakeIn:
    """Imports rows with the command."""

    def take(kind: str, *rows: Row | bytes, name: str = "file.ndjson") -> Outcome:
        return run_file(database_url, "import", kind, written(tmp_path / name, *rows))

    return take


@pytest.fixture
def tracked(take_in: TakeIn) -> None:
    """A ledger that tracks the two wallets."""
    assert take_in("wallets", *WALLETS).status == 0


@pytest.mark.usefixtures("tracked")
def test_bad_rows_are_told_by_line_and_reason_and_the_good_ones_land(
    take_in: TakeIn, connection: Connection
) -> None:
    soon = datetime.now(UTC) + timedelta(minutes=4)
    outcome = take_in(
        "trades",
        trade("good 1"),
        trade(wallet_address=UNTRACKED),
        trade(blockchain="eth", wallet_address=BEN),
        b"not JSON",
        trade("good 2", created_at=soon.isoformat(), value="0", value_usd="0", event_index=2**31 - 1),
    )
    assert (outcome.status, outcome.summary["landed"], outcome.summary["rejected"]) == (3, 2, 3)
    assert outcome.reasons == {
        2: "the wallet is not tracked; import it first",
        3: f'mint must be an address of eth (0x followed by 40 hexadecimal digits), not "{MINT}…',
        4: "the line cannot be read: JSON is malformed: invalid character (byte 4)",
    }
    assert all(reject["row"] for reject in outcome.rejects or [])
    landed = connection.execute("SELECT tx_signature FROM trades ORDER BY tx_signature").fetchall()
    assert [row["tx_signature"] for row in landed] == ["good 1", "good 2"]


@pytest.mark.usefixtures("tracked")
def test_rejected_rows_put_right_are_imported_from_the_rejects_file_which_goes(take_in: TakeIn) -> None:
    rejects = take_in("trades", trade("a", value="-1"), trade("b")).rejects or []
    outcome = take_in("trades", rejects[0]["row"].replace("-1", "1").encode(), trade("b"))
    assert (outcome.status, changed(outcome), outcome.rejects) == (0, (2, 1), None)


def test_bad_wallets_and_prices_are_reported_by_line_and_reason(
    take_in: TakeIn, connection: Connection
) -> None:
    outcome = take_in(
        "wallets",
        WALLETS[1] | {"type": "whale"},
        WALLETS[0] | {"wallet_address": EVM},
        WALLETS[1] | {"wallet_address": EVM + "0"},
        WALLETS[0] | {"name": "\0"},
        WALLETS[0] | {"twitter": "x" * 2049},
        WALLETS[0] | {"wallet_address": BEN[:-1]},
        WALLETS[0],
    )
    assert (outcome.status, outcome.summary["landed"]) == (3, 1)
    assert sorted(outcome.reasons) == [1, 2, 3, 4, 5, 6]
    assert outcome.reasons[1] == 'type must be kol on eth, not "whale"'
    price = {"currency": "SOL", "usd": "150.5", "priced_at": "2026-01-30T12:51:16Z"}
    outcome = take_in(
        "prices", price | {"usd": "0"}, price | {"currency": "BTC"}, price | {"priced_at": "soon"}, price
    )
    assert (outcome.status, outcome.summary["landed"]) == (3, 1)
    assert sorted(outcome.reasons) == [1, 2, 3]
    assert [row["usd"] for row in connection.execute("SELECT usd FROM native_prices")] == [Decimal("150.5")]
    assert take_in("prices", price | {"usd": "0"}).summary["landed"] == 0
    assert changed(take_in("prices", price)) == (1, 0)


def test_unknown_columns_are_ignored_with_a_warning(
    take_in: TakeIn, database_url: str, tmp_path: Path
) -> None:
    row = f"blockchain,type,wallet_address,Name\nsolana,kol,{BEN},x".encode()
    warning = 'the column "Name" is unknown and ignored'
    assert take_in("wallets", row, name="wallets.csv").summary["warnings"] == [warning]
    status, output, error = command(database_url, tmp_path, "import", "wallets", "wallets.csv")
    assert status == 0
    assert "(0 new or changed, 1 unchanged)" in output
    database, *warnings = error.splitlines()
    assert database.startswith("Database: ")
    assert warnings == [f"Warning: {warning}"]


@pytest.mark.parametrize(
    ("name", "message"), [("missing.ndjson", "No such file"), ("broken.csv", "the header lacks")]
)
def test_a_file_with_which_nothing_can_be_done_is_status_one_and_one_line(
    database_url: str, tmp_path: Path, name: str, message: str
) -> None:
    (tmp_path / "broken.csv").write_text("a,b\n1,2\n")
    status, output, error = command(database_url, tmp_path, "import", "trades", name)
    assert (status, output) == (1, "")
    assert message in error
    # The database is named as soon as the file is open.
    assert len([line for line in error.splitlines() if not line.startswith("Database: ")]) == 1
    assert not list(tmp_path.glob("*.rejects.ndjson"))


def test_a_folder_that_cannot_be_written_to_is_told_before_anything_lands(
    database_url: str, tmp_path: Path
) -> None:
    path = written(tmp_path / "wallets.ndjson", WALLETS[0])
    # A folder in the place of the rejects file is in everyone's way, even root's.
    (tmp_path / "wallets.ndjson.rejects.ndjson").mkdir()
    status, _, error = command(database_url, tmp_path, "import", "wallets", path.name)
    assert status == 1
    assert "rejects" in error
    assert stat.S_ISDIR((tmp_path / "wallets.ndjson.rejects.ndjson").stat().st_mode)


def test_standard_input_is_taken_as_ndjson_and_its_rejects_lie_in_the_working_folder(
    database_url: str, tmp_path: Path
) -> None:
    lines = json.dumps(WALLETS[0]) + "\nnot JSON\n"
    status, output, error = command(database_url, tmp_path, "import", "wallets", "-", standard_input=lines)
    assert status == 3
    assert output.startswith("Imported 1 rows in ")
    assert output.rstrip().endswith("1 rejected.")
    assert "stdin.rejects.ndjson" in error
    assert [reject["line"] for reject in rejects_of(tmp_path / "stdin") or []] == [2]


def test_an_import_that_meets_more_tokens_than_it_remembers_finds_their_ids_again(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "MAX_IDS", 3)
    ids = TokenIds(connection)
    named = [("solana", name) for name in "abcde"]
    first = {token: ids.of([token])[token] for token in named}
    assert len(set(first.values())) == len(named)
    assert {token: ids.of(named)[token] for token in named} == first
    assert TokenIds(connection).of(named) == first


def test_the_same_wallets_again_are_no_change(take_in: TakeIn) -> None:
    assert changed(take_in("wallets", *WALLETS)) == (2, 2)
    assert changed(take_in("wallets", *WALLETS)) == (2, 0)
    assert changed(take_in("wallets", WALLETS[0], WALLETS[1] | {"name": "New"})) == (2, 1)
    twice = (WALLETS[0] | {"type": "smart"}, WALLETS[0])
    assert changed(take_in("wallets", *twice)) == (2, 0)
    assert changed(take_in("wallets", *twice)) == (2, 0)


def test_a_wallet_that_is_in_a_file_twice_with_other_values_is_warned_of_and_the_last_one_is_used(
    take_in: TakeIn,
) -> None:
    rows = [
        WALLETS[0] | {"type": "whale", "name": "Old"},
        WALLETS[1],
        WALLETS[1] | {"wallet_address": EVM.lower()},
        WALLETS[0],
    ]
    outcome = take_in("wallets", *rows)
    assert outcome.summary["warnings"] == [
        f"wallet {BEN} on solana is in lines 1, 4 with a different type (whale, kol), name;"
        " the last one is used"
    ]
    assert f"Warning: {outcome.summary['warnings'][0]}\n" in outcome.text
    assert "warnings" not in take_in("wallets", WALLETS[0], WALLETS[0], WALLETS[1]).summary


def test_a_file_of_many_repeated_wallets_gives_few_warnings(take_in: TakeIn) -> None:
    addresses = [f"0x{number:040x}" for number in range(30)]
    rows = [
        {"blockchain": "bnb", "type": type, "wallet_address": address}
        for type in ("kol", "smart", "kol", "smart", "kol", "smart")
        for address in addresses
    ]
    warnings = take_in("wallets", *rows).summary["warnings"]
    assert len(warnings) == 11
    assert "is in lines 1, 31, 61, 91, 121, … with a different type (kol, smart);" in warnings[0]
    assert warnings[-1] == "the same holds for 20 more wallets"


def test_a_csv_leaves_fields_as_they_are_that_it_has_no_column_for_and_an_empty_cell_clears_one(
    take_in: TakeIn, connection: Connection
) -> None:
    fields = {"name": "Sol", "image_url": "i", "twitter": "t", "telegram": "g", "copytrade_link": "c"}
    take_in("wallets", WALLETS[0] | fields)
    for more, type, cells, profile in (
        ("", "kol", "", fields),
        (",twitter", "whale", ",new", fields | {"type": "whale", "twitter": "new"}),
        (",name", "kol", ",", fields | {"type": "kol", "twitter": "new", "name": ""}),
    ):
        lines = (f"blockchain,type,wallet_address{more}", f"solana,{type},{BEN}{cells}")
        assert changed(take_in("wallets", *map(str.encode, lines), name="file.csv")) == (1, int(bool(more)))
        row = connection.execute("SELECT * FROM wallets").fetchone()
        assert row is not None
        assert profile.items() <= row.items()


@pytest.mark.usefixtures("tracked")
def test_columns_that_a_csv_of_trades_leaves_out_keep_what_is_known_and_empty_cells_clear_it(
    take_in: TakeIn, connection: Connection
) -> None:
    take_in("trades", trade(token_name="Coin", value_usd="7"))
    row = trade(value="2")
    header, cells = ",".join(row).encode(), ",".join(row.values()).encode()
    optional = b",token_name,value_usd,event_index"
    for lines, left in (((header, cells), ("Coin", 7)), ((header + optional, cells + b",,,"), (None, None))):
        assert changed(take_in("trades", *lines, name="file.csv")) == (1, 1)
        stored = connection.execute("SELECT token_name, value_usd FROM trades").fetchall()
        assert [tuple(row.values()) for row in stored] == [left]


# The rows of one trade, in their order.
SEQUENCES: list[list[Row]] = [
    [{"token_name": "Coin", "value_usd": "7"}, {}],
    [{"token_name": "Coin"}, {"value_usd": "7"}, {"value": "2"}],
    [{"token_name": "Coin", "value_usd": "7"}, {"token_name": None}, {}],
    [{"token_name": "Coin", "value_usd": "7"}, {"value_usd": ""}, {"value": "2"}],
    [{}, {"value_usd": "7"}, {"value_usd": None}],
    [{"value": "2"}, {}],
    [{"value": "2"}, {"value": "1.0"}],
    [{"value": "2"}, {}, {}],
    [{"value": "1.0", "created_at": "2026-01-30T13:51:16+01:00"}, {}],
    [{"created_at": "2026-01-30T12:51:17Z"}, {}],
    [{"value_usd": None, "value": "2"}, {"value_usd": None}],
    [{"exchanged_value": "0.9"}, {}, {"value": "2"}],
    [{"exchanged_value": "0.9"}, {"exchanged_value": None}],
    [{"exchanged_value": "0.9", "value": "2"}, {"exchanged_value": ""}, {"exchanged_value": "0.8"}],
    [{"token_name": "a\tb\\c\nd", "value_usd": "7"}, {"value": "2"}],
]


@pytest.mark.usefixtures("tracked")
@pytest.mark.parametrize(
    "known", [None, {}, {"token_name": "Known", "value_usd": "9", "exchanged_value": "3"}]
)
def test_rows_of_one_trade_in_one_file_are_as_files_one_after_another(
    take_in: TakeIn, connection: Connection, known: Row | None
) -> None:
    price = {"currency": "SOL", "usd": "100", "priced_at": "2026-01-30T12:51:16Z"}
    steps = [
        [trade(f"{number}", **rows[step]) for number, rows in enumerate(SEQUENCES) if step < len(rows)]
        for step in range(3)
    ]
    found = []
    for files in ([[row for rows in steps for row in rows]], steps):
        connection.execute("DELETE FROM trades; DELETE FROM positions; DELETE FROM native_prices")
        take_in("prices", price)
        if known is not None:
            take_in("trades", *(trade(f"{number}", **known) for number in range(len(SEQUENCES))))
        take_in("prices", price | {"usd": "200"})
        for file in files:
            assert take_in("trades", *file).status == 0
        found.append(
            connection.execute(
                "SELECT tx_signature, token_name, value_usd, usd_derived, value, exchanged_value, created_at"
                " FROM trades ORDER BY tx_signature"
            ).fetchall()
        )
    assert len(found[0]) == len(SEQUENCES)
    assert found[0] == found[1]


@pytest.mark.usefixtures("tracked")
@pytest.mark.parametrize(("option", "delimiter"), [(";", ";"), ("tab", "\t"), ("|", "|")])
def test_columns_of_csv_can_be_separated_by_another_character(
    database_url: str, tmp_path: Path, option: str, delimiter: str
) -> None:
    rows = [trade("a", token_name=f"x{delimiter}y"), trade("b", token_name="1,5")]
    path = tmp_path / "trades.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    imported = run_file(database_url, "import", "trades", path, "--delimiter", option)
    assert (imported.summary["landed"], imported.summary["rejected"]) == (2, 0)
    exported = tmp_path / "out.csv"
    done("export", "trades", exported, settings=at(database_url))
    names = {
        row["tx_signature"]: row["token_name"] for row in csv.DictReader(exported.read_text().splitlines())
    }
    assert names == {"a": f"x{delimiter}y", "b": "1,5"}
    wrong = run_file(database_url, "import", "trades", path)
    assert wrong.status == 1
    assert "separated by commas, or --delimiter names another one" in wrong.text
    removed = run_file(database_url, "remove", "trades", path, "--delimiter", option, "--yes")
    assert (removed.summary["removed"], removed.summary["rejected"]) == (2, 0)


@pytest.mark.usefixtures("tracked")
@pytest.mark.parametrize("name", ["trades.csv", "trades.ndjson"])
@pytest.mark.parametrize(("option", "factor"), [("epoch", 1), ("epoch_ms", 1000)])
def test_times_can_be_unix_times(
    database_url: str, connection: Connection, tmp_path: Path, name: str, option: str, factor: int
) -> None:
    at = datetime(2026, 1, 30, 12, 51, 16, 250_000, tzinfo=UTC)
    seconds = Decimal(str(at.timestamp())) * factor
    good = [seconds, seconds - 7 * factor, int(seconds)]
    bad: list[object] = ["", "2026-01-30T12:51:16Z", "-5", "1e9", "9" * 14, seconds * 1000, seconds / 1000]
    rows = [trade(f"t{number}", created_at=str(value)) for number, value in enumerate([*good, *bad])]
    path = tmp_path / name
    if name.endswith("csv"):
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    else:
        # Numbers as well as texts.
        rows[1]["created_at"] = float(good[1])
        rows[2]["created_at"] = good[2]
        written(path, *rows)
    imported = run_file(database_url, "import", "trades", path, "--timestamps", option)
    assert (imported.summary["landed"], imported.summary["rejected"]) == (3, len(bad))
    first = 2 if name.endswith("csv") else 1
    assert sorted(imported.reasons) == [first + 3 + number for number in range(len(bad))]
    assert imported.reasons[first + 4].startswith("created_at must be a Unix time in ")
    found = connection.execute("SELECT created_at FROM trades ORDER BY tx_signature").fetchall()
    whole = datetime.fromtimestamp(int(good[2]) // factor, UTC) if factor == 1 else at
    assert [row["created_at"] for row in found] == [at, at - timedelta(seconds=7), whole]


@pytest.mark.parametrize("character", ["", ",,", "a", "1", '"', "."])
def test_a_delimiter_is_one_character_that_no_value_needs(database_url: str, character: str) -> None:
    refused = run_command("import", "wallets", "x.csv", "--delimiter", character, settings=at(database_url))
    assert refused.exit_code == 2
    assert "is not one character" in refused.stderr
