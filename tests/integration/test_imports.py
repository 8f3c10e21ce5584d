"""`wallet-api import`: accepted and rejected rows, output and exit status."""

import csv
import json
import re
import stat
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from tests.integration.conftest import TakeIn
from tests.ledger.command import WALLETS, changed, rejects_of, run_file, trade
from tests.ledger.mints import mint_of
from tests.ledger.rows import BEN, EVM, GROUP, UNTRACKED, written
from tests.lib.backups import at, done, refused
from tests.lib.processes import run_command
from wallet_api.base.forms import BadRow
from wallet_api.database import Connection
from wallet_api.ledger import imports, tokens
from wallet_api.ledger.files.ndjson import ndjson_records
from wallet_api.ledger.files.rows import TradeRow
from wallet_api.ledger.imports import Summary
from wallet_api.ledger.tokens import TokenIds

MINT = mint_of("mint")[:39]


@pytest.mark.usefixtures("tracked")
def test_bad_rows_are_told_by_line_and_reason_and_the_good_ones_land(
    take_in: TakeIn, connection: Connection
) -> None:
    soon = datetime.now(UTC) + timedelta(minutes=4)
    outcome = take_in(
        "trades",
        trade("good-1"),
        trade(wallet_address=UNTRACKED),
        trade(blockchain="eth", wallet_address=BEN),
        b"not JSON",
        trade("good-2", created_at=soon.isoformat(), value="0", value_usd="0", event_index=2**31 - 1),
    )
    assert (outcome.status, outcome.summary["landed"], outcome.summary["rejected"]) == (3, 2, 3)
    assert outcome.reasons == {
        2: "the wallet is not tracked; import it first",
        3: f'mint must be an address of eth (0x followed by 40 hexadecimal digits), not "{MINT}…',
        4: "the line cannot be read: JSON is malformed: invalid character (byte 4)",
    }
    assert all(reject["row"] for reject in outcome.rejects or [])
    landed = connection.execute("SELECT tx_signature FROM trades ORDER BY tx_signature").fetchall()
    assert [row["tx_signature"] for row in landed] == ["good-1", "good-2"]


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
        WALLETS[0] | {"twitter": "https://" + "x" * 2041},
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


@pytest.mark.parametrize(
    ("name", "message"), [("missing.ndjson", "No such file"), ("broken.csv", "the header lacks")]
)
def test_a_file_with_which_nothing_can_be_done_is_status_one_and_one_line(
    database_url: str, tmp_path: Path, name: str, message: str
) -> None:
    (tmp_path / "broken.csv").write_text("a,b\n1,2\n")
    assert message in refused("import", "trades", tmp_path / name, settings=at(database_url))
    assert not list(tmp_path.glob("*.rejects.ndjson"))


@pytest.mark.usefixtures("tracked")
def test_an_error_in_a_later_batch_leaves_the_batches_before_it_and_the_next_run_imports_all(
    take_in: TakeIn, connection: Connection
) -> None:
    batches = (imports.FIRST_ROWS, 10)
    rows = [trade(f"{number}") for number in range(sum(batches))]
    connection.execute("ALTER TABLE trades ADD CONSTRAINT late CHECK (value <> 777)")
    outcome = take_in("trades", *rows[:-1], rows[-1] | {"value": "777"})
    assert outcome.status == 1
    assert connection.fetch_value("SELECT count(*) AS n FROM trades") == batches[0]
    connection.execute("ALTER TABLE trades DROP CONSTRAINT late")
    again = take_in("trades", *rows)
    assert (again.status, again.summary["changed"]) == (0, batches[1])


def test_a_folder_that_cannot_be_written_to_is_told_before_anything_lands(
    database_url: str, tmp_path: Path
) -> None:
    path = written(tmp_path / "wallets.ndjson", WALLETS[0])
    # A folder in the place of the rejects file is in everyone's way, even root's.
    (tmp_path / "wallets.ndjson.rejects.ndjson").mkdir()
    assert "rejects" in refused("import", "wallets", path, settings=at(database_url))
    assert stat.S_ISDIR((tmp_path / "wallets.ndjson.rejects.ndjson").stat().st_mode)


def test_standard_input_is_taken_as_ndjson_and_its_rejects_lie_in_the_working_folder(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = json.dumps(WALLETS[0]) + "\nnot JSON\n"
    imported = run_command("import", "wallets", "-", settings=at(database_url), input=lines)
    assert imported.exit_code == 3
    assert imported.stdout.startswith("Imported 1 rows in ")
    assert imported.stdout.rstrip().endswith("1 rejected.")
    assert "stdin.rejects.ndjson" in imported.stderr
    assert [reject["line"] for reject in rejects_of(tmp_path / "stdin") or []] == [2]


def test_an_import_that_meets_more_tokens_than_it_remembers_finds_their_ids_again(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "MAX_IDS", 3)
    ids = TokenIds(connection)
    named = [("solana", name) for name in "abcde"]
    first = {token: ids.find([token])[token] for token in named}
    assert len(set(first.values())) == len(named)
    assert {token: ids.find(named)[token] for token in named} == first
    assert TokenIds(connection).find(named) == first


def test_the_same_wallets_again_are_no_change(take_in: TakeIn) -> None:
    assert changed(take_in("wallets", *WALLETS)) == (2, 2)
    assert changed(take_in("wallets", *WALLETS)) == (2, 0)
    assert changed(take_in("wallets", WALLETS[0], WALLETS[1] | {"name": "New"})) == (2, 1)
    twice = (WALLETS[0], WALLETS[0])
    assert changed(take_in("wallets", *twice)) == (2, 0)


def test_a_wallet_that_is_in_a_file_twice_with_other_values_is_rejected_with_both_lines(
    take_in: TakeIn, connection: Connection
) -> None:
    first = WALLETS[0] | {"name": "first"}
    outcome = take_in(
        "wallets",
        first,
        WALLETS[1],
        first | {"twitter": "https://also"},
        first | {"type": "whale", "name": "other", "telegram": "https://lost"},
        WALLETS[1] | {"wallet_address": EVM.lower()},
        GROUP | {"wallet_address": BEN, "twitter": "https://other"},
        first | {"telegram": "https://later"},
    )
    assert (outcome.status, outcome.summary["landed"], outcome.summary["rejected"]) == (3, 5, 2)
    assert outcome.reasons == {
        4: "line 4 has the identity of line 1 with another type, name",
        6: "line 6 has the identity of line 1 with another twitter",
    }
    assert json.loads((outcome.rejects or [])[0]["row"])["telegram"] == "https://lost"
    stored = connection.execute("SELECT * FROM wallets WHERE address = %s", [BEN]).fetchone()
    assert stored is not None
    expected = {"type": "kol", "name": "first", "twitter": "https://also", "telegram": "https://later"}
    assert stored.items() >= expected.items()
    # In another file it is a correction.
    assert changed(take_in("wallets", first | {"type": "whale"})) == (1, 1)


def test_a_price_that_is_in_a_file_twice_with_other_dollars_is_rejected_with_both_lines(
    take_in: TakeIn, connection: Connection
) -> None:
    price = {"currency": "SOL", "usd": "150.5", "priced_at": "2026-01-30T12:51:16Z"}
    again = price | {"usd": "150.50", "priced_at": "2026-01-30T13:51:16+01:00"}
    outcome = take_in("prices", price, price | {"currency": "BNB"}, again, price | {"usd": "151"})
    assert (outcome.status, outcome.summary["landed"], outcome.summary["rejected"]) == (3, 3, 1)
    assert outcome.reasons == {4: "line 4 has the identity of line 1 with another usd"}
    assert json.loads((outcome.rejects or [])[0]["row"]) == price | {"usd": "151"}
    found = connection.execute("SELECT usd FROM native_prices WHERE currency = 'SOL'").fetchall()
    assert [row["usd"] for row in found] == [Decimal("150.5")]
    assert changed(take_in("prices", price | {"usd": "151"})) == (1, 1)


SPLIT = [
    trade("split", token_amount="600", value="0.6"),
    trade("split", token_amount="400", value="0.4"),
    trade("sold", transaction_type="sell", token_amount="1000", value="3"),
    # Equal repeats, and what one of two leaves out, are no difference.
    trade("split", token_amount="600.0", value="6e-1", token_name="Coin"),
    trade("split", token_amount="600", value="0.6", token_name="", value_usd="9"),
    trade("sold", transaction_type="sell", token_amount="1000", value="3", created_at="2026-01-30T12:51:17Z"),
    trade("split", token_amount="600", value="0.6", value_usd="9"),
    trade("split", token_amount="600", value="0.6", value_usd="", exchanged_value="0.5"),
    trade("split", token_amount="600", value="0.6", exchanged_value="0.5"),
    trade("split", token_amount="400", value="0.4", event_index=1),
]
SPLIT_REASONS = {
    2: "line 2 has the identity of line 1 with other amounts: number them with event_index",
    5: "line 5 has the identity of line 1 with another token_name",
    6: "line 6 has the identity of line 3 with another created_at: number them with event_index",
    8: "line 8 has the identity of line 1 with other amounts: number them with event_index",
}


@pytest.mark.usefixtures("tracked")
def test_a_split_fill_without_numbers_is_rejected_with_both_lines(
    take_in: TakeIn, connection: Connection
) -> None:
    # All rows of CSV have the same columns, so that none leaves out what another one has.
    outcome = take_in("trades", SPLIT[0], SPLIT[1], SPLIT[2], SPLIT[0], SPLIT[9], name="trades.csv")
    fault = "line 3 has the identity of line 2 with other amounts: number them with event_index"
    assert (outcome.status, outcome.reasons, outcome.summary["landed"]) == (3, {3: fault}, 4)
    stored = connection.execute(
        "SELECT tx_signature, event_index, value FROM trades ORDER BY tx_signature DESC, event_index"
    ).fetchall()
    assert [(row["tx_signature"], row["event_index"], row["value"]) for row in stored] == [
        ("split", 0, Decimal("0.6")),
        ("split", 1, Decimal("0.4")),
        ("sold", 0, Decimal(3)),
    ]
    # In another file it is a correction.
    assert changed(take_in("trades", SPLIT[1])) == (1, 1)


@pytest.mark.usefixtures("tracked")
@pytest.mark.parametrize("batch_rows", [1, 2, 3, 100])
def test_a_repeat_in_a_later_batch_is_rejected_also_when_the_file_is_imported_again(
    connection: Connection, batch_rows: int
) -> None:
    def import_split() -> tuple[dict[int, str], list[dict[str, str]], Summary]:
        lines = [json.dumps(row).encode() + b"\n" for row in SPLIT]
        rejected: dict[int, str] = {}
        rows: list[dict[str, str]] = []

        def reject(number: int, line: bytes, fault: BadRow) -> None:
            rejected[number] = str(fault)
            rows.append(json.loads(line))

        records = ndjson_records(lines, TradeRow)
        return (
            rejected,
            rows,
            imports.import_trades(connection, records, reject, imports.TradeOptions(batch_rows=batch_rows)),
        )

    def alike(reasons: dict[int, str]) -> dict[int, str]:
        return {
            line: re.sub(r"of (an earlier line|line \d+)", "of one", text) for line, text in reasons.items()
        }

    rejected, rows, summary = import_split()
    assert alike(rejected) == alike(SPLIT_REASONS)
    assert batch_rows > 1 or "of an earlier line with" in rejected[2]
    assert (summary.landed, summary.rejected) == (6, 4)
    # What is written of a row can be imported.
    given = {name: value for name, value in SPLIT[7].items() if name not in ("created_at", "value_usd")}
    assert rows[-1].items() >= given.items()
    assert not rows[-1]["value_usd"]
    assert datetime.fromisoformat(rows[-1]["created_at"]) == datetime.fromisoformat(SPLIT[7]["created_at"])
    before = connection.execute("SELECT * FROM trades ORDER BY tx_signature, event_index").fetchall()
    rejected, _, summary = import_split()
    assert alike(rejected) == alike(SPLIT_REASONS)
    assert summary.changed == 0
    assert connection.execute("SELECT * FROM trades ORDER BY tx_signature, event_index").fetchall() == before


@pytest.mark.usefixtures("tracked")
def test_names_lose_what_is_invisible_or_changes_their_direction(
    take_in: TakeIn, connection: Connection
) -> None:
    hidden = "\u202ea\u2066b\u200b\u0001\nc\r\u2028 \u0939\u200d\u0940"
    assert take_in("trades", trade("a", token_name=hidden)).status == 0
    assert take_in("wallets", WALLETS[0] | {"name": hidden}).status == 0
    names = (
        connection.fetch_value("SELECT token_name FROM trades"),
        connection.fetch_value("SELECT name FROM wallets WHERE address = %s", [BEN]),
    )
    assert names == 2 * ("abc \u0939\u200d\u0940",)


@pytest.mark.usefixtures("tracked")
def test_texts_that_mean_something_to_copy_are_stored_as_they_are(
    take_in: TakeIn, connection: Connection
) -> None:
    texts = [r"\N", r"\.", r"a\tb\\", "\\"]
    rows = [trade(text, token_name=text, event_index=place) for place, text in enumerate(texts)]
    assert take_in("trades", *rows).status == 0
    stored = connection.execute("SELECT tx_signature, token_name FROM trades ORDER BY event_index").fetchall()
    assert [tuple(row.values()) for row in stored] == [(text, text) for text in texts]


@pytest.mark.usefixtures("tracked")
@pytest.mark.parametrize(("option", "delimiter"), [(";", ";"), ("tab", "\t"), ("|", "|")])
def test_columns_of_csv_can_be_separated_by_another_character(
    database_url: str, tmp_path: Path, option: str, delimiter: str
) -> None:
    rows = [trade("a", token_name=f"x{delimiter}y"), trade("b", token_name="1,5")]
    path = written(tmp_path / "trades.csv", *rows, delimiter=delimiter)
    imported = run_file(database_url, "import", "trades", path, "--delimiter", option)
    assert (imported.summary["landed"], imported.summary["rejected"]) == (2, 0)
    exported = tmp_path / "out.csv"
    done("export", "trades", exported, settings=at(database_url))
    names = {
        row["tx_signature"]: row["token_name"] for row in csv.DictReader(exported.read_text().splitlines())
    }
    # A tab is no part of a name.
    assert names == {"a": f"x{delimiter.strip()}y", "b": "1,5"}
    wrong = run_file(database_url, "import", "trades", path)
    assert wrong.status == 1
    assert "separated by commas, or --delimiter names another character" in wrong.text


@pytest.mark.usefixtures("tracked")
@pytest.mark.parametrize("name", ["trades.csv", "trades.ndjson"])
@pytest.mark.parametrize(("option", "factor"), [("epoch", 1), ("epoch_ms", 1000)])
def test_times_can_be_unix_times(
    take_in: TakeIn, connection: Connection, name: str, option: str, factor: int
) -> None:
    at = datetime(2026, 1, 30, 12, 51, 16, 250_000, tzinfo=UTC)
    seconds = Decimal(str(at.timestamp())) * factor
    good = [seconds, seconds - 7 * factor, int(seconds)]
    bad: list[object] = ["", "2026-01-30T12:51:16Z", "-5", "1e9", "9" * 14, seconds * 1000, seconds / 1000]
    rows = [trade(f"t{number}", created_at=str(value)) for number, value in enumerate([*good, *bad])]
    if name.endswith("ndjson"):
        # Numbers as well as texts.
        rows[1]["created_at"] = float(good[1])
        rows[2]["created_at"] = good[2]
    imported = take_in("trades", *rows, name=name, options=("--timestamps", option))
    assert (imported.summary["landed"], imported.summary["rejected"]) == (3, len(bad))
    first = 2 if name.endswith("csv") else 1
    assert sorted(imported.reasons) == [first + 3 + number for number in range(len(bad))]
    assert imported.reasons[first + 4].startswith("created_at must be a Unix time in ")
    found = connection.execute("SELECT created_at FROM trades ORDER BY tx_signature").fetchall()
    whole = datetime.fromtimestamp(int(good[2]) // factor, UTC) if factor == 1 else at
    assert [row["created_at"] for row in found] == [at, at - timedelta(seconds=7), whole]


def test_a_delimiter_is_one_character_that_no_value_needs(database_url: str) -> None:
    for character in ("", ",,", "a", "1", '"', "."):
        options = ("--delimiter", character)
        result = run_command("import", "wallets", "x.csv", *options, settings=at(database_url))
        assert result.exit_code == 2
        assert "is not one character" in result.stderr
