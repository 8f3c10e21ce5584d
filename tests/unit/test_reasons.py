"""The reasons for which a row, a header or a name is rejected: the field, its value, and what is allowed."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.ledger.command import trade
from tests.ledger.files import COLUMNS, HEADER, csv_line, ndjson, read
from tests.ledger.mints import mint_of
from wallet_api.ledger.fields import BadRow
from wallet_api.ledger.readers import UnreadableFile, open_source
from wallet_api.ledger.rows import PriceRow, TradeRow


def reason(path: Path, content: bytes) -> str:
    """Return the reason for which the only row of a file is rejected."""
    _, ((_, text),) = read(path, content)
    return text


def warnings(path: Path, content: bytes) -> list[str]:
    """Return the warnings about a file."""
    path.write_bytes(content)
    texts: list[str] = []
    with open_source(str(path)) as source:
        for _ in source.records(TradeRow, texts.append):
            pass
    return texts


@pytest.mark.parametrize("text", ["0", "1", "1000", "0.25", ".5", "5.", "1e-7", "1E+3", "1.50e2", "00.10"])
@pytest.mark.parametrize("form", ["string", "csv"])
def test_an_amount_is_ascii_digits_with_an_optional_point_and_exponent(
    tmp_path: Path, text: str, form: str
) -> None:
    fields = {"value": text, "value_usd": text}
    path, content = (
        (tmp_path / "file.csv", HEADER + csv_line(**fields))
        if form == "csv"
        else (tmp_path / "file.ndjson", ndjson(trade(**fields)))
    )
    assert read(path, content) == (["s"], [])


NOT_AMOUNTS = [
    *("1_000", "\u0663", " 1", "1 ", "\t1", "1\n", "+1", "Infinity", "inf", "-Infinity", "NaN", "sNaN"),
    *("1,000", "0x10", "1e", "e5", ".", "1.2.3", "1e5.0", "--1", "a lot", "\uff11", "1\u00a0", "½"),
]


@pytest.mark.parametrize("text", NOT_AMOUNTS)
@pytest.mark.parametrize("field", ["token_amount", "value", "value_usd", "exchanged_value"])
@pytest.mark.parametrize("form", ["ndjson", "csv"])
def test_no_other_text_is_an_amount(tmp_path: Path, text: str, field: str, form: str) -> None:
    content = HEADER + csv_line(**{field: text}) if form == "csv" else ndjson(trade(**{field: text}))
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
        ({"mint": mint_of("x") * 1000}, None),
    ],
)
def test_a_reason_names_the_field_its_value_and_what_is_allowed(
    tmp_path: Path, fields: dict[str, Any], text: str | None
) -> None:
    found = reason(tmp_path / "file.ndjson", ndjson(trade(**fields)))
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
            json.dumps(trade(value="?")).encode().replace(b'"?"', b"[" * 100_000),
            "the line is nested too deeply",
        ),
        (
            json.dumps(trade("?")).encode().replace(b"?", b"\xff"),
            "the line is not UTF-8; save the file as UTF-8",
        ),
        (json.dumps(trade("?")).encode().replace(b"?", rb"\ud800"), "the line is not valid JSON: an escape"),
    ],
)
def test_a_line_that_is_no_row_at_all_gets_a_reason(tmp_path: Path, line: bytes, text: str) -> None:
    assert reason(tmp_path / "file.ndjson", line + b"\n").startswith(text)


def test_a_number_of_any_length_gets_a_reason(tmp_path: Path) -> None:
    for digits in (61, 400, 5000, 100_000):
        line = ndjson(trade(value="?")).replace(b'"?"', b"9" * digits)
        assert re.match(
            r"value must (be a shorter number|have at most 60 digits)", reason(tmp_path / "a.ndjson", line)
        )


def test_a_name_spelled_otherwise_is_shown_beside_the_missing_one(tmp_path: Path) -> None:
    line = {name: value for name, value in trade(txSignature="s").items() if name != "tx_signature"}
    assert reason(tmp_path / "file.ndjson", ndjson(line)) == (
        'the row lacks tx_signature (found "txSignature")'
    )


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b"solana,too few\n", "the line has 2 values for 12 columns"),
        (
            csv_line().replace(b"\n", b",one more\n"),
            "the line has 13 values for 12 columns; a value that contains a comma must be in double quotes",
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
def test_the_reason_for_an_unusable_header_quotes_it_and_what_is_required(
    tmp_path: Path, header: str, texts: list[str]
) -> None:
    with pytest.raises(UnreadableFile) as caught:
        read(tmp_path / "file.csv", header.encode() + b"\n")
    for text in texts:
        assert text in str(caught.value)


def test_each_unknown_column_has_one_warning_with_the_most_similar_name(tmp_path: Path) -> None:
    fields = trade(token_nme="x", **{"Value USD": "1", "quite other": "1"})
    content = f"{','.join(fields)}\n" + f"{','.join(fields.values())}\n" * 3
    assert warnings(tmp_path / "file.csv", content.encode()) == [
        'the column "token_nme" is unknown and ignored; did you mean token_name?',
        'the column "Value USD" is unknown and ignored; did you mean value_usd?',
        'the column "quite other" is unknown and ignored',
    ]


def test_each_unknown_member_of_the_first_hundred_lines_has_one_warning(tmp_path: Path) -> None:
    rows = [trade(), *([trade(token_nme="x")] * 98), trade(valueUsd=1), trade(later="x")]
    assert warnings(tmp_path / "file.ndjson", ndjson(*rows)) == [
        'the member "token_nme" is unknown and ignored; did you mean token_name?',
        'the member "valueUsd" is unknown and ignored; did you mean value_usd?',
    ]


def test_the_number_of_warnings_about_unknown_names_is_limited(tmp_path: Path) -> None:
    rows = [trade(**{f"{number} a": 1}) for number in range(90)]
    assert len(warnings(tmp_path / "file.ndjson", ndjson(*rows))) == 20
