"""The formats of files, and that an invalid line affects no other."""

import gzip
import json
import tracemalloc
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import msgspec
import pytest
from msgspec import UNSET

from tests.ledger.command import trade
from tests.ledger.files import COLUMNS, HEADER, csv_line, ndjson, read
from tests.ledger.mints import mint_of
from wallet_api.ledger.fields import BadRow
from wallet_api.ledger.lines import MAX_LINE_BYTES
from wallet_api.ledger.readers import UnreadableFile, open_source
from wallet_api.ledger.rows import TradeRow


@pytest.mark.parametrize("ending", ["ndjson", "jsonl", "ndjson.gz", "jsonl.gz"])
def test_ndjson_is_read_plain_and_gzipped(tmp_path: Path, ending: str) -> None:
    content = ndjson(trade("a"), trade("b"))
    packed = gzip.compress(content) if ending.endswith(".gz") else content
    assert read(tmp_path / f"file.{ending}", packed) == (["a", "b"], [])


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_csv_is_read_plain_and_gzipped(tmp_path: Path, ending: str) -> None:
    content = HEADER + csv_line(signature="a") + csv_line(signature="b")
    packed = gzip.compress(content) if ending.endswith(".gz") else content
    assert read(tmp_path / f"file.{ending}", packed) == (["a", "b"], [])


def test_a_gzip_of_several_members_is_read_to_the_end(tmp_path: Path) -> None:
    content = gzip.compress(ndjson(trade("a"))) + gzip.compress(ndjson(trade("b")))
    assert read(tmp_path / "file.ndjson.gz", content) == (["a", "b"], [])


@pytest.mark.parametrize("name", ["file.txt", "file", "file.json", "csv", "file.gz"])
def test_another_ending_is_refused_with_those_that_are_understood(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnreadableFile, match=r"\.ndjson, \.jsonl, \.csv"):
        read(tmp_path / name, b"")


def test_byte_order_marks_blank_lines_and_carriage_returns_mean_nothing(tmp_path: Path) -> None:
    mark = b"\xef\xbb\xbf"
    lines = mark + b"\r\n \t\r\n".join(ndjson(trade(name)).rstrip() for name in "ab") + b"\r\n\r\n"
    assert read(tmp_path / "file.ndjson", lines) == (["a", "b"], [])
    table = (HEADER + b"\n" + csv_line(signature="a") + b"\n  \n" + csv_line(signature="b")).replace(
        b"\n", b"\r\n"
    )
    assert read(tmp_path / "file.csv", mark + table) == (["a", "b"], [])


def test_the_last_line_needs_no_end(tmp_path: Path) -> None:
    assert read(tmp_path / "file.ndjson", ndjson(trade("a")).rstrip()) == (["a"], [])
    assert read(tmp_path / "file.csv", (HEADER + csv_line(signature="a")).rstrip(b"\n")) == (["a"], [])


def test_bad_lines_of_ndjson_are_reported_by_number_and_affect_no_others(tmp_path: Path) -> None:
    content = ndjson(
        trade("good 1"),
        b"{",
        b"[]",
        b"null",
        b"{}",
        b'{"a": 1} {"b": 2}',
        b"\xff\xfe",
        json.dumps(trade("?")).encode().replace(b"?", b"\xff"),
        json.dumps(trade("?")).encode().replace(b"?", rb"\ud800"),
        json.dumps(trade("?")).encode().replace(b"?", rb"\udc00\ud800"),
        json.dumps(trade(value=0)).encode().replace(b": 0", b": NaN"),
        trade(blockchain="bitcoin"),
        trade(transaction_type="swap"),
        trade(value="a lot"),
        trade(value=True),
        trade(value=None),
        trade(created_at="yesterday"),
        trade(created_at="2026-01-30"),
        b"[" * 100_000,
        trade("good 2"),
    )
    good, bad = read(tmp_path / "file.ndjson", content)
    assert good == ["good 1", "good 2"]
    assert [number for number, _ in bad] == list(range(2, 20))


def test_bad_lines_of_csv_are_reported_by_number_and_affect_no_others(tmp_path: Path) -> None:
    content = HEADER + b"".join(
        [
            csv_line(signature="good 1"),
            b"solana,too few\n",
            csv_line(signature="?").replace(b"\n", b",one more\n"),
            csv_line(signature="?").replace(b"?", b"\xff"),
            csv_line(signature="?").replace(b"?", b'"quoted"then not'),
            csv_line(signature="x" * 200_000),
            csv_line(blockchain="bitcoin"),
            csv_line(value="a lot"),
            csv_line(signature="good 2"),
        ]
    )
    good, bad = read(tmp_path / "file.csv", content)
    assert good == ["good 1", "good 2"]
    assert [number for number, _ in bad] == list(range(3, 10))


def test_an_unclosed_quote_affects_only_its_line(tmp_path: Path) -> None:
    open_quote = csv_line(signature="?").replace(b"?", b'"?')
    goods = [csv_line(signature=f"good {n}") for n in range(3000)]
    content = HEADER + goods[0] + open_quote + b"".join(goods[1:])
    good, bad = read(tmp_path / "file.csv", content)
    assert good == [f"good {n}" for n in range(3000)]
    assert bad == [(3, "a quote is not closed")]


def test_rows_between_two_open_quotes_are_not_taken_for_a_text(tmp_path: Path) -> None:
    begins = csv_line(signature="begins").replace(b",,buy", b',"a,buy', 1)
    ends = b'b",buy,1,1,,2026-01-30T12:51:16Z,\n'
    good, bad = read(tmp_path / "file.csv", HEADER + begins + csv_line(signature="good") + ends)
    assert good == ["good"]
    assert [number for number, _ in bad] == [2, 4]


def test_a_quoted_text_may_hold_commas_quotes_and_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "file.csv"
    path.write_bytes(HEADER + csv_line(token_name='a "b",\nc\r\nd') + csv_line(signature="s2"))
    with open_source(str(path)) as source:
        records = list(source.records(TradeRow))
    assert [(number, found.token_name) for number, _, found in records if isinstance(found, TradeRow)] == [
        (2, 'a "b",\nc\r\nd'),
        (5, ""),
    ]


def test_an_empty_cell_of_csv_is_not_the_same_as_an_absent_column(tmp_path: Path) -> None:
    path = tmp_path / "file.csv"
    optional = ("token_name", "value_usd", "exchanged_value", "event_index")
    path.write_bytes(HEADER + csv_line())
    with open_source(str(path)) as source:
        ((_, _, empty),) = source.records(TradeRow)
    names = [name for name in COLUMNS if name not in optional]
    path.write_bytes(f"{','.join(names)}\n{','.join(trade()[name] for name in names)}\n".encode())
    with open_source(str(path)) as source:
        ((_, _, absent),) = source.records(TradeRow)
    assert [getattr(empty, name) for name in optional] == [""] * 4
    assert [getattr(absent, name) for name in optional] == [UNSET] * 4


def test_a_missing_member_of_ndjson_is_absent_and_null_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "file.ndjson"
    path.write_bytes(ndjson(trade(), trade(token_name=None, value_usd=None, event_index=None)))
    with open_source(str(path)) as source:
        found = [(r.token_name, r.value_usd, r.event_index) for _, _, r in source.records(TradeRow)]
    assert found == [(UNSET, UNSET, UNSET), (None, None, None)]


def test_columns_of_csv_come_in_any_order_and_unknown_ones_are_ignored(tmp_path: Path) -> None:
    fields = trade("a", note="not ours")
    names = sorted(fields)
    content = ",".join(names) + "\n" + ",".join(fields[name] for name in names) + "\n"
    assert read(tmp_path / "file.csv", content.encode()) == (["a"], [])


@pytest.mark.parametrize("content", [b"", b"\n\n", b"a,b\n1,2\n", b'"\n', b"\xff\n"])
def test_a_csv_without_its_header_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(UnreadableFile, match="the header"):
        read(tmp_path / "file.csv", content)


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


@pytest.mark.parametrize(
    "text", ["0.123456789012345678901234567891", "123456789012345678901234567890", "1.5e-7"]
)
@pytest.mark.parametrize("form", ["number", "string", "csv"])
def test_no_digit_of_an_amount_is_lost(tmp_path: Path, text: str, form: str) -> None:
    if form == "csv":
        path, content = tmp_path / "file.csv", HEADER + csv_line(value=text)
    else:
        quoted = f'"{text}"' if form == "string" else text
        path, content = tmp_path / "file.ndjson", ndjson(trade(value="?")).replace(b'"?"', quoted.encode())
    path.write_bytes(content)
    with open_source(str(path)) as source:
        ((_, _, found),) = source.records(TradeRow)
    assert isinstance(found, TradeRow)
    _, value, *_ = found.check(datetime.now(UTC))
    assert Decimal(value) == Decimal(text)


@pytest.mark.parametrize("ending", ["ndjson", "csv"])
def test_rows_of_another_type_are_read_the_same_way_and_their_extra_fields_ignored(
    tmp_path: Path, ending: str
) -> None:
    class Identity(msgspec.Struct):
        tx_signature: str
        mint: str

    path = tmp_path / f"file.{ending}"
    path.write_bytes(HEADER + csv_line(signature="a") if ending == "csv" else ndjson(trade("a")))
    with open_source(str(path)) as source:
        assert [found for _, _, found in source.records(Identity)] == [Identity("a", mint_of("mint"))]


def test_a_truncated_gzip_is_read_up_to_its_end_and_reported(tmp_path: Path) -> None:
    rows = [f"good {n}" for n in range(5000)]
    whole = gzip.compress(ndjson(*(trade(name) for name in rows)))
    good, bad = read(tmp_path / "file.ndjson.gz", whole[: len(whole) // 2])
    assert 1000 < len(good) < 5000
    assert good == rows[: len(good)]
    assert [number for number, _ in bad] == [len(good) + 1]
    assert "from here on the file cannot be read" in bad[0][1]


def test_a_gzip_with_a_wrong_checksum_is_reported(tmp_path: Path) -> None:
    whole = bytearray(gzip.compress(ndjson(trade("a"), trade("b"))))
    whole[-5] ^= 1
    good, bad = read(tmp_path / "file.ndjson.gz", bytes(whole))
    assert good[:1] == ["a"]
    assert len(bad) == 1


def test_a_file_that_is_no_gzip_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=r"file\.ndjson\.gz"):
        read(tmp_path / "file.ndjson.gz", ndjson(trade()))


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    for name in ("nothing.csv", "folder.csv"):
        with pytest.raises(UnreadableFile, match=name), open_source(str(tmp_path / name)):
            pass
