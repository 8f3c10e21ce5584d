"""`wallet-api import` and `remove` of files as people and tools write them, and of hashes in any spelling."""

import gzip
import json
import os
import signal
import stat
import subprocess
import time
from pathlib import Path
from typing import Any

import base58
import pytest

from tests.ledger.command import WALLETS, Outcome, changed, run_file, trade
from tests.ledger.mints import evm_mint_of
from tests.ledger.rows import BEN, EVM, Row, written
from tests.lib.backups import at, done
from tests.lib.processes import wallet_api
from tests.lib.waiting import calm_seconds, eventually
from wallet_api.database import Connection
from wallet_api.settings import Settings

HASH = "0x" + "ab12CD34" * 8
SPELLINGS = (HASH, HASH[2:], HASH.replace("0x", "\\x"), f" {HASH.upper().replace('0X', '0x')} ", HASH.lower())
SOLANA = base58.b58encode(bytes(range(1, 65))).decode()
# The command has its staging tables, and begins to read.
_STAGED = """
SELECT FROM pg_class WHERE relname = 'incoming' AND relpersistence = 't'
"""


def evm_trade(signature: str = HASH, **fields: Any) -> Row:
    """Return a trade of the wallet on Ethereum."""
    own = {"blockchain": "eth", "wallet_address": EVM, "mint": evm_mint_of("1"), "tx_signature": signature}
    return trade(**own, **fields)


@pytest.mark.usefixtures("tracked")
def test_one_trade_in_several_spellings_of_its_hash_is_one(
    database_url: str, connection: Connection, tmp_path: Path
) -> None:
    path = tmp_path / "trades.ndjson"
    for number, spelling in enumerate(SPELLINGS):
        outcome = run_file(database_url, "import", "trades", written(path, evm_trade(spelling)))
        assert changed(outcome) == (1, int(number == 0))
        assert "warnings" not in outcome.summary
    stored = connection.execute("SELECT tx_signature FROM trades").fetchall()
    assert [row["tx_signature"] for row in stored] == [HASH.lower()]
    exported = tmp_path / "out.ndjson"
    done("export", "trades", exported, settings=at(database_url))
    assert json.loads(exported.read_text())["tx_signature"] == HASH.lower()
    removed = run_file(database_url, "remove", "trades", written(path, evm_trade(SPELLINGS[1])), "--yes")
    assert removed.summary["removed"] == 1


@pytest.mark.usefixtures("tracked")
def test_what_only_looks_like_a_hash_is_rejected_and_an_id_of_its_own_is_warned_of_once(
    database_url: str, connection: Connection, tmp_path: Path
) -> None:
    bad = (
        *(HASH[:-1], f"{HASH}0", f"{HASH}{HASH}", f"{HASH} {HASH}", f"https://basescan.org/tx/{HASH}"),
        *("0xab12…34cd", "5Uf1x...", f"{HASH[:20]} {HASH[20:]}", "-", "null", "#N/A", "0x", "0x" + "0" * 64),
        *(SOLANA.lower(), SOLANA[:-1] + "0", SOLANA + SOLANA, f"{HASH}\u200b"),
    )
    good = (SOLANA, f" {SOLANA}\t", "order-17", f"{HASH}-3", "fill:2", "a b")
    path = written(tmp_path / "t.ndjson", *(trade(tx_signature=text) for text in (*bad, *good)))
    outcome = run_file(database_url, "import", "trades", path)
    assert sorted(outcome.reasons) == list(range(1, len(bad) + 1))
    assert all(
        reason.startswith("tx_signature must be the hash of a transaction (0x and 64 hexadecimal digits, or ")
        for reason in outcome.reasons.values()
    )
    stored = connection.execute("SELECT tx_signature FROM trades ORDER BY 1").fetchall()
    assert [row["tx_signature"] for row in stored] == sorted({text.strip() for text in good})
    (warning,) = outcome.summary["warnings"]
    assert warning.startswith("the tx_signature of 4 rows is no hash of a transaction: it is kept as an id")


WRITTEN: list[Row] = [
    {"transaction_type": "BUY", "blockchain": "Solana"},
    {"transaction_type": " Sell ", "token_amount": " 0.5 "},
    {"event_index": "1.0", "value": "1\u00a0"},
    {"event_index": "2.0", "value_usd": "NULL", "exchanged_value": "nan"},
    {"event_index": "NaN", "value": "None", "value_usd": "200", "tx_signature": f"{SOLANA[:-1]}z"},
    {"event_index": " 4 ", "wallet_address": f" {BEN} ", "mint": f"{trade()['mint']} "},
    {"event_index": "5", "created_at": "2026-01-30 12:51 UTC", "token_name": " a name "},
    {"event_index": "6", "blockchain": "Ethereum", "wallet_address": f" {EVM}", "mint": evm_mint_of("1")},
]


@pytest.mark.usefixtures("tracked")
@pytest.mark.parametrize("name", ["trades.ndjson", "Trades.Csv.GZ", "trades.JSON"])
def test_cells_are_read_as_they_are_written(
    database_url: str, connection: Connection, tmp_path: Path, name: str
) -> None:
    price = {"currency": "sol", "usd": "200.0", "priced_at": "2026-01-30 12:51Z"}
    assert changed(run_file(database_url, "import", "prices", written(tmp_path / "p.NDJSON", price))) == (
        1,
        1,
    )
    outcome = run_file(database_url, "import", "trades", _file(tmp_path / name, WRITTEN))
    assert (outcome.status, outcome.summary["landed"]) == (0, len(WRITTEN)), outcome.reasons
    rows = connection.execute(
        "SELECT event_index, is_sell, token_amount::float AS amount, value::float, usd_derived,"
        " exchanged_value, token_name FROM trades ORDER BY event_index, is_sell"
    ).fetchall()
    assert [row["event_index"] for row in rows] == [0, 0, 0, 1, 2, 4, 5, 6]
    assert [row["amount"] for row in rows if row["is_sell"]] == [0.5]
    assert {row["value"] for row in rows} == {1.0}
    assert [row["usd_derived"] for row in rows if row["event_index"] == 2] == [True]
    assert {row["exchanged_value"] for row in rows} == {None}
    assert {row["token_name"] for row in rows} == {None, "a name"}
    # What is not there leaves what is stored.
    stated = trade(SOLANA, event_index="9", value_usd="7", exchanged_value="0.5")
    path = tmp_path / "t.ndjson"
    assert changed(run_file(database_url, "import", "trades", written(path, stated))) == (1, 1)
    again = stated | {"value_usd": "null", "exchanged_value": "None"}
    assert changed(run_file(database_url, "import", "trades", written(path, again))) == (1, 0)


def _file(path: Path, rows: list[Row]) -> Path:
    full = [trade(SOLANA, event_index="0") | row for row in rows]
    names = list(dict.fromkeys(name for row in full for name in row))
    if "csv" in path.name.lower():
        lines = ["sep=;", "; ".join(names)]
        lines += ["; ".join(str(row.get(name, "")) for name in names) for row in full]
        content = "".join(f"{line}\r\n" for line in lines).encode()
        path.write_bytes(gzip.compress(content) if path.name.endswith("GZ") else content)
    elif path.suffix == ".JSON":
        path.write_text(json.dumps(full))
    else:
        written(path, *full)
    return path


@pytest.mark.usefixtures("tracked")
@pytest.mark.parametrize("options", [(), ("--blockchain", "solana")])
def test_a_member_that_is_there_twice_and_a_time_with_a_nul_are_rejected(
    database_url: str, connection: Connection, tmp_path: Path, options: tuple[str, ...]
) -> None:
    line = json.dumps(trade(SOLANA, note='a "b": c', **{"x ": {"value": 1, "of": {"value": 2}}})).encode()
    twice = [
        line[:-1] + b', "value": "2"}',
        line[:-1] + b',"value" :"2"}',
        line[:-1] + rb', "\u0076alue": "2"}',
        line[:-1] + b', "note": 1}',
    ]
    nul = json.dumps(trade(SOLANA, created_at="2026-01-30T12:51:16\0+01:00")).encode()
    path = written(tmp_path / "t.ndjson", *twice, nul, line)
    outcome = run_file(database_url, "import", "trades", path, *options)
    assert outcome.status == 3, outcome.text
    assert outcome.reasons == {
        **dict.fromkeys((1, 2, 3), 'the member "value" is there twice'),
        4: 'the member "note" is there twice',
        5: 'created_at contains a NUL character: "2026-01-30T12:51:16\\u0000+01:00"',
    }
    assert connection.fetch_value("SELECT value::text FROM trades") == "1"
    csv = tmp_path / "t.csv"
    rows = {"priced_at": "2026-01-30T12:51:16\0Z", "currency": "SOL", "usd": "1"}
    csv.write_text(f"{','.join(rows)}\n{','.join(rows.values())}\n")
    outcome = run_file(database_url, "import", "prices", csv)
    assert outcome.reasons[2].startswith("priced_at contains a NUL character")


def test_links_that_are_not_https_are_left_empty_with_a_warning_a_field(
    database_url: str, connection: Connection, tmp_path: Path
) -> None:
    links = {
        "image_url": "data:image/svg+xml,x",
        "twitter": "javascript:alert(1)",
        "telegram": "http://t.me/x",
    }
    rows = [
        WALLETS[0] | links,
        WALLETS[1] | {"twitter": "@x", "telegram": " HTTPS://t.me/x", "image_url": ""},
    ]
    outcome = run_file(database_url, "import", "wallets", written(tmp_path / "w.ndjson", *rows))
    assert outcome.status == 0
    assert outcome.summary["warnings"] == [
        f"the {name} of {count} rows does not begin with https:// and is left empty"
        for name, count in (("image_url", 1), ("twitter", 2), ("telegram", 1))
    ]
    stored = connection.execute(
        "SELECT image_url, twitter, telegram FROM wallets ORDER BY address"
    ).fetchall()
    assert {(row["image_url"], row["twitter"], row["telegram"]) for row in stored} == {
        ("", "", ""),
        ("", "", "HTTPS://t.me/x"),
    }


@pytest.fixture(scope="module")
def empty_lines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small file of 300,000,000 lines without a row."""
    path = tmp_path_factory.mktemp("lines") / "file.ndjson.gz"
    path.write_bytes(gzip.compress(b"\n" * 300_000_000, compresslevel=1))
    return path


@pytest.mark.parametrize(
    ("command", "kind", "source", "number"),
    [
        ("import", "trades", "empty lines", signal.SIGTERM),
        ("import", "wallets", "endless", signal.SIGINT),
        ("remove", "trades", "silent pipe", signal.SIGINT),
        ("remove", "wallets", "standard input", signal.SIGTERM),
    ],
)
def test_an_import_and_a_removal_end_at_once_while_they_read_what_never_ends(
    database_url: str,
    connection: Connection,
    tmp_path: Path,
    empty_lines: Path,
    command: str,
    kind: str,
    source: str,
    number: signal.Signals,
) -> None:
    path = tmp_path / "file.ndjson"
    holds = None
    if source == "empty lines":
        path = empty_lines
    elif source == "endless":
        path.symlink_to("/dev/zero")
    elif source == "silent pipe":
        os.mkfifo(path)
        holds = os.open(path, os.O_RDWR)
    name = "-" if source == "standard input" else str(path)
    settings = Settings(database_url=database_url, wallet_api_home=str(tmp_path / "home"))
    options = {"stdin": subprocess.PIPE} if name == "-" else {}
    consent = ["--yes"] if command == "remove" else []
    arguments = [command, kind, name, *consent]
    with wallet_api(*arguments, settings=settings, cwd=tmp_path, **options) as process:
        assert eventually(lambda: connection.execute(_STAGED).rowcount > 0)
        time.sleep(0.5)
        started = calm_seconds()
        process.send_signal(number)
        assert process.wait() == 128 + number
        assert calm_seconds() - started < 2
    if holds is not None:
        os.close(holds)


def test_rejected_rows_go_into_a_new_private_file_and_through_no_link(
    database_url: str, tmp_path: Path
) -> None:
    target = tmp_path / "target.txt"
    target.write_text("precious")
    path = written(tmp_path / "w.ndjson", WALLETS[0], b"secret")
    rejects = tmp_path / "w.ndjson.rejects.ndjson"
    rejects.symlink_to(target)
    outcome: Outcome = run_file(database_url, "import", "wallets", path)
    assert outcome.status == 3
    assert target.read_text() == "precious"
    assert not rejects.is_symlink()
    assert stat.S_IMODE(rejects.stat().st_mode) == 0o600
    assert sorted(file.name for file in tmp_path.iterdir()) == ["target.txt", path.name, rejects.name]
    rejects.unlink()
    rejects.symlink_to(target)
    assert run_file(database_url, "import", "wallets", written(path, WALLETS[0])).status == 0
    assert (target.read_text(), rejects.is_symlink()) == ("precious", False)
