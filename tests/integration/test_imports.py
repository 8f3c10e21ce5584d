"""`wallet-api import`: accepted and rejected rows, output and exit status."""

import json
import stat
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from tests.ledger.command import EVM, SOLANA, WALLETS, TakeIn, changed, command, rejects_of, taking_in, trade
from tests.ledger.mints import evm_mint_of, mint_of
from wallet_api.database import Connection
from wallet_api.ledger import tokens
from wallet_api.ledger.tokens import TokenIds

UNTRACKED = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"
MINT = mint_of("mint")[:39]


@pytest.fixture
def take_in(database_url: str, tmp_path: Path) -> TakeIn:
    """Imports rows with the command."""
    return taking_in(database_url, tmp_path)


@pytest.fixture
def tracked(take_in: TakeIn) -> None:
    """A ledger that tracks the two wallets."""
    assert take_in("wallets", *WALLETS).status == 0


@pytest.mark.usefixtures("tracked")
def test_a_file_in_which_all_is_well_lands_whole_and_leaves_no_rejects(take_in: TakeIn) -> None:
    outcome = take_in("trades", trade("a"), trade("b"))
    assert outcome.status == 0
    assert outcome.rejects is None
    assert {name: outcome.summary[name] for name in ("landed", "changed", "rejected")} == {
        "landed": 2,
        "changed": 2,
        "rejected": 0,
    }


@pytest.mark.usefixtures("tracked")
def test_bad_rows_are_told_by_line_and_reason_and_the_good_ones_land(
    take_in: TakeIn, connection: Connection
) -> None:
    soon = datetime.now(UTC) + timedelta(minutes=4)
    late = datetime.now(UTC) + timedelta(minutes=6)
    outcome = take_in(
        "trades",
        trade("good 1"),
        trade(wallet_address=UNTRACKED),
        trade(wallet_address="nobody"),
        trade(blockchain="eth", wallet_address=SOLANA),
        trade(token_amount="0"),
        trade("nul\0"),
        trade(created_at=late.isoformat()),
        b"not JSON",
        trade("good 2", created_at=soon.isoformat(), value="0", value_usd="0", event_index=2**31 - 1),
    )
    assert outcome.status == 3
    assert outcome.summary["landed"] == 2
    assert outcome.summary["rejected"] == 7
    assert outcome.reasons == {
        2: "the wallet is not tracked; import it first",
        3: 'wallet_address must be an address of solana (base58 of 32 bytes), not "nobody"',
        4: f'mint must be an address of eth (0x followed by 40 hexadecimal digits), not "{MINT}…',
        5: 'token_amount must be above 0, not "0"',
        6: 'tx_signature contains a NUL character: "nul\\u0000"',
        7: f"created_at is more than 5 minutes ahead of now: {late.isoformat()}",
        8: "the line cannot be read: JSON is malformed: invalid character (byte 4)",
    }
    assert all(reject["row"] for reject in outcome.rejects or [])
    landed = connection.execute("SELECT tx_signature FROM trades ORDER BY tx_signature").fetchall()
    assert [row["tx_signature"] for row in landed] == ["good 1", "good 2"]


@pytest.mark.usefixtures("tracked")
def test_a_rejects_file_of_an_earlier_run_does_not_stay(take_in: TakeIn) -> None:
    assert take_in("trades", trade(value="-1")).rejects
    assert take_in("trades", trade()).rejects is None


@pytest.mark.usefixtures("tracked")
def test_rejected_rows_put_right_can_be_taken_in_from_the_rejects_file(take_in: TakeIn) -> None:
    rejects = take_in("trades", trade(value="-1")).rejects or []
    assert take_in("trades", rejects[0]["row"].replace("-1", "1").encode()).summary["landed"] == 1


@pytest.mark.usefixtures("tracked")
def test_the_same_trade_again_changes_nothing_and_another_amount_replaces_it(
    take_in: TakeIn, connection: Connection
) -> None:
    assert take_in("trades", trade()).summary["changed"] == 1
    again = [trade(), trade(value=1), trade(value="1.000"), trade(created_at="2026-01-30T13:51:16+01:00")]
    assert take_in("trades", *again).summary["changed"] == 0
    assert take_in("trades", trade(value="2")).summary["changed"] == 1
    assert take_in("trades", trade(value="5"), trade(value="3")).summary["changed"] == 1
    assert [row["value"] for row in connection.execute("SELECT value FROM trades")] == [Decimal(3)]


@pytest.mark.usefixtures("tracked")
def test_what_tells_trades_apart_is_signature_mint_side_and_event(
    take_in: TakeIn, connection: Connection
) -> None:
    rows = [
        trade("a"),
        trade("A"),
        trade("a", mint=mint_of("Mint")),
        trade("a", transaction_type="sell"),
        trade("a", event_index=1),
        trade("a", event_index=0),
    ]
    assert take_in("trades", *rows).summary["changed"] == 5
    count = connection.execute("SELECT count(*) AS n FROM trades").fetchone()
    assert count == {"n": 5}


@pytest.mark.usefixtures("tracked")
def test_evm_addresses_and_mints_are_compared_without_regard_to_case(
    take_in: TakeIn, connection: Connection
) -> None:
    rows = [
        trade(blockchain="eth", wallet_address=EVM.lower(), mint=evm_mint_of("AB")),
        trade(blockchain="eth", wallet_address="0x" + EVM[2:].upper(), mint=evm_mint_of("ab")),
    ]
    assert take_in("trades", *rows).summary == {
        "landed": 2,
        "changed": 1,
        "rejected": 0,
        "seconds": pytest.approx(0, abs=30),
    }
    stored = connection.execute("SELECT address, mint FROM wallets JOIN tokens USING (blockchain)").fetchall()
    assert stored == [{"address": EVM.lower(), "mint": evm_mint_of("ab")}]
    assert take_in("trades", trade(wallet_address=SOLANA.lower())).status == 3


def test_a_wallet_tracked_already_gets_the_new_profile(take_in: TakeIn, connection: Connection) -> None:
    take_in("wallets", *WALLETS)
    take_in("wallets", WALLETS[0] | {"name": "Old"}, WALLETS[0] | {"name": "New", "type": "whale"})
    found = connection.execute("SELECT name, type FROM wallets WHERE blockchain = 'solana'").fetchall()
    assert found == [{"name": "New", "type": "whale"}]


@pytest.mark.usefixtures("tracked")
def test_unknown_columns_and_members_are_ignored_with_a_warning(
    take_in: TakeIn, database_url: str, tmp_path: Path
) -> None:
    outcome = take_in("trades", trade("a", token_nme="x"), trade("b", token_nme="x", rank=1))
    assert changed(outcome) == (2, 2)
    assert outcome.summary["warnings"] == [
        'the member "token_nme" is unknown and ignored',
        'the member "rank" is unknown and ignored',
    ]
    (tmp_path / "wallets.csv").write_text(f"blockchain,type,wallet_address,Name\nsolana,kol,{SOLANA},x\n")
    status, output, error = command(database_url, tmp_path, "wallets", "wallets.csv")
    assert status == 0
    assert "(0 new or changed, 1 unchanged)" in output
    database, *warnings = error.splitlines()
    assert database.startswith("Database: ")
    assert warnings == ['Warning: the column "Name" is unknown and ignored']


def test_bad_wallets_are_told_by_line_and_reason(take_in: TakeIn) -> None:
    outcome = take_in(
        "wallets",
        WALLETS[1] | {"type": "whale"},
        WALLETS[0] | {"wallet_address": EVM},
        WALLETS[1] | {"wallet_address": EVM + "0"},
        WALLETS[0] | {"name": "\0"},
        WALLETS[0] | {"twitter": "x" * 2049},
        WALLETS[0] | {"wallet_address": SOLANA[:-1]},
        WALLETS[0],
    )
    assert outcome.status == 3
    assert outcome.summary["landed"] == 1
    assert sorted(outcome.reasons) == [1, 2, 3, 4, 5, 6]
    assert outcome.reasons[1] == 'type must be kol on eth, not "whale"'


def test_bad_prices_are_told_by_line_and_reason(take_in: TakeIn, connection: Connection) -> None:
    price = {"currency": "SOL", "usd": "150.5", "priced_at": "2026-01-30T12:51:16Z"}
    outcome = take_in(
        "prices", price | {"usd": "0"}, price | {"currency": "BTC"}, price | {"priced_at": "soon"}, price
    )
    assert outcome.status == 3
    assert outcome.summary["landed"] == 1
    assert sorted(outcome.reasons) == [1, 2, 3]
    assert [row["usd"] for row in connection.execute("SELECT usd FROM native_prices")] == [Decimal("150.5")]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.ndjson", "No such file"),
        ("trades.txt", "must end in"),
        ("broken.csv", "the header lacks"),
        ("semicolons.csv", "separated by commas"),
        ("capitals.csv", "the header lacks blockchain; "),
    ],
)
def test_a_file_with_which_nothing_can_be_done_is_status_one_and_one_line(
    database_url: str, tmp_path: Path, name: str, message: str
) -> None:
    (tmp_path / "trades.txt").touch()
    (tmp_path / "broken.csv").write_text("a,b\n1,2\n")
    (tmp_path / "semicolons.csv").write_text("blockchain;type\nsolana;kol\n")
    (tmp_path / "capitals.csv").write_text(",".join(trade()).replace("blockchain", "Blockchain"))
    status, output, error = command(database_url, tmp_path, "trades", name)
    assert (status, output) == (1, "")
    assert message in error
    # The database is named as soon as the file is open.
    assert len([line for line in error.splitlines() if not line.startswith("Database: ")]) == 1
    assert not list(tmp_path.glob("*.rejects.ndjson"))


def test_a_folder_that_cannot_be_written_to_is_told_before_anything_lands(
    database_url: str, tmp_path: Path
) -> None:
    path = tmp_path / "wallets.ndjson"
    path.write_text(json.dumps(WALLETS[0]))
    # A folder in the place of the rejects file is in everyone's way, even root's.
    (tmp_path / "wallets.ndjson.rejects.ndjson").mkdir()
    status, _, error = command(database_url, tmp_path, "wallets", path.name)
    assert status == 1
    assert "rejects" in error
    assert stat.S_ISDIR((tmp_path / "wallets.ndjson.rejects.ndjson").stat().st_mode)


def test_standard_input_is_taken_as_ndjson_and_its_rejects_lie_in_the_working_folder(
    database_url: str, tmp_path: Path
) -> None:
    lines = json.dumps(WALLETS[0]) + "\nnot JSON\n"
    status, output, error = command(database_url, tmp_path, "wallets", "-", lines)
    assert status == 3
    assert output.startswith("Imported 1 rows in ")
    assert output.rstrip().endswith("1 rejected.")
    assert "stdin.rejects.ndjson" in error
    assert [reject["line"] for reject in rejects_of(tmp_path / "stdin") or []] == [2]


def test_a_database_that_is_away_is_status_one_without_a_traceback_or_a_password(tmp_path: Path) -> None:
    (tmp_path / "trades.ndjson").write_text(json.dumps(trade()))
    url = "postgresql://someone:secret-word@127.0.0.1:9/nothing"
    status, output, error = command(url, tmp_path, "trades", "trades.ndjson")
    assert (status, output) == (1, "")
    assert "Traceback" not in error
    assert "secret-word" not in error


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
