"""`wallet-api import` of what other tools write: their names of columns, times, numbers, and lists."""

import gzip
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.integration.conftest import TakeIn
from tests.ledger.command import changed, run_file, trade
from tests.ledger.in_process import Row
from tests.ledger.rows import ANN, BEN, EVM, UNTRACKED, written
from tests.lib.backups import at
from tests.lib.processes import run_command
from wallet_api.database import Connection
from wallet_api.ledger.files.lists import MAX_ARRAY_BYTES

LIST = ("--blockchain", "solana", "--type", "kol")
MOMENT = datetime(2025, 9, 7, tzinfo=UTC)
# Of Dune, Go, PostgreSQL, CoinGecko's snapped_at, pandas, and Python.
TIMES = (
    *("2025-09-07 00:00:00 UTC", "2025-09-07 00:00:00.000 UTC", "2025-09-07 00:00:00 +0000 UTC"),
    *("2025-09-07 00:00:00+00", "2025-09-07 00:00:00.000000+00", "2025-09-07T00:00:00+0000"),
    *("2025-09-07 02:00:00+02", "2025-09-07T05:30:00 +05:30", "2025-09-06T16:00:00.123456789-08"),
    *("2025-09-07 00:00:00+00:00", "2025-09-07T00:00:00Z", "2025-09-07 00:00:00", "2025-09-07T00:00:00UTC"),
    *("2025-09-07 00:00 UTC", "2025-09-07T00:00", " 2025-09-07T02:00+02:00 ", "2025-09-07t00:00z"),
)
NOT_TIMES = (
    *("2025-09-07", "2025-09-07 00 UTC", "2025-09-07 02:00:00 +0200 UTC", "2025-09-07 00:00:00 PST"),
    *("2025-09-07 00:00:00 +0200 CEST", "09/07/2025 00:00:00", "Sep-07-2025 12:00:00 AM UTC", "UTC"),
    *("2025-02-30 00:00:00 UTC", "2025-09-07 00:00:00+25", "2025-09-07 00:00:00 UTC.", "1757203200"),
)


def addresses(connection: Connection) -> list[tuple[str, str, str, str]]:
    """Return the tracked wallets."""
    rows = connection.execute("SELECT blockchain, type, address, name FROM wallets ORDER BY address")
    return [tuple(row.values()) for row in rows]


@pytest.mark.usefixtures("tracked")
@pytest.mark.parametrize("name", ["trades.csv", "trades.ndjson"])
def test_times_are_read_with_any_offset_and_others_are_refused_with_what_is_allowed(
    take_in: TakeIn, connection: Connection, name: str
) -> None:
    rows = [trade(f"{number:02}", created_at=time) for number, time in enumerate((*TIMES, *NOT_TIMES))]
    imported = take_in("trades", *rows, name=name)
    assert imported.summary["landed"] == len(TIMES)
    found = connection.execute("SELECT created_at FROM trades ORDER BY tx_signature").fetchall()
    assert {row["created_at"].replace(microsecond=0) for row in found} == {MOMENT}
    assert len(imported.reasons) == len(NOT_TIMES)
    allowed = (
        "created_at must be an ISO 8601 time such as 2026-01-30T12:51:16Z (or any offset or UTC in place"
    )
    reasons = imported.reasons.values()
    assert all(reason.startswith(allowed) for reason in reasons)
    assert sum("; --timestamps epoch reads Unix times" in reason for reason in reasons) == 1


def test_separators_of_thousands_and_currency_signs_are_rejected_with_a_hint(take_in: TakeIn) -> None:
    price = {"currency": "SOL", "priced_at": "2025-09-08 00:00:00 UTC"}
    imported = take_in("prices", *(price | {"usd": usd} for usd in ("1,234.5", "$206.1")))
    hint = "; write it without separators of thousands, spaces or currency signs"
    form = "usd must be a decimal number such as 1000, 0.25 or 1.5e-7, not"
    assert imported.reasons == {1: f'{form} "1,234.5"{hint}', 2: f'{form} "$206.1"{hint}'}


@pytest.mark.usefixtures("tracked")
@pytest.mark.parametrize("name", ["trades.csv", "trades.ndjson", "trades.json"])
def test_columns_that_are_otherwise_called_are_named(
    database_url: str, connection: Connection, tmp_path: Path, name: str
) -> None:
    row = trade("a", value="0.5")
    other = {"trader": row.pop("wallet_address"), "amount_native": row.pop("value"), "value": "7"}
    rows = [row | other]
    path = written(tmp_path / name, *rows)
    if name.endswith(".json"):
        path.write_text(json.dumps(rows))
    refused = run_file(database_url, "import", "trades", path)
    assert refused.status == (1 if name.endswith("csv") else 3)
    reason = refused.text if name.endswith("csv") else refused.reasons[1]
    assert "--column NAME=OTHER names a column that is otherwise called" in reason
    options = ("--column", "wallet_address=trader", "--column", " value = amount_native ")
    imported = run_file(database_url, "import", "trades", path, *options)
    assert changed(imported) == (1, 1)
    # What the file itself calls `value` is another column.
    warning, _ = imported.summary["warnings"]
    assert '"value"' in warning
    assert connection.fetch_value("SELECT value::text FROM trades") == "0.5"
    removed = run_file(database_url, "remove", "trades", path, "--yes", *options[:2])
    assert removed.summary["removed"] == 1


def test_a_header_that_lacks_columns_is_shown_whole_with_the_way_out(
    database_url: str, tmp_path: Path
) -> None:
    header = (
        "Signature,Block Time,Human Time,Action,From,To,Amount,Flow,Value,Decimals,Token Address,Multiplier"
    )
    path = tmp_path / "export.csv"
    path.write_text(f"{header}\n")
    refused = run_file(database_url, "import", "trades", path, "--blockchain", "solana")
    assert refused.status == 1
    assert refused.text.splitlines()[-1] == (
        f"Error: {path}: the header lacks wallet_address, tx_signature, mint, transaction_type, token_amount,"
        " created_at, value or value_usd; --column NAME=OTHER names a column that is otherwise called;"
        f' it is "{header}"'
    )
    named = ("--column", "wallet_address=From", "--column", "mint=Token")
    refused = run_file(database_url, "import", "trades", path, *named)
    assert "the header lacks blockchain, tx_signature, Token, transaction_type, " in refused.text
    assert "--blockchain states what is the same in all rows" in refused.text
    path.write_text("\x9b31mred\u202eder,b\n")
    assert 'it is "31mredder,b"' in run_file(database_url, "import", "trades", path).text
    path.write_text(f"{'x,' * 100_000}\n")
    assert len(run_file(database_url, "import", "trades", path).text) < 5000


def test_a_name_that_is_no_column_is_refused_with_those_that_are(database_url: str) -> None:
    wallets = "'mint' is no column; the columns are blockchain, type, wallet_address, na"
    prices = "'price' is no column; the columns are currency, usd, priced_at."
    trades = "'' is no column; the columns are blockchain, wallet_address, tx_signature"
    twice = "names a column twice"
    for kind, message, *columns in (
        ("wallets", wallets, "mint=token"),
        ("prices", prices, "price=usd"),
        ("trades", "'mint' must be mint=OTHER.", "mint"),
        ("trades", trades, "=x"),
        ("prices", twice, "usd=a", "usd=b"),
        ("prices", twice, "usd=a", "priced_at=a"),
    ):
        options = [part for text in columns for part in ("--column", text)]
        refused = run_command("import", kind, "x.csv", *options, settings=at(database_url))
        assert refused.exit_code == 2
        assert message in " ".join(refused.stderr.split())


# The name of a file, its content, what is given beside it, and whether it has the names of its wallets.
LISTS: tuple[tuple[str, str, tuple[str, ...], bool], ...] = (
    ("list.txt", f"# mine\n{BEN}\n\n  {ANN}  \r\n", (), False),
    ("list.txt", f"\ufeff{BEN}\n{ANN}", (), False),
    ("list.json", json.dumps([BEN, ANN]), (), False),
    ("list.json", json.dumps([{"wallet_address": BEN}, ANN], indent=2), (), False),
    (
        "list.json",
        "\n".join(json.dumps({"wallet_address": one}) for one in (BEN, ANN)),
        (),
        False,
    ),
    ("list.txt", "\ufeff" + json.dumps([BEN, {"wallet_address": ANN}]), (), False),
    ("list.csv", f"wallet_address\n{BEN}\n{ANN}\n", (), False),
    ("list.ndjson", json.dumps({"wallet_address": BEN, "type": ""}) + f'\n"{ANN}"\n', (), False),
    ("list.txt", f"# mine\n{BEN}:Ben\n{ANN} , Ann\n", (), True),
    ("list.txt", f'{BEN};"Ben"\n{ANN}\tAnn\n', (), True),
    ("list.json", json.dumps({BEN: "Ben", ANN: "Ann"}, indent=1), (), True),
    ("list.json", json.dumps([f"{BEN}:Ben", {"wallet_address": ANN, "name": "Ann"}]), (), True),
    ("list.json", json.dumps({"data": {"count": 2, "items": [f"{BEN}:Ben", f"{ANN}:Ann"]}}), (), True),
    ("list.JSON", json.dumps({"groups": [f"{BEN}:Ben", f"{ANN}:Ann"]}, indent=2), (), True),
    (
        "list.json",
        json.dumps({"a": [1], "data": {"items": [f"{BEN}:Ben", f"{ANN}:Ann"], "x": []}}),
        ("--rows", "data.items"),
        True,
    ),
)


def test_a_list_of_wallets_is_read_in_each_form(
    database_url: str, connection: Connection, tmp_path: Path
) -> None:
    for name, content, options, has_names in LISTS:
        path = tmp_path / name
        path.write_bytes(content.encode())
        assert changed(run_file(database_url, "import", "wallets", path, *LIST, *options)) == (2, 2), content
        assert addresses(connection) == [
            ("solana", "kol", ANN, "Ann" if has_names else ""),
            ("solana", "kol", BEN, "Ben" if has_names else ""),
        ]
        if not name.endswith(("csv", "ndjson")):
            packed = tmp_path / f"{name}.gz"
            packed.write_bytes(gzip.compress(content.encode()))
            assert changed(run_file(database_url, "import", "wallets", packed, *LIST, *options)) == (2, 0)
        # Without a name, the content alone says what it is.
        if name == "list.txt" and not has_names:
            given = run_command("import", "wallets", "-", *LIST, settings=at(database_url), input=content)
            assert "(0 new or changed, 2 unchanged)" in given.stdout, given.output
        removed = run_file(database_url, "remove", "wallets", path, *LIST[:2], *options, "--yes")
        assert removed.summary["removed"] == 2


def test_an_array_of_a_terminal_is_read_with_its_names(
    database_url: str, connection: Connection, tmp_path: Path
) -> None:
    path = tmp_path / "wallets.json"
    wallet = {"trackedWalletAddress": BEN, "name": "Sol", "emoji": "👻", "alertsOn": True}
    path.write_text(json.dumps([wallet, wallet | {"trackedWalletAddress": "x"}, 5, None, "y", [], {}]))
    options = (*LIST, "--column", "wallet_address=trackedWalletAddress")
    imported = run_file(database_url, "import", "wallets", path, *options)
    assert (imported.status, imported.summary["landed"]) == (3, 1)
    assert addresses(connection) == [("solana", "kol", BEN, "Sol")]
    # The number is that of the element.
    assert sorted(imported.reasons) == [2, 3, 4, 5, 6, 7]
    assert imported.reasons[2].startswith("wallet_address must be an address of solana")
    assert imported.reasons[3] == "the line cannot be read: Expected `object`, got `int`"
    assert {reject["line"]: reject["row"] for reject in imported.rejects or []}[5] == '"y"'
    assert imported.summary["warnings"] == [
        'the member "emoji" is unknown and ignored',
        'the member "alertsOn" is unknown and ignored',
    ]


@pytest.mark.parametrize("name", ["list.ndjson", "list.csv"])
def test_what_a_row_states_is_not_replaced_by_what_the_file_lacks(
    take_in: TakeIn, connection: Connection, name: str
) -> None:
    rows: list[Row] = [
        {"blockchain": "solana", "type": "kol", "wallet_address": BEN},
        {"blockchain": "eth", "type": "kol", "wallet_address": EVM},
        {"blockchain": "", "type": "", "wallet_address": ANN},
        {"blockchain": "solana", "type": "whale", "wallet_address": UNTRACKED},
    ]
    imported = take_in("wallets", *rows, name=name, options=LIST)
    first = 2 if name.endswith("csv") else 1
    assert imported.reasons == {
        first + 1: 'blockchain is given as solana for the whole file, but here it is "eth"',
        first + 3: 'type is given as kol for the whole file, but here it is "whale"',
    }
    assert {wallet[2] for wallet in addresses(connection)} == {BEN, ANN}


# The name of a file, its content, what is given beside it, and the status and the fault that it gets.
Hostile = tuple[str, bytes, tuple[str, ...], int, str]
HOSTILE: tuple[Hostile, ...] = (
    ("w.txt", BEN.encode(), (), 1, "an address alone is a wallet only with --blockchain and --type"),
    ("w.txt", BEN.encode(), LIST[:2], 1, "an address alone is a wallet only with --type"),
    ("w.json", json.dumps([BEN]).encode(), (), 3, "an address alone is a wallet only with --blockchain"),
    ("w.txt", b"\xff\xfe" + BEN.encode("utf-16-le"), LIST, 3, "the line cannot be read: 'utf-8' codec"),
    (
        "w.json",
        b"\xff\xfe" + json.dumps([BEN]).encode("utf-16-le"),
        LIST,
        3,
        "the line cannot be read: '",
    ),
    ("w.csv", BEN.encode(), LIST, 1, "a list of addresses has no header, and a name that ends in .txt"),
    ("w.csv", b"\xff\xfe" + BEN.encode("utf-16-le"), LIST, 1, "the header cannot be read: 'utf-8' codec"),
    ("w.csv", b"", LIST, 1, "the header lacks wallet_address; "),
    ("w.csv.gz", gzip.compress(b"\xef\xbb\xbf\r\n\r\n", mtime=0), LIST, 1, "lacks wallet_address; "),
    ("w.txt", f"{BEN}\0".encode(), LIST, 3, "wallet_address must be an address of solana"),
    ("w.txt", f"{BEN} Sol".encode(), LIST, 3, "wallet_address must be an address of solana"),
    (
        "w.json",
        json.dumps({"a": [BEN], "b": {"c": []}}).encode(),
        LIST,
        1,
        "several lists, a, b.c; --rows",
    ),
    (
        "w.json",
        json.dumps({BEN: "Sol", "x": ""}).encode(),
        LIST,
        3,
        "missing required field `wallet_addr",
    ),
    (
        "w.json",
        json.dumps({"a": [], "b": {"c": [BEN]}}).encode(),
        (*LIST, "--rows", "b"),
        1,
        "there is no list b; the lists are a, b.c",
    ),
    (
        *("w.json", json.dumps([BEN]).encode(), (*LIST, "--rows", "b"), 1),
        "the file is a list, and --rows is for one within an object",
    ),
    ("w.json", b"[" + b"[" * 100_000 + b"]" * 100_000 + b"]", LIST, 3, "the line cannot be read: "),
    ("w.json", b"[" + b'{"a":' * 100_000 + b"}" * 100_000 + b"]", LIST, 3, "the line cannot be read: "),
    ("w.json", json.dumps([BEN]).encode()[:-1], LIST, 1, "the array is not closed"),
    ("w.json", json.dumps([BEN]).encode()[:-2], LIST, 1, "the array is not closed"),
    ("w.json", b"[}]", LIST, 3, "the line cannot be read: JSON is malformed"),
    ("w.json", b"[1 2]", LIST, 3, "the line cannot be read: "),
    ("w.json", b"[,]", LIST, 3, "the line cannot be read: Input data was truncated"),
    ("w.json", json.dumps([BEN]).encode() + b"x", LIST, 1, "the array ends before the file does"),
    ("w.json", b'["\\ud800"]', LIST, 3, "the line cannot be read: "),
    ("w.json", b"[" + b"9" * 10_000 + b"]", LIST, 3, "the line cannot be read: "),
    ("w.json", b'["\xff"]', LIST, 3, "the line cannot be read: 'utf-8' codec can't decode"),
    ("w.json.gz", gzip.compress(json.dumps([BEN]).encode(), mtime=0)[:-9], LIST, 1, "before the end"),
    ("w.json.gz", b"[]", LIST, 1, "Not a gzipped file"),
)


def _large() -> Iterator[Hostile]:
    """Yield those of megabytes, which every worker would make and keep as it loads this module."""
    spaces = b"[" + b" " * MAX_ARRAY_BYTES + b"]"
    yield ("w.json", b'{"a": ' + spaces + b"}", LIST, 3, "the line is longer than")
    yield ("w.txt", b"x" * 3_000_000, LIST, 3, "the line is longer than 1048576 bytes")
    yield ("w.json", b"[" * 1_000_000, LIST, 1, "the array is not closed")
    yield ("w.json", b'["' + b'\\"' * 5_000_000 + b'"]', LIST, 3, "the line is longer than 1048576 bytes")
    yield ("w.json", spaces, LIST, 1, "an array of JSON has at most 32 MiB")
    yield ("w.json.gz", gzip.compress(spaces, compresslevel=1, mtime=0), LIST, 1, "most 32 MiB")


def test_a_hostile_list_has_a_clear_fault(database_url: str, connection: Connection, tmp_path: Path) -> None:
    for name, content, options, status, message in (*HOSTILE, *_large()):
        (tmp_path / name).write_bytes(content)
        outcome = run_file(database_url, "import", "wallets", tmp_path / name, *options)
        assert (outcome.status, "Traceback" in outcome.text) == (status, False), outcome.text
        assert message in (outcome.text if status == 1 else outcome.reasons[1])
        assert addresses(connection) == []


def test_only_wallets_are_a_list_and_nothing_is_nothing(database_url: str, tmp_path: Path) -> None:
    (tmp_path / "trades.txt").write_text("x\n")
    refused = run_file(database_url, "import", "trades", tmp_path / "trades.txt")
    assert (refused.status, refused.rejects) == (1, None)
    assert "only wallets can be a list of addresses alone" in refused.text
    for name in ("empty.json", "empty.txt", "blank.json"):
        (tmp_path / name).write_text("" if name.startswith("empty") else "[]")
        assert changed(run_file(database_url, "import", "wallets", tmp_path / name, *LIST)) == (0, 0)
