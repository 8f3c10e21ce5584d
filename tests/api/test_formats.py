"""`format=csv` and `ndjson`: the rows alone, as exact as in JSON, with the headers of the operation.

And which responses are compressed: the document stays the same.
"""

import csv
import io
import json
import zlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any
from urllib.parse import parse_qs, urljoin

import pytest
from flask import Flask
from werkzeug.http import parse_options_header
from werkzeug.test import TestResponse

from tests.ledger.caller import LIST, Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, BEN, GROUP, SMART, trade_row
from wallet_api.api.openapi import document

NOW = datetime.now(UTC).replace(microsecond=0)
TOKEN = {"blockchain": "solana", "mint": mint_of("mint")}
WALLET = {"blockchain": "solana", "address": ANN}
# By operation: the member that its rows are, and its arguments.
LISTED: dict[str, tuple[str, Row]] = {
    "/wallets": ("wallets", GROUP),
    "/wallets/history": ("trades", GROUP | {"address": ANN}),
    "/wallets/tokens": ("tokens", GROUP | {"address": BEN}),
    "/wallet/leaderboard": ("leaderboard", GROUP | {"period": "7d"}),
    "/wallets/leaderboard": ("leaderboard", GROUP | {"period": "7d"}),
    "/transactions/latest": ("transactions", GROUP),
    "/transactions/timerange": ("transactions", GROUP),
    "/tokens/transactions": ("transactions", TOKEN),
    "/tokens/holders": ("holders", TOKEN),
    "/tokens/stats": ("traders", TOKEN),
    "/tokens/prices": ("tokens", TOKEN | {"mint": f"{TOKEN['mint']},{mint_of('unknown')}"}),
    "/wallets/lookup": ("wallets", {"address": f"{ANN},{BEN}"}),
    "/wallets/connections": ("connections", WALLET),
    "/wallets/explain": ("steps", WALLET | {"mint": TOKEN["mint"]}),
    "/wallets/copy": ("steps", WALLET),
    "/signals": ("signals", GROUP | {"mode": "entry"}),
    "/analytics": ("tokens", GROUP | {"mode": "most_traded"}),
}
# Of a mode each, or of another form.
MORE: list[tuple[str, str, Row]] = [
    ("/analytics", "net_flows", GROUP | {"mode": "net_flow"}),
    ("/analytics", "buckets", GROUP | {"mode": "volume_trend", "period": "6h"}),
    ("/analytics", "leaderboard", GROUP | {"mode": "win_rate"}),
    ("/signals", "signals", GROUP | {"mode": "entry", "include_wallets": "false"}),
]
# Those that have no next page.
WHOLE = {
    *("/transactions/timerange", "/tokens/prices", "/wallets/lookup"),
    *("/signals", "/analytics"),
}
# After those of the others.
LAST = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
FORMATS = ("csv", "ndjson")
# What CSV has to quote.
NAME = 'A, "B"\r\n=1+1'


@pytest.fixture
def filled(importer: Importer) -> Importer:
    """A ledger with rows in each of the responses, of which some lack figures."""
    importer.wallets([GROUP | {"wallet_address": BEN, "name": NAME, "twitter": "@ben", "telegram": "-x"}])
    importer.trades(
        [
            trade_row(ANN, "=a", NOW - timedelta(minutes=9), value="0.000000001", token_amount="3"),
            trade_row(ANN, "b", NOW - timedelta(minutes=8), value_usd="12.5", token_name="=1+1"),
            trade_row(ANN, "c", NOW - timedelta(minutes=7), transaction_type="sell", value="0.1"),
            trade_row(BEN, "d", NOW - timedelta(minutes=6), value="1" + "0" * 30, token_name="ü"),
            trade_row(SMART, "e", NOW - timedelta(minutes=5)),
            trade_row(BEN, "f", NOW - timedelta(minutes=4), mint=mint_of("other")),
        ]
    )
    return importer


def flat(row: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in row.items():
        if isinstance(value, dict):
            yield from flat(value, f"{within}{name}_")
        elif not isinstance(value, list):
            yield within + name, value


def cell(value: Any) -> str:
    """A value of JSON, of which numbers are texts, as CSV has it."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, str):
        return f"'{value}" if value[:1] in ("=", "+", "-", "@") and value else value
    return {None: "", True: "true", False: "false"}[value]


class Number(str):
    """A number as it is written."""


def read(text: str) -> Any:
    return json.loads(text, parse_float=Number, parse_int=Number)


def rows_of(response: TestResponse, format: str, member: str = "") -> list[Row]:
    if format == "json":
        rows: list[Row] = read(response.text)["data"][member]
        return rows
    if format == "csv":
        return list(csv.DictReader(io.StringIO(response.text, newline="")))
    return [read(line) for line in response.text.splitlines()]


def test_rows_are_those_of_json_to_the_last_digit(caller: Caller, filled: Importer) -> None:
    listed = [(path, *rows) for path, rows in LISTED.items()]
    for (path, member, arguments), format in product([*listed, *MORE], FORMATS):
        expected = read(caller.send(path, **arguments).text)["data"][member]
        response = caller.send(path, **arguments, format=format)
        kind = {"csv": "text/csv; charset=utf-8", "ndjson": "application/x-ndjson"}[format]
        assert (response.status_code, response.content_type) == (200, kind), path
        rows = rows_of(response, format)
        assert len(rows) == len(expected) >= 2
        for row, whole in zip(rows, expected, strict=True):
            # Of an object that is null the members are empty.
            known = {name: value for name, value in flat(whole) if name in row or value is not None}
            if format == "csv":
                known = {name: cell(value) for name, value in known.items()}
            assert {name: row[name] for name in known} == known
            # Columns are fixed: what is not known is empty.
            assert {value for name, value in row.items() if name not in known} <= {None, ""}
            assert list(row) == list(rows[0])
        assert "meta" not in response.text


def test_the_rows_of_a_calendar_are_all_of_its_days(caller: Caller, importer: Importer) -> None:
    months = [datetime(2026, month, day, tzinfo=UTC) for month, day in ((1, 30), (1, 31), (3, 1))]
    importer.trades(trade_row(ANN, f"{month}", month) for month in months)
    data = read(caller.send("/wallet/pnl_calendar", **WALLET).text)["data"]
    days = [day for month in data["months"] for day in month["dates"]]
    for format in FORMATS:
        rows = rows_of(caller.send("/wallet/pnl_calendar", **WALLET, format=format), format)
        assert [row["date"] for row in rows] == ["2026-01-30", "2026-01-31", "2026-03-01"]
        assert [row["volume"] for row in rows] == [day["volume"] for day in days]
    empty = caller.send("/wallet/pnl_calendar", **WALLET | {"address": BEN}, format="csv")
    [head] = empty.text.splitlines()
    assert "date" in head.split(",")


def test_an_address_alone_is_one_row(caller: Caller, filled: Importer) -> None:
    for address, found in ((ANN, "true"), (mint_of("nobody"), "false")):
        [row] = rows_of(caller.send("/wallets/lookup", address=address, format="csv"), "csv")
        assert (row["wallet_address"], row["found"]) == (address, found)


def test_an_empty_list_has_its_columns(caller: Caller, importer: Importer) -> None:
    for format in FORMATS:
        response = caller.send("/transactions/latest", **GROUP, format=format)
        head, *rows = response.text.splitlines() or [""]
        assert rows == []
        assert head.startswith("tx_signature,event_index," if format == "csv" else "")
        assert (head == "") is (format == "ndjson")


def test_the_next_page_is_linked_without_a_key(caller: Caller, filled: Importer) -> None:
    for path, format in product(LISTED.keys() - WHOLE, ("json", *FORMATS)):
        member, arguments = LISTED[path]
        whole = rows_of(caller.send(path, **arguments, format=format), format, member)
        query: Row | None = arguments | {"format": format, "limit": "1", "api_key": caller.key}
        url = ""
        headers: dict[str, str] = {}
        found: list[Row] = []
        for _ in whole:
            response = caller.client.get(f"/v1{path}{url}", query_string=query, headers=headers)
            found += rows_of(response, format, member)
            link = response.headers.get("Link")
            if link is None:
                break
            target, options = parse_options_header(link)
            assert options == {"rel": "next"}
            assert caller.key not in link
            url, query, headers = target.strip("<>"), None, {"Authorization": f"Bearer {caller.key}"}
            assert parse_qs(url[1:])["format"] == [format]
            assert urljoin("https://host/prefix/v1/x?y=z", url) == f"https://host/prefix/v1/x{url}"
        assert found == whole, (path, format)
        assert "Link" not in response.headers


def test_a_feed_that_is_followed_goes_on_in_its_direction(caller: Caller, filled: Importer) -> None:
    gone = trade_row(ANN, "c", NOW - timedelta(minutes=7), transaction_type="sell", value="0.1")
    filled.remove_trades([gone])
    filled.remove_wallets([GROUP | {"wallet_address": BEN}])
    for path in ("/transactions/latest", "/tokens/transactions"):
        _, arguments = LISTED[path]
        whole = caller.get(path, **arguments, after="start")["transactions"]
        query: Row | None = arguments | {"after": "start", "limit": "2", "format": "csv"}
        url, found = f"/v1{path}", []
        while True:
            response = caller.send(url.removeprefix("/v1"), **(query or {}))
            rows = rows_of(response, "csv")
            if not rows:
                break
            found += rows
            target, _ = parse_options_header(response.headers["Link"])
            url, query = urljoin(url, target.strip("<>")), None
        assert [(row["event"], row["tx_signature"]) for row in found] == [
            (row["event"], cell(row.get("tx_signature"))) for row in whole
        ]
        assert {"removal", "wallet_removal"} <= {row["event"] for row in found}
        # The last page leads on, and is free.
        assert "after" in parse_qs(response.headers["Link"])


def test_warnings_are_in_a_header(caller: Caller, filled: Importer) -> None:
    for limit, warnings in ((5000, ["limit was capped from 5000 to 1000."]), (10, None)):
        response = caller.send("/transactions/latest", **GROUP, limit=limit, format="csv")
        assert json.loads(response.headers.get("X-Warnings", "null")) == warnings


@pytest.mark.settings(answer_ttl_seconds=0, leaderboard_ttl_seconds=0)
def test_the_etag_is_also_of_the_format_and_of_the_next_page(caller: Caller, importer: Importer) -> None:
    def sent(path: str, format: str, **more: Any) -> TestResponse:
        return caller.send(path, **GROUP, format=format, **more)

    empty = {sent("/transactions/latest", format).headers["ETag"] for format in ("csv", "ndjson")}
    assert len(empty) == 2
    before = sent("/wallets", "csv", limit=2)
    importer.wallets([GROUP | {"wallet_address": LAST}])
    after = sent("/wallets", "csv", limit=2)
    assert before.data == after.data
    assert before.headers["ETag"] != after.headers["ETag"]
    assert ("Link" in before.headers, "Link" in after.headers) == (False, True)


def test_errors_stay_json(caller: Caller, importer: Importer) -> None:
    response = caller.send("/wallets", blockchain="solana", format="csv")
    assert (response.status_code, response.content_type) == (400, "application/json")


def test_the_document_describes_the_formats(app: Flask) -> None:
    paths = document(app)["paths"]
    listed = {
        path for path in paths if "text/csv" in paths[path]["get"]["responses"]["200"].get("content", {})
    }
    expected = {f"/v1{path}" for path in (*LISTED, "/wallet/pnl_calendar")}
    assert listed == expected - {"/v1/wallets/leaderboard"}
    for path in listed:
        success = paths[path]["get"]["responses"]["200"]
        assert "application/x-ndjson" in success["content"]
        assert "X-Warnings" in success["headers"]
        assert ("Link" in success["headers"]) is (path.removeprefix("/v1") in LISTED.keys() - WHOLE)


def test_all_headers_stay_below_four_kilobytes_also_with_a_hundred_addresses(
    caller: Caller, importer: Importer
) -> None:
    importer.trades(trade_row(ANN, f"s{number}", NOW) for number in range(3))
    addresses = ",".join([ANN, *(mint_of(f"wallet {number}") for number in range(99))])
    question = GROUP | {"address": addresses, "limit": 1, "format": "csv"}
    first = caller.send("/transactions/latest", **question)
    assert first.status_code == 200
    assert "Link" not in first.headers
    *kept, note = json.loads(first.headers["X-Warnings"])
    assert note == f"{99 - len(kept)} more warnings are left out here."
    for following in ({"cursor": first.headers["X-Next-Cursor"]}, {"after": "start"}, {"format": "json"}):
        answer = caller.send("/transactions/latest", **question | following)
        assert answer.status_code == 200
        assert len(str(answer.headers).encode()) < 4096
    assert len(str(first.headers).encode()) < 4096


def test_texts_that_a_spreadsheet_would_run_begin_with_an_apostrophe(
    caller: Caller, importer: Importer
) -> None:
    begins = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
    named = {mint_of(f"wallet {number}"): f"{begin}1" for number, begin in enumerate(begins)}
    # Where cells are divided at semicolons, another one begins within the text.
    named |= {mint_of("inner"): "a;=1+1;b;-2; =3"}
    importer.wallets(GROUP | {"wallet_address": address, "name": name} for address, name in named.items())
    rows = csv.DictReader(io.StringIO(caller.send("/wallets", **GROUP, format="csv").text, newline=""))
    found = {row["wallet_address"]: row["name"] for row in rows if row["wallet_address"] in named}
    # Names from files lose what is invisible.
    kept = {address: name if name.isprintable() else "1" for address, name in named.items()}
    expected = {address: name if name == "1" else f"'{name}" for address, name in kept.items()}
    assert found == expected | {mint_of("inner"): "a;'=1+1;b;'-2; =3"}


def test_a_table_for_excel_begins_with_a_byte_order_mark(caller: Caller, importer: Importer) -> None:
    importer.wallets([GROUP | {"wallet_address": ANN, "name": "Caf\u00e9"}])
    plain = caller.send("/wallets", **GROUP, format="csv")
    marked = caller.send("/wallets", **GROUP, format="csv", bom="true")
    assert marked.data == b"\xef\xbb\xbf" + plain.data
    assert marked.content_type == plain.content_type == "text/csv; charset=utf-8"
    assert marked.headers["ETag"] != plain.headers["ETag"]
    assert caller.send("/wallets", **GROUP, format="csv", bom="false").data == plain.data
    page = caller.send("/wallets", **GROUP, format="csv", bom="true", limit=1)
    assert "bom=true" in page.headers["Link"]
    for other in ("json", "ndjson"):
        error = caller.refused("/wallets", **GROUP, format=other, bom="true")
        assert (error["code"], error["parameter"]) == ("invalid_parameter", "bom")


ACCEPTED = {
    **dict.fromkeys((None, "", "identity", "gzip;q=0.5, identity", "gzip;q=0", "br, deflate", ";;q=,")),
    **dict.fromkeys(("gzip", "GZIP", "gzip, deflate, br, zstd", "br;q=0, *", "*;q=0.1"), "gzip"),
    "identity;q=0.5, gzip;q=0.8": "gzip",
}


def decoded(answer: TestResponse) -> bytes:
    """The body: a single gzip member, as the strictest clients want it, or plain."""
    if "Content-Encoding" not in answer.headers:
        return answer.data
    inflate = zlib.decompressobj(zlib.MAX_WBITS | 16)
    body = inflate.decompress(answer.data)
    assert (inflate.eof, inflate.unused_data) == (True, b"")
    return body


def test_the_coding_is_the_one_that_the_caller_prefers(caller: Caller, importer: Importer) -> None:
    # A list that is large, and whose texts are not only ASCII.
    importer.wallets(
        {"blockchain": "eth", "type": "kol", "wallet_address": f"0x{number:040x}", "name": f"Wället {number}"}
        for number in range(1_000)
    )

    def sent(accepted: str | None, path: str = "/wallets?blockchain=eth&type=kol") -> TestResponse:
        return caller.send(path, headers={} if accepted is None else {"Accept-Encoding": accepted})

    plain = sent(None)
    assert plain.headers["ETag"].startswith('W/"')
    for accepted, coding in ACCEPTED.items():
        answer = sent(accepted)
        assert answer.headers.get("Content-Encoding") == coding, accepted
        assert answer.headers["Vary"] == "Accept-Encoding"
        assert int(answer.headers["Content-Length"]) == len(answer.data)
        assert answer.headers["ETag"] == plain.headers["ETag"]
        assert coding is None or len(answer.data) < len(plain.data) / 4
        # All but meta, which ends both.
        body = decoded(answer)
        assert body.partition(b',"meta":')[0] == plain.data.partition(b',"meta":')[0]
        assert body.endswith(b"}}")
    table = "/wallets?blockchain=eth&type=kol&format=csv"
    packed = sent("gzip", table)
    assert (packed.headers["Content-Encoding"], packed.headers["Vary"]) == ("gzip", "Accept-Encoding")
    assert decoded(packed) == sent(None, table).data
    # Small ones and errors are not compressed.
    for path in (LIST, "/transactions/volume?blockchain=eth&type=kol", f"{LIST}&limit=0"):
        answer = sent("gzip", path)
        assert not {"Content-Encoding", "Vary"} & {*answer.headers.keys()}
        assert "meta" in answer.json
