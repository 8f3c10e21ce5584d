"""`amounts=string`: amounts, prices and values as strings of the same digits; all else as it was."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask
from marshmallow import Schema, fields
from openapi_spec_validator import OpenAPIV31SpecValidator

from tests.api.test_formats import LISTED, MORE, TOKEN, WALLET, Number, read, rows_of
from tests.documents.described import Described
from tests.ledger.caller import Caller
from tests.ledger.in_process import Row
from tests.ledger.rows import ANN, BEN, GROUP, SMART, WALLETS, trade_row
from tests.lib.serving import Shared
from wallet_api.api.openapi import operations
from wallet_api.api.schemas.fields import Amount

NOW = datetime.now(UTC).replace(microsecond=0)
QUESTIONS: list[tuple[str, Row]] = [
    *((path, arguments) for path, (_, arguments) in LISTED.items()),
    *((path, arguments) for path, _, arguments in MORE),
    ("/wallets/tracker", WALLET),
    ("/wallet/pnl_calendar", WALLET),
    ("/transactions/volume", GROUP),
    ("/transactions/count", GROUP),
    ("/transactions/latest", GROUP | {"mint": TOKEN["mint"]}),
    ("/transactions/latest", GROUP | {"after": "start"}),
    ("/wallet/leaderboard", GROUP | {"period": "7d", "min_volume": "0.1", "min_win_rate": "0"}),
    ("/wallet/leaderboard", GROUP | {"period": "7d", "chart": "true", "limit": 9}),
]
# The names of percentages, ratios and durations; counts have no fraction.
NUMBERS = re.compile(r".*(pct.*|percent.*|rate|score|share|factor|pressure|minutes|hours|max_.*_cost)")
AMOUNTS = re.compile(r"token_amount.*|total_(buy|sell|volume).*|price|.*value(_usd)?|realized_pnl(_usd)?")


@pytest.fixture(scope="module")
def caller(shared: Shared) -> Caller:
    """A caller of a ledger with amounts that no double has."""
    shared.importer.wallets(WALLETS)
    shared.importer.trades(
        [
            trade_row(ANN, "a", NOW - timedelta(minutes=9), value="9007199254740993.000000001"),
            trade_row(ANN, "b", NOW - timedelta(minutes=8), token_amount="635691.456315350937763841"),
            trade_row(ANN, "c", NOW - timedelta(minutes=7), transaction_type="sell", value_usd="0.3"),
            trade_row(BEN, "d", NOW - timedelta(minutes=6), value="1" + "0" * 30),
            trade_row(SMART, "e", NOW - timedelta(minutes=5)),
        ]
    )
    return shared.caller


@pytest.fixture
def app(shared: Shared) -> Flask:
    return shared.app


def leaves(found: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each value of a document with the name of its member."""
    if isinstance(found, dict):
        for member, value in found.items():
            yield from leaves(value, member)
    elif isinstance(found, list):
        for value in found:
            yield from leaves(value, name)
    else:
        yield name, found


def test_amounts_are_strings_of_the_same_digits_and_all_else_is_the_same(caller: Caller) -> None:
    for path, arguments in QUESTIONS:
        plain, quoted = (
            [*leaves(read(caller.send(path, **arguments, amounts=amounts).text)["data"])]
            for amounts in ("number", "string")
        )
        assert len(plain) == len(quoted) > 0
        for (name, value), (same, written) in zip(plain, quoted, strict=True):
            assert name == same
            if name in ("timestamp", "as_of", "until", "time_since_first_entry_hours"):
                # Of another second.
                continue
            assert value == written, (path, name)
            if isinstance(value, Number) and not isinstance(written, Number):
                assert not NUMBERS.fullmatch(name), (path, name)
            elif isinstance(value, Number):
                assert NUMBERS.fullmatch(name) or "." not in value, (path, name)
                assert not AMOUNTS.fullmatch(name), (path, name)


def test_rows_of_ndjson_have_strings_too_and_csv_is_the_same(caller: Caller) -> None:
    for path, (_, arguments) in LISTED.items():
        for format in ("ndjson", "csv"):
            plain, quoted = (
                caller.send(path, **arguments, format=format, amounts=amounts)
                for amounts in ("number", "string")
            )
            assert rows_of(plain, format) == rows_of(quoted, format)
            if format == "csv":
                assert plain.data == quoted.data
    [row, *_] = rows_of(
        caller.send("/transactions/latest", **GROUP, format="ndjson", amounts="string"), "ndjson"
    )
    assert (type(row["value"]), type(row["event_index"])) == (str, Number)


def test_each_has_its_own_cached_data_and_etag_and_a_cursor_goes_on_under_all(caller: Caller) -> None:
    question = GROUP | {"limit": 1}
    plain, quoted = (
        caller.send("/transactions/latest", **question, amounts=amounts) for amounts in ("number", "string")
    )
    assert plain.headers["ETag"] != quoted.headers["ETag"]
    known = {"If-None-Match": quoted.headers["ETag"]}
    assert caller.send("/transactions/latest", known, **question, amounts="string").status_code == 304
    assert caller.send("/transactions/latest", known, **question).status_code == 200
    assert plain.headers["X-Next-Cursor"] == quoted.headers["X-Next-Cursor"]
    assert quoted.json["pagination"] == quoted.json["data"]["pagination"]
    assert "amounts=string" in quoted.headers["Link"]
    cursor = quoted.headers["X-Next-Cursor"]
    for form, rows in (
        ({}, 1),
        ({"amounts": "string", "limit": 2}, 2),
        ({"format": "csv"}, 1),
        ({"format": "ndjson", "limit": 3}, 3),
    ):
        page = caller.send("/transactions/latest", **question | form, cursor=cursor)
        found = rows_of(page, str(form.get("format", "json")), "transactions")
        assert [row["tx_signature"] for row in found] == ["c", "b", "a"][:rows]
    first = caller.send("/transactions/latest", **question, after="start", amounts="string").json
    place = first["pagination"]["next_cursor"]
    rest = caller.send("/transactions/latest", **GROUP, after=place, format="csv")
    assert len(rows_of(rest, "csv")) == 3


def test_two_operations_have_no_amounts(app: Flask) -> None:
    without = {
        operation.name for _, operation in operations(app) if "amounts" not in operation.arguments.fields
    }
    assert without == {"get_meta", "get_health"}


def test_no_count_percentage_or_duration_is_declared_as_an_amount(app: Flask) -> None:
    def names(schema: Schema) -> Iterator[str]:
        for name, field in schema.fields.items():
            part = field.value_field if isinstance(field, fields.Dict) else field
            if isinstance(part, fields.Nested):
                yield from names(part.schema)
            elif isinstance(part, Amount):
                yield name

    for _, operation in operations(app):
        assert not [name for name in names(operation.data) if NUMBERS.fullmatch(name)], operation.name


def test_the_document_of_strings_describes_what_is_returned_with_them(caller: Caller) -> None:
    described = Described(caller.send("/openapi.json", amounts="string").get_json())
    for path, arguments in QUESTIONS:
        response = caller.send(path, **arguments, amounts="string")
        if f"/v1{path}" in described.document["paths"]:
            described.check(f"/v1{path}", 200, response.get_json(), {*response.headers.keys()})
    [amounts] = [
        parameter
        for parameter in described.document["paths"]["/v1/wallets"]["get"]["parameters"]
        if parameter["name"] == "amounts"
    ]
    # A client of this document sends it, and gets what the document describes.
    assert (amounts["required"], amounts["schema"]) == (True, {"type": "string", "const": "string"})
    OpenAPIV31SpecValidator(described.document).validate()
    error = caller.refused("/openapi.json", amounts="text")
    assert (error["parameter"], error["allowed"]) == ("amounts", ["number", "string"])
    assert caller.send("/openapi.json", amounts="number").data == caller.send("/openapi.json").data
