"""GET /v1/wallets/history: profile, trades and pages, and figures with many digits."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import mint_of
from tests.ledger.rows import trade_row
from tests.naive import Ledger
from wallet_api.database import Connection
from wallet_api.settings import Settings

# Responses are not cached: what was imported a moment ago counts.
pytestmark = pytest.mark.settings(answer_ttl_seconds=0)

SOLANA = "So11111111111111111111111111111111111111112"
UNTRACKED = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"
EVM = "0xAbCdEf0123456789aBcDeF0123456789ABCDEF01"
NOW = datetime.now(UTC).replace(microsecond=0)


@pytest.fixture
def importer(database_url: str) -> Importer:
    """Takes rows in, for a wallet of Solana and one of Ethereum."""
    importer = Importer(database_url)
    importer.wallets(
        [
            {"blockchain": "solana", "type": "kol", "wallet_address": SOLANA},
            {"blockchain": "eth", "type": "kol", "wallet_address": EVM},
        ]
    )
    return importer


def trade(number: int, side: str, amount: str, value: str, **fields: Any) -> Row:
    """A trade of the wallet of Solana; a higher number is a later one."""
    at = NOW - timedelta(hours=100 - number)
    more = {"transaction_type": side, "token_amount": amount, "value": value, **fields}
    return trade_row(SOLANA, f"s{number}", at, **more)


def history(caller: Caller) -> Row:
    """The history of the wallet of Solana."""
    return caller.get("/wallets/history", blockchain="solana", type="kol", address=SOLANA)


def test_a_wallet_that_never_traded_has_figures_of_zero(caller: Caller, importer: Importer) -> None:
    data = history(caller)
    assert {value for name, value in data["lifetime_stats"].items() if name != "currency"} == {0}
    assert set(data["win_rate_distribution"].values()) == {0}
    assert (data["token_overview"], data["trades"]) == ([], [])
    assert data["pagination"] == {"limit": 50, "next_cursor": None, "has_more": False}


def test_an_evm_address_is_found_in_any_case_and_returned_in_lower_case(
    caller: Caller, importer: Importer
) -> None:
    for address in (EVM, EVM.lower(), "0x" + EVM[2:].upper()):
        data = caller.get("/wallets/history", blockchain="eth", type="kol", address=address)
        assert data["profile"]["wallet_address"] == EVM.lower()
        assert data["profile"]["currency"] == "ETH"


# By token: its trades, of which each has a side, an amount and a value.
HARD = {
    "a speck of a large position": [("buy", "1000000", "0.1"), ("sell", "0.000000000000000001", "1")],
    "all but a speck, then the speck": [
        ("buy", "7", "1"),
        ("sell", "6.999999999999999999", "1"),
        ("sell", "0.000000000000000001", "0.3"),
    ],
    "next to nothing": [
        ("buy", "0.000000000000000001", "0"),
        ("sell", "3000000", "0.000000000000000001"),
    ],
    "a loss in the last digit": [("buy", "3", "1"), *[("sell", "1", "0.333333333333333333")] * 3],
    "at a bound of the distribution": [("buy", "3", "1"), ("sell", "1.5", "0.5"), ("sell", "1.5", "3")],
    "halves away from zero": [("buy", "1", "0.0000000005"), ("sell", "1", "0.000000001")],
    "more digits than any double": [("buy", "9" * 40, "9" * 30), ("sell", "1" * 40, "7" * 29)],
}


def test_figures_are_exact_where_digits_are_hard_to_keep(caller: Caller, importer: Importer) -> None:
    rows = [
        trade(number, *amounts, mint=mint_of(f"token {token}"))
        for token, trades in enumerate(HARD.values())
        for number, amounts in enumerate(trades)
    ]
    ledger = Ledger()
    ledger.add_wallets([{"blockchain": "solana", "type": "kol", "wallet_address": SOLANA}])
    ledger.add_trades(rows)
    importer.trades(rows)
    data = history(caller)
    del data["pagination"]
    assert data == ledger.history(datetime.now(UTC), "solana", SOLANA)


def test_numbers_are_plain_json_numbers_without_exponents(
    caller: Caller, importer: Importer, client: FlaskClient
) -> None:
    importer.trades([trade(1, "buy", "1", "0.000000001"), trade(2, "buy", "1", "1" + "0" * 30)])
    reply = client.get(
        "/v1/wallets/history",
        query_string={"blockchain": "solana", "type": "kol", "address": SOLANA},
        headers={"Authorization": f"Bearer {caller.key}"},
    )
    assert '"value":1000000000000000000000000000000,' in reply.text.replace(" ", "")
    assert '"value":0.000000001,' in reply.text.replace(" ", "")
    assert history(caller)["lifetime_stats"]["buy"] == Decimal("1" + "0" * 30 + ".000000001")


def test_a_wallet_is_found_by_its_current_type(caller: Caller, importer: Importer) -> None:
    def status(type: str) -> int:
        document = caller.ask("/wallets/history", blockchain="solana", type=type, address=SOLANA)
        if document["success"]:
            assert document["data"]["profile"]["type"] == type
            return 200
        assert document["error"]["reason"] == "wallet_not_found"
        return 404

    row = {"blockchain": "solana", "wallet_address": SOLANA}
    assert (status("kol"), status("smart")) == (200, 404)
    importer.wallets([row | {"type": "smart"}])
    assert (status("kol"), status("smart")) == (404, 200)
    importer.remove_wallets([row])
    assert (status("kol"), status("smart")) == (404, 404)
    importer.wallets([row | {"type": "smart"}])
    assert (status("kol"), status("smart")) == (404, 200)


def test_bounds_select_trades_and_leave_the_figures(caller: Caller, importer: Importer) -> None:
    importer.trades([trade(number, "buy", "1", "1") for number in range(1, 7)])
    whole = history(caller)
    times = [row["created_at"] for row in reversed(whole["trades"])]
    question = {"blockchain": "solana", "type": "kol", "address": SOLANA}
    for bounds, expected in (
        ({"since": times[2]}, ["s6", "s5", "s4", "s3"]),
        ({"until": times[2]}, ["s2", "s1"]),
        ({"since": times[1], "until": times[4]}, ["s4", "s3", "s2"]),
        ({"since": times[1].removesuffix("Z")}, ["s6", "s5", "s4", "s3", "s2"]),
        ({"since": times[1].replace("Z", "+00:00"), "until": times[2]}, ["s2"]),
        ({"since": "2100-01-01"}, []),
        ({"until": "1900-01-01T00:00:00Z"}, []),
    ):
        data = caller.get("/wallets/history", **question, **bounds)
        assert [row["tx_signature"] for row in data["trades"]] == expected
        assert data["lifetime_stats"] == whole["lifetime_stats"]
        assert data["token_overview"] == whole["token_overview"]
        for limit in (1, 2, 3):
            pages = caller.pages("/wallets/history", "trades", **question, **bounds, limit=limit)
            assert [row["tx_signature"] for row in pages] == expected


def test_a_cursor_belongs_to_its_bounds(caller: Caller, importer: Importer) -> None:
    importer.trades([trade(number, "buy", "1", "1") for number in range(1, 7)])
    question = {"blockchain": "solana", "type": "kol", "address": SOLANA, "limit": 1}
    cursor = caller.get("/wallets/history", **question, since="2020-01-01")["pagination"]["next_cursor"]
    # The same moment in other words.
    same = caller.get("/wallets/history", **question, since="2020-01-01T01:00:00+01:00", cursor=cursor)
    assert same["trades"][0]["tx_signature"] == "s5"
    for bounds in ({}, {"since": "2020-01-02"}, {"since": "2020-01-01", "until": "2100-01-01"}):
        error = caller.ask("/wallets/history", **question, **bounds, cursor=cursor)["error"]
        assert (error["code"], error["parameter"]) == ("invalid_parameter", "cursor")


def test_the_overview_is_left_out_on_request(caller: Caller, importer: Importer) -> None:
    importer.trades([trade(1, "buy", "1", "1"), trade(2, "buy", "1", "1")])
    question = {"blockchain": "solana", "type": "kol", "address": SOLANA}
    whole = history(caller)
    assert caller.get("/wallets/history", **question, overview="true") == whole
    del whole["token_overview"]
    assert caller.get("/wallets/history", **question, overview="false") == whole
    assert caller.get("/wallets/history", **question, overview="false", since="2020-01-01") == whole


def test_a_type_is_required_unless_it_is_detected(
    settings: Settings, make_app: Callable[[Settings], Flask], importer: Importer, connection: Connection
) -> None:
    importer.trades([trade(1, "buy", "1", "1"), trade(2, "buy", "1", "1")])
    question = {"blockchain": "solana", "address": SOLANA}
    required = Caller.new(make_app(settings).test_client(), connection)
    error = required.ask("/wallets/history", **question)["error"]
    assert (error["code"], error["parameter"]) == ("invalid_parameter", "type")
    app = make_app(replace(settings, history_type="detected"))
    detected = Caller(app.test_client(), required.key)
    own = detected.get("/wallets/history", **question)
    assert own == required.get("/wallets/history", **question, type="kol")
    assert detected.get("/wallets/history", **question, type="kol") == own
    assert len(detected.pages("/wallets/history", "trades", **question, limit=1)) == 2
    for wrong, reason in (
        ({"type": "smart"}, "wallet_not_found"),
        ({"address": UNTRACKED}, "wallet_not_found"),
    ):
        assert detected.ask("/wallets/history", **question | wrong)["error"]["reason"] == reason
    assert detected.ask("/wallets/history", blockchain="eth", address=EVM, type="whale")["error"]["allowed"]
