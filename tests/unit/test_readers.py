"""The formats of files, the reasons for which rows and headers are rejected, and the warnings."""

import csv
import gzip
import io
import json
import tracemalloc
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from tests.ledger.command import trade
from tests.ledger.mints import mint_of
from tests.ledger.rows import ndjson
from wallet_api.base.chains import CHAINS
from wallet_api.base.forms import BadRow
from wallet_api.ledger.files.lines import MAX_LINE_BYTES, Record
from wallet_api.ledger.files.readers import UnreadableFile, open_source
from wallet_api.ledger.files.rows import TradeRow

COLUMNS = (
    *("blockchain", "wallet_address", "tx_signature", "mint", "token_name", "transaction_type"),
    *("token_amount", "value", "value_usd", "exchanged_value", "created_at", "event_index"),
)
HEADER = ",".join(COLUMNS).encode() + b"\n"
OPTIONAL = ("token_name", "value_usd", "exchanged_value", "event_index")
CHAIN = f"must be {', '.join([*CHAINS][:-1])} or {[*CHAINS][-1]}"
AMOUNT = "must be a decimal number such as 1000, 0.25 or 1.5e-7"
TIME = "must be an ISO 8601 time such as 2026-01-30T12:51:16Z (or any offset or UTC in place of Z)"
INDEX = "must be a whole number from 0 to 2147483647"
BLOCK = f"must be a whole number from 0 to {2**63 - 1}"
DIGITS = "must be a number of at most 60 digits before and 36 after the point"


def csv_line(**fields: Any) -> bytes:
    """Return a line of CSV for HEADER."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow([trade(**fields).get(name, "") for name in COLUMNS])
    return text.getvalue().encode()


def read(path: Path, content: bytes) -> tuple[list[str], list[tuple[int, str]]]:
    """Return the signatures of the valid rows of a file, and the numbers and reasons of the others."""
    path.write_bytes(content)
    good, bad = [], []
    with open_source(str(path)) as source:
        for number, _, found in source.records(TradeRow):
            try:
                if isinstance(found, BadRow):
                    raise found
                found.check(datetime.now(UTC))
                good.append(found.tx_signature)
            except BadRow as fault:
                bad.append((number, str(fault)))
    return good, bad


def rows_of(path: Path, content: bytes) -> list[Any]:
    """Return the rows of a file and, in the place of bad ones, their faults."""
    return [row for _, _, row in records_of(path, content)]


def records_of(path: Path, content: bytes, warnings: list[str] | None = None) -> list[Record[TradeRow]]:
    """Return the records of a file, and collect its warnings."""
    path.write_bytes(content)
    with open_source(str(path)) as source:
        return list(source.records(TradeRow, None if warnings is None else warnings.append))


@pytest.mark.parametrize("ending", ["ndjson", "jsonl", "csv"])
def test_a_file_is_read_plain_and_gzipped_also_in_several_members(tmp_path: Path, ending: str) -> None:
    first, second = ndjson(trade("a")), ndjson(trade("b"))
    if ending == "csv":
        first, second = HEADER + csv_line(signature="a"), csv_line(signature="b")
    for name, content in (
        (f"file.{ending}", first + second),
        (f"file.{ending}", (first + second).rstrip(b"\n")),
        (f"file.{ending}", b"\xef\xbb\xbf\n" + (first + b" \t\n" + second).replace(b"\n", b"\r\n")),
        (f"file.{ending}.gz", gzip.compress(first + second)),
        (f"file.{ending}.gz", gzip.compress(first) + gzip.compress(second)),
    ):
        assert read(tmp_path / name, content) == (["a", "b"], [])


def test_a_file_that_is_no_gzip_or_of_another_kind_is_refused_by_name(tmp_path: Path) -> None:
    for name in ("file.tsv", "file", "csv", "file.gz", "plain.ndjson.gz"):
        with pytest.raises(
            UnreadableFile,
            match=name if name == "plain.ndjson.gz" else r"\.ndjson, \.jsonl, \.csv, \.json, \.txt",
        ):
            read(tmp_path / name, ndjson(trade()))


def test_a_damaged_gzip_is_read_as_far_as_possible_and_reported(tmp_path: Path) -> None:
    rows = [f"good-{n}" for n in range(5000)]
    whole = gzip.compress(ndjson(*(trade(name) for name in rows)))
    good, bad = read(tmp_path / "file.ndjson.gz", whole[: len(whole) // 2])
    assert 1000 < len(good) < 5000
    assert good == rows[: len(good)]
    assert [number for number, _ in bad] == [len(good) + 1]
    assert "from here on the file cannot be read" in bad[0][1]
    wrong_checksum = bytearray(gzip.compress(ndjson(trade("a"))))
    wrong_checksum[-5] ^= 1
    good, bad = read(tmp_path / "file.ndjson.gz", bytes(wrong_checksum))
    assert (good, len(bad)) == (["a"], 1)


@pytest.mark.parametrize("name", ["file.ndjson", "file.csv"])
def test_a_line_beyond_all_bounds_is_rejected_without_filling_the_memory(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    line = csv_line(signature="a") if name.endswith("csv") else ndjson(trade("a"))
    with path.open("wb") as file:
        file.write(HEADER if name.endswith("csv") else b"")
        file.write(line)
        for _ in range(64):
            file.write(b"x" * MAX_LINE_BYTES)
        file.write(b"\n" + line)
    tracemalloc.start()
    try:
        with open_source(str(path)) as source:
            kinds = [type(found) for _, _, found in source.records(TradeRow)]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kinds == [TradeRow, BadRow, TradeRow]
    assert peak < 8 * MAX_LINE_BYTES


def test_long_signatures_are_rejected_without_filling_the_memory(tmp_path: Path) -> None:
    content = b"".join(ndjson(trade(f"{number}" + "x" * (MAX_LINE_BYTES // 2))) for number in range(32))
    tracemalloc.start()
    try:
        good, bad = read(tmp_path / "file.ndjson", content)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (good, len(bad)) == ([], 32)
    assert kept < 8 * MAX_LINE_BYTES


def test_an_absent_field_is_unset_and_an_empty_one_is_empty(tmp_path: Path) -> None:
    given = [name for name in COLUMNS if name not in OPTIONAL]
    header, line = ",".join(given), ",".join(trade()[name] for name in given)
    for path, content, values in (
        (tmp_path / "file.csv", HEADER + csv_line(), [""] * 4),
        (tmp_path / "file.csv", f"{header}\n{line}\n".encode(), [UNSET] * 4),
        (tmp_path / "file.ndjson", ndjson(trade()), [UNSET] * 4),
        (tmp_path / "file.ndjson", ndjson(trade(**dict.fromkeys(OPTIONAL))), [None] * 4),
    ):
        (row,) = rows_of(path, content)
        assert [getattr(row, name) for name in OPTIONAL] == values


@pytest.mark.parametrize(
    "text",
    [
        *("0.123456789012345678901234567891", "123456789012345678901234567890", "1.5e-7", "0", "1", "0.25"),
        *(".5", "5.", "1E+3", "1.50e2", "00.10", "1e59", "1e-36"),
    ],
)
def test_no_digit_of_an_amount_is_lost(tmp_path: Path, text: str) -> None:
    contents = {"a.csv": HEADER + csv_line(value=text), "a.ndjson": ndjson(trade(value=text))}
    if text[0] != "." and text[-1] != "." and text[:2] != "00":
        contents["number.ndjson"] = ndjson(trade(value="?")).replace(b'"?"', text.encode())
    for name, content in contents.items():
        (row,) = rows_of(tmp_path / name, content)
        assert Decimal(row.check(datetime.now(UTC))[1]) == Decimal(text)


def test_a_quoted_value_of_csv_may_contain_commas_quotes_and_line_ends(tmp_path: Path) -> None:
    content = HEADER + csv_line(token_name='a "b",\n\nc\r\nd') + csv_line(token_name="null")
    records = records_of(tmp_path / "file.csv", content)
    assert [(number, row.token_name) for number, _, row in records if isinstance(row, TradeRow)] == [
        (2, 'a "b",\n\nc\r\nd'),
        (6, "null"),
    ]


def test_an_open_quote_affects_only_its_line(tmp_path: Path) -> None:
    goods = [csv_line(signature=f"good-{n}") for n in range(3000)]
    opens = csv_line(signature="?").replace(b"?", b'"?')
    content = HEADER + goods[0] + opens + b"".join(goods[1:]) + opens
    good, bad = read(tmp_path / "file.csv", content)
    assert good == [f"good-{n}" for n in range(3000)]
    assert bad == [(3, "a quote is not closed"), (3003, "a quote is not closed")]
    begins = csv_line().replace(b",,buy", b',"a,buy', 1)
    ends = b'b",buy,1,1,,2026-01-30T12:51:16+00:00,\n'
    good, bad = read(tmp_path / "file.csv", HEADER + begins + csv_line(signature="between") + ends)
    assert (good, [number for number, _ in bad]) == (["between"], [2, 4])


def _raw(text: bytes, **fields: Any) -> bytes:
    """Return a line of NDJSON with `text` in the place of "?"."""
    return json.dumps(trade(**fields)).encode().replace(b'"?"', text)


# What a row has, and the reason for which it is rejected. Fields are those of a trade that is else good.
NDJSON: list[tuple[dict[str, Any] | bytes, str]] = [
    ({"value": -1}, "value must be at least 0, not -1"),
    ({"value": -0.5}, 'value must be at least 0, not "-0.5"'),
    ({"value": None}, f"value is empty; it {AMOUNT}"),
    ({"value": True}, f"value {AMOUNT}, not true"),
    ({"value": []}, f"value {AMOUNT}, not an array"),
    ({"value": {}}, f"value {AMOUNT}, not an object"),
    (_raw(b"9" * 61, value="?"), f"value {DIGITS}, not {'9' * 40}…"),
    (_raw(b"9" * 5000, value="?"), f"value: Integer value out of range ({'9' * 40}…)"),
    ({"blockchain": 5}, f"blockchain {CHAIN}, not 5"),
    ({"tx_signature": 1.5}, "tx_signature: Expected `str`, got `float` (1.5)"),
    ({"tx_signature": None}, "tx_signature: Expected `str`, got `null` (null)"),
    ({"tx_signature": ["a"]}, 'tx_signature: Expected `str`, got `array` (["a"])'),
    ({"token_name": 5}, "token_name: Expected `str | null`, got `int` (5)"),
    ({"created_at": 1769777476}, f"created_at {TIME}, not 1769777476"),
    ({"created_at": None}, f"created_at {TIME}, not null"),
    ({"event_index": -1}, f"event_index {INDEX}, not -1"),
    ({"event_index": 1.5}, f'event_index {INDEX}, not "1.5"'),
    ({"event_index": False}, f"event_index {INDEX}, not false"),
    ({"block": -1}, f"block {BLOCK}, not -1"),
    ({"block": "9.5"}, f'block {BLOCK}, not "9.5"'),
    ({"block": True}, f"block {BLOCK}, not true"),
    ({"block": 1, "block_index": 2**31}, f"block_index {INDEX}"),
    *(
        (placed, "block_index is the place in a block, and block is missing")
        for placed in ({"block_index": 4}, {"block": "", "block_index": "4"})
    ),
    ({"tx_signature": "nul\0"}, 'tx_signature contains a NUL character: "nul\\u0000"'),
    ({"token_name": "nul\0"}, 'token_name contains a NUL character: "nul\\u0000"'),
    (b'{"txSignature": "s"}', "Object missing required field `blockchain`"),
    (b"[1, 2]", "the line cannot be read: Expected `object`, got `array`"),
    (b"null", "the line cannot be read: Expected `object`, got `null`"),
    (b'{"blockchain": "solana"', "the line cannot be read: Input data was truncated"),
    (b'{"blockchain": "polygon"', "the line cannot be read: Input data was truncated"),
    (b'{"a": 1} {"b": 2}', "the line cannot be read: JSON is malformed"),
    (b"{'blockchain': 1}", "the line cannot be read: JSON is malformed"),
    (_raw(b"NaN", value="?"), "the line cannot be read: JSON is malformed"),
    (_raw(b"[" * 100_000, value="?"), "the line cannot be read: maximum recursion depth"),
    (b"[" * 100_000, "the line cannot be read: "),
    (_raw(b'"\xff"', tx_signature="?"), "the line cannot be read: 'utf-8' codec can't decode byte 0xff"),
    (_raw(rb'"\ud800"', tx_signature="?"), "the line cannot be read: JSON is malformed"),
]
BOTH: list[tuple[dict[str, Any] | bytes, str]] = [
    ({"blockchain": "doge"}, f'blockchain {CHAIN}, not "doge"'),
    ({"transaction_type": "swap"}, 'transaction_type must be buy or sell, not "swap"'),
    ({"mint": "x" * 50}, f'mint must be an address of solana (base58 of 32 bytes), not "{"x" * 39}…'),
    ({"mint": mint_of("x") * 99}, "mint must be an address of solana"),
    ({"value": "-0.000000001"}, 'value must be at least 0, not "-0.000000001"'),
    ({"value_usd": "-1"}, 'value_usd must be at least 0, not "-1"'),
    ({"token_amount": "0.00"}, 'token_amount must be above 0, not "0.00"'),
    ({"token_amount": "0e5"}, 'token_amount must be above 0, not "0e5"'),
    ({"exchanged_value": "-1"}, 'exchanged_value must be at least 0, not "-1"'),
    *(({"token_amount": text}, f"token_amount is empty; it {AMOUNT}") for text in ("", "NULL")),
    *(({"value": text}, f'value {DIGITS}, not "{text}"') for text in ("1e-37", "1e60", "1e-999999999")),
    ({"tx_signature": ""}, "tx_signature is empty"),
    ({"tx_signature": "x" * 257}, f'tx_signature is longer than 256 characters: "{"x" * 39}…'),
    ({"token_name": "x" * 2049}, f'token_name is longer than 2048 characters: "{"x" * 39}…'),
    *(
        ({"created_at": text}, f'created_at {TIME}, not "{text}"')
        for text in ("yesterday", "2026-01-30", "11/26/2026 14:25:10")
    ),
    ({"created_at": "0001-01-01T00:00:00+23:00"}, "created_at "),
    ({"created_at": "9999-12-31T23:59:59-23:00"}, "created_at "),
    ({"created_at": "2009-01-02T23:59:59Z"}, "created_at is before 2009-01-03, when there was no blockchain"),
    (
        {"created_at": (datetime.now(UTC) + timedelta(hours=1)).isoformat()},
        "created_at is more than 5 minutes ahead of now: ",
    ),
    ({"event_index": 2**31}, f"event_index {INDEX}, not "),
    *(({"event_index": text}, f'event_index {INDEX}, not "{text}"') for text in ("1_0", "٣", "1.5", "1.0.0")),
    *(
        ({field: text}, f"{field} {AMOUNT}, not {json.dumps(text, ensure_ascii=False)}")
        for field in ("token_amount", "value", "value_usd", "exchanged_value")
        for text in (
            *("1_000", "\u0663", "+1", "Infinity", "-Infinity", "sNaN", "1e99999999999", "1 0", "1\u00a00"),
            *("1,000", "0x10", "1e", "e5", ".", "1.2.3", "1e5.0", "--1", "a lot", "\uff11", "½"),
        )
    ),
]
CSV: list[tuple[dict[str, Any] | bytes, str]] = [
    ({"blockchain": ""}, f"blockchain is empty; it {CHAIN}"),
    ({"created_at": ""}, f"created_at is empty; it {TIME}"),
    ({"token_name": "x" * 200_000}, "the line cannot be read: field larger than field limit"),
    (b"solana,too few", "the line has 2 values for 12 columns; a value that contains a comma must be in"),
    (csv_line().rstrip() + b",one more", "the line has 13 values for 12 columns; "),
    (csv_line().rstrip().replace(b",s,", b',"a"b,'), "the line cannot be read: ',' expected"),
    (
        csv_line().rstrip().replace(b",s,", b",\xff,"),
        "the line cannot be read: 'utf-8' codec can't decode byte 0xff",
    ),
]


@pytest.mark.parametrize(
    ("name", "table"),
    [("file.ndjson", NDJSON + BOTH), ("file.csv", CSV + BOTH)],
)
def test_a_bad_row_has_its_line_number_and_a_reason_and_affects_no_other(
    tmp_path: Path, name: str, table: list[tuple[dict[str, Any] | bytes, str]]
) -> None:
    def line(row: dict[str, Any] | bytes) -> bytes:
        if isinstance(row, bytes):
            return row + b"\n"
        return ndjson(trade() | row) if name == "file.ndjson" else _csv_of(trade() | row)

    content = b"".join(line(row) + line(trade("good")) for row, _ in table)
    good, bad = read(tmp_path / name, content if name == "file.ndjson" else HEADER + content)
    assert good == ["good"] * len(table)
    first = 1 if name == "file.ndjson" else 2
    assert [number for number, _ in bad] == [first + 2 * place for place in range(len(table))]
    for (_, expected), (_, reason) in zip(table, bad, strict=True):
        assert reason.startswith(expected)
        assert len(reason) < 170


def _csv_of(row: dict[str, Any]) -> bytes:
    return csv_line(**{"signature" if name == "tx_signature" else name: row[name] for name in row})


@pytest.mark.parametrize(
    ("header", "fault"),
    [
        (b"", "lacks blockchain, wallet_address, "),
        (
            ",".join(COLUMNS).replace("mint", "Mint").encode(),
            "lacks mint; --column NAME=OTHER names a column that is otherwise called; it is .blockchain,",
        ),
        (
            ";".join(COLUMNS).encode(),
            "lacks blockchain, .*; columns are separated by commas, or --delimiter names",
        ),
        (",".join(("mint", "value_usd", *COLUMNS)).encode(), "repeats mint, value_usd; it is .mint,"),
        (b'"', "cannot be read: "),
        (b"\xff", "cannot be read: "),
    ],
)
def test_a_csv_without_its_header_is_refused(tmp_path: Path, header: bytes, fault: str) -> None:
    with pytest.raises(UnreadableFile, match=f"the header {fault}") as caught:
        read(tmp_path / "file.csv", b"\n" + header + b"\n")
    # The whole header is shown, and once what it lacks.
    assert "cannot" in fault or f'"{header.decode()}"' in str(caught.value)
    assert str(caught.value).count("lacks") <= 1


def test_columns_come_in_any_order_and_unknown_ones_are_warned_of_once(tmp_path: Path) -> None:
    def warnings(name: str, content: bytes) -> list[str]:
        found: list[str] = []
        assert {type(row) for _, _, row in records_of(tmp_path / name, content, found)} == {TradeRow}
        return found

    fields = dict(sorted(trade(token_nme="x", **{"Value USD": "1"}).items()))
    content = f"{','.join(fields)}\n" + f"{','.join(fields.values())}\n" * 3
    assert warnings("file.csv", content.encode()) == [
        'the column "Value USD" is unknown and ignored',
        'the column "token_nme" is unknown and ignored',
    ]
    assert len(warnings("file.ndjson", ndjson(*(trade(**{f"{n} a": 1}) for n in range(90))))) == 20
