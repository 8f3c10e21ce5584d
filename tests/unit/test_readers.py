"""Files as rows: what each form of file may look like, and that a bad line never costs a good one."""

import csv
import gzip
import io
import json
import re
import tracemalloc
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from wallet_api.ledger.fields import BadRow
from wallet_api.ledger.lines import MAX_LINE_BYTES
from wallet_api.ledger.readers import UnreadableFile, open_source
from wallet_api.ledger.rows import PriceRow, TradeRow

COLUMNS = (
    *("blockchain", "wallet_address", "tx_signature", "mint", "token_name", "transaction_type"),
    *("token_amount", "value", "value_usd", "created_at", "event_index"),
)
HEADER = ",".join(COLUMNS).encode() + b"\n"


def row(signature: str = "s1", **fields: Any) -> dict[str, Any]:
    """A trade in which nothing is wrong."""
    return {
        "blockchain": "solana",
        "wallet_address": "So11111111111111111111111111111111111111112",
        "tx_signature": signature,
        "mint": "mint",
        "transaction_type": "buy",
        "token_amount": "1",
        "value": "1",
        "created_at": "2026-01-30T12:51:16Z",
        **fields,
    }


def ndjson(*rows: dict[str, Any] | bytes) -> bytes:
    """Lines of NDJSON; bytes stand for themselves."""
    return b"".join((r if isinstance(r, bytes) else json.dumps(r).encode()) + b"\n" for r in rows)


def csv_line(**fields: Any) -> bytes:
    """A line of CSV under HEADER."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow([row(**fields).get(name, "") for name in COLUMNS])
    return text.getvalue().encode()


def read(path: Path, content: bytes) -> tuple[list[str], list[tuple[int, str]]]:
    """The signatures of the good rows of a file, and its bad lines with what is wrong with them."""
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


def reason(path: Path, content: bytes) -> str:
    """What is wrong with the only row of a file."""
    _, ((_, text),) = read(path, content)
    return text


def warnings(path: Path, content: bytes) -> list[str]:
    """What is warned of while a file is read to its end."""
    path.write_bytes(content)
    texts: list[str] = []
    with open_source(str(path)) as source:
        for _ in source.records(TradeRow, texts.append):
            pass
    return texts


@pytest.mark.parametrize("ending", ["ndjson", "jsonl", "ndjson.gz", "jsonl.gz"])
def test_ndjson_is_read_plain_and_gzipped(tmp_path: Path, ending: str) -> None:
    content = ndjson(row("a"), row("b"))
    packed = gzip.compress(content) if ending.endswith(".gz") else content
    assert read(tmp_path / f"file.{ending}", packed) == (["a", "b"], [])


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_csv_is_read_plain_and_gzipped(tmp_path: Path, ending: str) -> None:
    content = HEADER + csv_line(signature="a") + csv_line(signature="b")
    packed = gzip.compress(content) if ending.endswith(".gz") else content
    assert read(tmp_path / f"file.{ending}", packed) == (["a", "b"], [])


def test_a_gzip_of_several_members_is_read_to_the_end(tmp_path: Path) -> None:
    content = gzip.compress(ndjson(row("a"))) + gzip.compress(ndjson(row("b")))
    assert read(tmp_path / "file.ndjson.gz", content) == (["a", "b"], [])


@pytest.mark.parametrize("name", ["file.txt", "file", "file.json", "csv", "file.gz"])
def test_another_ending_is_refused_with_those_that_are_understood(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnreadableFile, match=r"\.ndjson, \.jsonl, \.csv"):
        read(tmp_path / name, b"")


def test_byte_order_marks_blank_lines_and_carriage_returns_mean_nothing(tmp_path: Path) -> None:
    mark = b"\xef\xbb\xbf"
    lines = mark + b"\r\n \t\r\n".join(ndjson(row(name)).rstrip() for name in "ab") + b"\r\n\r\n"
    assert read(tmp_path / "file.ndjson", lines) == (["a", "b"], [])
    table = (HEADER + b"\n" + csv_line(signature="a") + b"\n  \n" + csv_line(signature="b")).replace(
        b"\n", b"\r\n"
    )
    assert read(tmp_path / "file.csv", mark + table) == (["a", "b"], [])


def test_the_last_line_needs_no_end(tmp_path: Path) -> None:
    assert read(tmp_path / "file.ndjson", ndjson(row("a")).rstrip()) == (["a"], [])
    assert read(tmp_path / "file.csv", (HEADER + csv_line(signature="a")).rstrip(b"\n")) == (["a"], [])


def test_bad_lines_of_ndjson_are_told_by_number_and_cost_only_themselves(tmp_path: Path) -> None:
    content = ndjson(
        row("good 1"),
        b"{",
        b"[]",
        b"null",
        b"{}",
        b'{"a": 1} {"b": 2}',
        b"\xff\xfe",
        json.dumps(row("?")).encode().replace(b"?", b"\xff"),
        json.dumps(row("?")).encode().replace(b"?", rb"\ud800"),
        json.dumps(row("?")).encode().replace(b"?", rb"\udc00\ud800"),
        json.dumps(row(value=0)).encode().replace(b": 0", b": NaN"),
        row(blockchain="bitcoin"),
        row(transaction_type="swap"),
        row(value="a lot"),
        row(value=True),
        row(value=None),
        row(created_at="yesterday"),
        row(created_at="2026-01-30"),
        b"[" * 100_000,
        row("good 2"),
    )
    good, bad = read(tmp_path / "file.ndjson", content)
    assert good == ["good 1", "good 2"]
    assert [number for number, _ in bad] == list(range(2, 20))


def test_bad_lines_of_csv_are_told_by_number_and_cost_only_themselves(tmp_path: Path) -> None:
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


def test_a_quote_that_nobody_closes_costs_only_its_line(tmp_path: Path) -> None:
    open_quote = csv_line(signature="?").replace(b"?", b'"?')
    goods = [csv_line(signature=f"good {n}") for n in range(3000)]
    content = HEADER + goods[0] + open_quote + b"".join(goods[1:])
    good, bad = read(tmp_path / "file.csv", content)
    assert good == [f"good {n}" for n in range(3000)]
    assert bad == [(3, "a quote is not closed")]


def test_rows_between_two_open_quotes_are_not_taken_for_a_text(tmp_path: Path) -> None:
    begins = csv_line(signature="begins").replace(b",mint,,", b',mint,"a')
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
    optional = ("token_name", "value_usd", "event_index")
    path.write_bytes(HEADER + csv_line())
    with open_source(str(path)) as source:
        ((_, _, empty),) = source.records(TradeRow)
    names = [name for name in COLUMNS if name not in optional]
    path.write_bytes(f"{','.join(names)}\n{','.join(row()[name] for name in names)}\n".encode())
    with open_source(str(path)) as source:
        ((_, _, absent),) = source.records(TradeRow)
    assert [getattr(empty, name) for name in optional] == ["", "", ""]
    assert [getattr(absent, name) for name in optional] == [UNSET, UNSET, UNSET]


def test_a_missing_member_of_ndjson_is_absent_and_null_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "file.ndjson"
    path.write_bytes(ndjson(row(), row(token_name=None, value_usd=None, event_index=None)))
    with open_source(str(path)) as source:
        found = [(r.token_name, r.value_usd, r.event_index) for _, _, r in source.records(TradeRow)]
    assert found == [(UNSET, UNSET, UNSET), (None, None, None)]


def test_columns_of_csv_come_in_any_order_and_unknown_ones_are_ignored(tmp_path: Path) -> None:
    fields = row("a", note="not ours")
    names = sorted(fields)
    content = ",".join(names) + "\n" + ",".join(fields[name] for name in names) + "\n"
    assert read(tmp_path / "file.csv", content.encode()) == (["a"], [])


@pytest.mark.parametrize("content", [b"", b"\n\n", b"a,b\n1,2\n", b'"\n', b"\xff\n"])
def test_a_csv_without_its_header_is_refused_whole(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(UnreadableFile, match="the header"):
        read(tmp_path / "file.csv", content)


@pytest.mark.parametrize("name", ["file.ndjson", "file.csv"])
def test_a_line_beyond_all_bounds_is_rejected_without_filling_the_memory(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    line = csv_line(signature="a") if name.endswith("csv") else ndjson(row("a"))
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
        path, content = tmp_path / "file.ndjson", ndjson(row(value="?")).replace(b'"?"', quoted.encode())
    path.write_bytes(content)
    with open_source(str(path)) as source:
        ((_, _, found),) = source.records(TradeRow)
    assert isinstance(found, TradeRow)
    _, value, _ = found.check(datetime.now(UTC))
    assert Decimal(value) == Decimal(text)


@pytest.mark.parametrize("text", ["0", "1", "1000", "0.25", ".5", "5.", "1e-7", "1E+3", "1.50e2", "00.10"])
@pytest.mark.parametrize("form", ["string", "csv"])
def test_an_amount_is_ascii_digits_with_an_optional_point_and_exponent(
    tmp_path: Path, text: str, form: str
) -> None:
    fields = {"value": text, "value_usd": text}
    path, content = (
        (tmp_path / "file.csv", HEADER + csv_line(**fields))
        if form == "csv"
        else (tmp_path / "file.ndjson", ndjson(row(**fields)))
    )
    assert read(path, content) == (["s1"], [])


NOT_AMOUNTS = [
    *("1_000", "\u0663", " 1", "1 ", "\t1", "1\n", "+1", "Infinity", "inf", "-Infinity", "NaN", "sNaN"),
    *("1,000", "0x10", "1e", "e5", ".", "1.2.3", "1e5.0", "--1", "a lot", "\uff11", "1\u00a0", "½"),
]


@pytest.mark.parametrize("text", NOT_AMOUNTS)
@pytest.mark.parametrize("field", ["token_amount", "value", "value_usd"])
@pytest.mark.parametrize("form", ["ndjson", "csv"])
def test_no_other_text_is_an_amount(tmp_path: Path, text: str, field: str, form: str) -> None:
    content = HEADER + csv_line(**{field: text}) if form == "csv" else ndjson(row(**{field: text}))
    assert reason(tmp_path / f"file.{form}", content) == (
        f"{field} must be a decimal number such as 1000, 0.25 or 1.5e-7,"
        f" not {json.dumps(text, ensure_ascii=False)}"
    )


@pytest.mark.parametrize("text", NOT_AMOUNTS)
def test_no_other_text_is_a_price(text: str) -> None:
    price = PriceRow("SOL", text, datetime(2026, 1, 30, tzinfo=UTC))
    with pytest.raises(BadRow, match="usd must be a decimal number"):
        price.check(datetime.now(UTC))


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"value": "-1"}, 'value must be at least 0, not "-1"'),
        ({"value": -1}, "value must be at least 0, not -1"),
        ({"value": -0.5}, 'value must be at least 0, not "-0.5"'),
        ({"token_amount": "0.00"}, 'token_amount must be above 0, not "0.00"'),
        ({"token_amount": "0e5"}, 'token_amount must be above 0, not "0e5"'),
        ({"token_amount": -1}, "token_amount must be above 0, not -1"),
        ({"value": ""}, "value is empty; it must be a decimal number such as 1000, 0.25 or 1.5e-7"),
        ({"value": None}, "value is empty; it must be a decimal number such as 1000, 0.25 or 1.5e-7"),
        ({"value": True}, "value must be a decimal number such as 1000, 0.25 or 1.5e-7, not true"),
        ({"value": []}, "value must be a decimal number such as 1000, 0.25 or 1.5e-7, not an array"),
        ({"value": {}}, "value must be a decimal number such as 1000, 0.25 or 1.5e-7, not an object"),
        (
            {"value": "1e99999999999999999999"},
            'value must have at most 60 digits before and 36 after the point, not "1e99999999999999999999"',
        ),
        ({"blockchain": "polygon"}, 'blockchain must be base, bnb, eth or solana, not "polygon"'),
        ({"blockchain": 5}, "blockchain must be base, bnb, eth or solana, not 5"),
        ({"blockchain": ""}, "blockchain is empty; it must be base, bnb, eth or solana"),
        ({"transaction_type": "swap"}, 'transaction_type must be buy or sell, not "swap"'),
        ({"tx_signature": 1.5}, "tx_signature must be a text in double quotes, not 1.5"),
        ({"tx_signature": None}, "tx_signature is empty; it must be a text in double quotes"),
        ({"tx_signature": ["a"]}, "tx_signature must be a text in double quotes, not an array"),
        ({"tx_signature": ""}, "tx_signature is empty"),
        ({"token_name": 5}, "token_name must be a text in double quotes, not 5"),
        (
            {"created_at": "yesterday"},
            'created_at must be an ISO 8601 time such as 2026-01-30T12:51:16Z, not "yesterday"',
        ),
        (
            {"created_at": 1769777476},
            "created_at must be an ISO 8601 time such as 2026-01-30T12:51:16Z, not 1769777476",
        ),
        (
            {"created_at": None},
            "created_at is empty; it must be an ISO 8601 time such as 2026-01-30T12:51:16Z",
        ),
        ({"event_index": -1}, "event_index must be a whole number from 0 to 2147483647, not -1"),
        ({"event_index": 2**31}, "event_index must be a whole number from 0 to 2147483647, not 2147483648"),
        ({"event_index": "1_0"}, 'event_index must be a whole number from 0 to 2147483647, not "1_0"'),
        ({"event_index": "٣"}, 'event_index must be a whole number from 0 to 2147483647, not "٣"'),
        ({"event_index": " 1"}, 'event_index must be a whole number from 0 to 2147483647, not " 1"'),
        ({"event_index": 1.5}, 'event_index must be a whole number from 0 to 2147483647, not "1.5"'),
        ({"event_index": False}, "event_index must be a whole number from 0 to 2147483647, not false"),
        ({"token_amount": "x" * 1000}, None),
        ({"mint": "x" * 1000}, None),
    ],
)
def test_a_reason_names_the_field_its_value_and_what_is_allowed(
    tmp_path: Path, fields: dict[str, Any], text: str | None
) -> None:
    found = reason(tmp_path / "file.ndjson", ndjson(row(**fields)))
    assert text is None or found == text
    assert found.startswith(next(iter(fields)))
    assert len(found) < 150


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b"{}", "the row lacks blockchain, wallet_address, tx_signature, mint, transaction_type,"),
        (
            b'{"blockchain": "solana"',
            "the line is not valid JSON; each line must be one JSON object with block",
        ),
        (b"{'blockchain': 1}", "the line is not valid JSON; each line"),
        (b"[", "the line is not valid JSON; each line"),
        (b"[1, 2]", "each line must be one JSON object with blockchain, wallet_address,"),
        (b"5", "each line must be one JSON object with blockchain, wallet_address,"),
        (b"null", "each line must be one JSON object with blockchain, wallet_address,"),
        (b'{"a": NaN}', "the line is not valid JSON: NaN is no JSON number"),
        (b"[" * 100_000, "the line is nested too deeply"),
        (
            json.dumps(row(value="?")).encode().replace(b'"?"', b"[" * 100_000),
            "the line is nested too deeply",
        ),
        (
            json.dumps(row("?")).encode().replace(b"?", b"\xff"),
            "the line is not UTF-8; save the file as UTF-8",
        ),
        (json.dumps(row("?")).encode().replace(b"?", rb"\ud800"), "the line is not valid JSON: an escape"),
    ],
)
def test_a_line_that_is_no_row_at_all_gets_a_reason(tmp_path: Path, line: bytes, text: str) -> None:
    assert reason(tmp_path / "file.ndjson", line + b"\n").startswith(text)


def test_a_number_of_any_length_gets_a_reason(tmp_path: Path) -> None:
    for digits in (61, 400, 5000, 100_000):
        line = ndjson(row(value="?")).replace(b'"?"', b"9" * digits)
        assert re.match(
            r"value must (be a shorter number|have at most 60 digits)", reason(tmp_path / "a.ndjson", line)
        )


def test_a_name_spelled_otherwise_is_shown_beside_the_missing_one(tmp_path: Path) -> None:
    line = {name: value for name, value in row(txSignature="s").items() if name != "tx_signature"}
    assert reason(tmp_path / "file.ndjson", ndjson(line)) == (
        'the row lacks tx_signature (found "txSignature")'
    )


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b"solana,too few\n", "the line has 2 values for 11 columns"),
        (
            csv_line().replace(b"\n", b",one more\n"),
            "the line has 12 values for 11 columns; a value that contains a comma must be in double quotes",
        ),
        (csv_line(blockchain="polygon"), 'blockchain must be base, bnb, eth or solana, not "polygon"'),
        (csv_line(blockchain=""), "blockchain is empty; it must be base, bnb, eth or solana"),
        (
            csv_line(created_at="2026-01-30"),
            'created_at must be an ISO 8601 time such as 2026-01-30T12:51:16Z, not "2026-01-30"',
        ),
        (
            csv_line(created_at=""),
            "created_at is empty; it must be an ISO 8601 time such as 2026-01-30T12:51:16Z",
        ),
        (csv_line(token_amount=""), "token_amount is empty; it must be a decimal number such as 1000, 0.25"),
        (csv_line(signature=""), "tx_signature is empty"),
        (csv_line(event_index="1_0"), "event_index must be a whole number from 0 to 2147483647"),
        (csv_line(signature="?").replace(b"?", b'"a"b'), "the line is not valid CSV: "),
        (csv_line(signature="?").replace(b"?", b"\xff"), "the line is not UTF-8; save the file as UTF-8"),
    ],
)
def test_a_line_of_csv_gets_a_reason_of_the_same_kind(tmp_path: Path, line: bytes, text: str) -> None:
    assert reason(tmp_path / "file.csv", HEADER + line).startswith(text)


def test_a_cell_that_reads_null_is_a_text_like_any_other(tmp_path: Path) -> None:
    path = tmp_path / "file.csv"
    path.write_bytes(HEADER + csv_line(token_name="null"))
    with open_source(str(path)) as source:
        assert [found.token_name for _, _, found in source.records(TradeRow)] == ["null"]


@pytest.mark.parametrize(
    ("header", "texts"),
    [
        (
            ";".join(COLUMNS),
            ["the header has one column", '"blockchain;wallet_address;', "by commas, not semicolons"],
        ),
        ("\t".join(COLUMNS), ["the header has one column", "by commas, not tabs"]),
        (
            ",".join(COLUMNS).replace("blockchain", "Blockchain").replace("tx_signature", "TX Signature"),
            [
                'the header lacks blockchain (found "Blockchain"), tx_signature (found "TX Signature");',
                "spelled exactly so",
            ],
        ),
        (
            ",".join(COLUMNS[1:]),
            ["the header lacks blockchain; it has ", "must name the columns blockchain, "],
        ),
        (",".join(("mint", *COLUMNS)), ["the header has the column mint 2 times"]),
        ("", ["the header is missing, since the file is empty", "must name the columns blockchain, "]),
    ],
)
def test_a_header_that_will_not_do_is_shown_with_what_is_needed(
    tmp_path: Path, header: str, texts: list[str]
) -> None:
    with pytest.raises(UnreadableFile) as caught:
        read(tmp_path / "file.csv", header.encode() + b"\n")
    for text in texts:
        assert text in str(caught.value)


def test_each_unknown_column_is_warned_of_once_with_the_name_that_may_be_meant(tmp_path: Path) -> None:
    fields = row(token_nme="x", **{"Value USD": "1", "quite other": "1"})
    content = f"{','.join(fields)}\n" + f"{','.join(fields.values())}\n" * 3
    assert warnings(tmp_path / "file.csv", content.encode()) == [
        'the column "token_nme" is unknown and ignored; did you mean token_name?',
        'the column "Value USD" is unknown and ignored; did you mean value_usd?',
        'the column "quite other" is unknown and ignored',
    ]


def test_each_unknown_member_of_the_first_hundred_lines_is_warned_of_once(tmp_path: Path) -> None:
    rows = [row(), *([row(token_nme="x")] * 98), row(valueUsd=1), row(later="x")]
    assert warnings(tmp_path / "file.ndjson", ndjson(*rows)) == [
        'the member "token_nme" is unknown and ignored; did you mean token_name?',
        'the member "valueUsd" is unknown and ignored; did you mean value_usd?',
    ]


def test_a_file_whose_names_are_all_unknown_gives_no_endless_warnings(tmp_path: Path) -> None:
    rows = [row(**{f"{number} a": 1}) for number in range(90)]
    assert len(warnings(tmp_path / "file.ndjson", ndjson(*rows))) == 20


@pytest.mark.parametrize("ending", ["ndjson", "csv"])
def test_rows_of_another_type_are_read_the_same_way_and_their_extra_fields_ignored(
    tmp_path: Path, ending: str
) -> None:
    class Identity(msgspec.Struct):
        tx_signature: str
        mint: str

    path = tmp_path / f"file.{ending}"
    path.write_bytes(HEADER + csv_line(signature="a") if ending == "csv" else ndjson(row("a")))
    with open_source(str(path)) as source:
        assert [found for _, _, found in source.records(Identity)] == [Identity("a", "mint")]


def test_what_can_be_read_of_a_truncated_gzip_is_read_and_its_end_is_told(tmp_path: Path) -> None:
    rows = [f"good {n}" for n in range(5000)]
    whole = gzip.compress(ndjson(*(row(name) for name in rows)))
    good, bad = read(tmp_path / "file.ndjson.gz", whole[: len(whole) // 2])
    assert 1000 < len(good) < 5000
    assert good == rows[: len(good)]
    assert [number for number, _ in bad] == [len(good) + 1]
    assert "from here on the file cannot be read" in bad[0][1]


def test_a_gzip_with_a_wrong_checksum_tells_so(tmp_path: Path) -> None:
    whole = bytearray(gzip.compress(ndjson(row("a"), row("b"))))
    whole[-5] ^= 1
    good, bad = read(tmp_path / "file.ndjson.gz", bytes(whole))
    assert good[:1] == ["a"]
    assert len(bad) == 1


def test_what_is_no_gzip_at_all_is_refused_whole(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=r"file\.ndjson\.gz"):
        read(tmp_path / "file.ndjson.gz", ndjson(row()))


def test_a_file_that_cannot_be_opened_is_told_by_name(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    for name in ("nothing.csv", "folder.csv"):
        with pytest.raises(UnreadableFile, match=name), open_source(str(tmp_path / name)):
            pass
