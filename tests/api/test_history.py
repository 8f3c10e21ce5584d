"""GET /v1/wallets/history: many digits, bounds of time, and what may be left out."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from tests.api.conftest import NewCaller
from tests.ledger import random_trades
from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, EVM, GROUP, UNTRACKED, WALLETS, trade_row

# Responses are not cached: what was imported a moment ago counts.
pytestmark = pytest.mark.settings(answer_ttl_seconds=0)

NOW = datetime.now(UTC).replace(microsecond=0)
PATH = "/wallets/history"
QUESTION = GROUP | {"address": ANN}
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


# Side, value, exchanged_value and fees of each trade of the document's worked example; None is unknown.
FEES = (
    ("buy", "2", "1.95", Decimal("0.05")),
    ("sell", "2.9", "3", Decimal("0.1")),
    ("buy", "1", "1.2", 0),
    ("buy", "1", None, None),
    ("sell", "1", "0", None),
)


def trade(number: int, side: str = "buy", amount: str = "1", value: str = "1", **fields: Any) -> Row:
    """A trade; a higher number is a later one."""
    more = {"transaction_type": side, "token_amount": amount, "value": value, **fields}
    return trade_row(ANN, f"s{number}", NOW - timedelta(hours=100 - number), **more)


def test_figures_are_exact_where_digits_are_hard_to_keep(caller: Caller, database_url: str) -> None:
    ledger = random_trades.import_all(
        Importer(database_url),
        wallets=WALLETS,
        trades=[
            trade(number, *amounts, mint=mint_of(f"token {token}"))
            for token, trades in enumerate(HARD.values())
            for number, amounts in enumerate(trades)
        ],
    )
    data = caller.get(PATH, **QUESTION)
    del data["pagination"]
    assert data == ledger.history(datetime.now(UTC), "solana", ANN)


def test_fees_are_those_of_the_worked_example(caller: Caller, importer: Importer) -> None:
    """That they are the same in every operation is in tests/integration/test_ledger_properties.py."""
    importer.trades(
        trade(number, side, value=value, **({} if exchanged is None else {"exchanged_value": exchanged}))
        for number, (side, value, exchanged, _) in enumerate(FEES)
    )
    data = caller.get(PATH, **QUESTION)
    assert [row.get("fees") for row in reversed(data["trades"])] == [fees for *_, fees in FEES]
    stats = data["lifetime_stats"]
    assert (stats["fees"], stats["fees_unknown_txn"]) == (Decimal("0.15"), 2)


def test_numbers_are_plain_json_numbers_without_exponents(caller: Caller, importer: Importer) -> None:
    importer.trades([trade(1, value="0.000000001"), trade(2, value="1" + "0" * 30)])
    text = caller.send(PATH, **QUESTION).text
    assert '"value":1000000000000000000000000000000,' in text.replace(" ", "")
    assert '"value":0.000000001,' in text.replace(" ", "")
    stats = caller.get(PATH, **QUESTION)["lifetime_stats"]
    assert stats["buy"] == Decimal("1" + "0" * 30 + ".000000001")


def test_bounds_select_trades_and_leave_the_figures(caller: Caller, importer: Importer) -> None:
    importer.trades([trade(number) for number in range(1, 7)])
    whole = caller.get(PATH, **QUESTION)
    times = [row["created_at"] for row in reversed(whole["trades"])]
    for bounds, expected in (
        ({"since": times[2]}, "6543"),
        ({"until": times[2]}, "21"),
        ({"since": times[1], "until": times[4]}, "432"),
        ({"since": times[1].removesuffix("Z")}, "65432"),
        ({"since": times[1].replace("Z", "+00:00"), "until": times[2]}, "2"),
        ({"since": "2100-01-01"}, ""),
        ({"until": "1900-01-01T00:00:00Z"}, ""),
    ):
        data = caller.get(PATH, **QUESTION, **bounds)
        assert [row["tx_signature"] for row in data["trades"]] == [f"s{number}" for number in expected]
        assert data["lifetime_stats"] == whole["lifetime_stats"]
        assert data["token_overview"] == whole["token_overview"]
        assert caller.pages(PATH, "trades", **QUESTION, **bounds, limit=2) == data["trades"]


def test_the_overview_is_left_out_on_request(caller: Caller, importer: Importer) -> None:
    importer.trades([trade(1), trade(2)])
    whole = caller.get(PATH, **QUESTION)
    del whole["token_overview"]
    assert caller.get(PATH, **QUESTION, overview="false") == whole
    assert caller.get(PATH, **QUESTION, overview="false", since="2020-01-01") == whole


def test_a_mint_selects_the_trades_and_the_overview_of_one_token(caller: Caller, importer: Importer) -> None:
    importer.trades(
        [trade(number, mint=mint_of(f"token {number % 2}"), event_index=number) for number in range(6)]
    )
    whole = caller.get(PATH, **QUESTION)
    for mint in (mint_of("token 0"), mint_of("nowhere")):
        data = caller.get(PATH, **QUESTION, mint=mint)
        for rows in ("token_overview", "trades"):
            assert data[rows] == [row for row in whole[rows] if row["mint"] == mint]
        assert data["lifetime_stats"] == whole["lifetime_stats"]
    own = QUESTION | {"mint": mint_of("token 0")}
    since = caller.get(PATH, **own)["trades"][1]["created_at"]
    assert len(caller.get(PATH, **own, since=since)["trades"]) == 2
    assert len(caller.get(PATH, **own, until=since)["trades"]) == 1


def test_a_type_is_required_unless_it_is_detected(
    caller: Caller, caller_of: NewCaller, importer: Importer
) -> None:
    importer.trades([trade(1), trade(2)])
    untyped = {"blockchain": "solana", "address": ANN}
    assert caller.refused(PATH, **untyped)["parameter"] == "type"
    detected = caller_of(history_type="detected")
    own = detected.get(PATH, **untyped)
    assert own == detected.get(PATH, **QUESTION) == caller.get(PATH, **QUESTION)
    assert len(detected.pages(PATH, "trades", **untyped, limit=1)) == 2
    for wrong in ({"type": "smart"}, {"address": UNTRACKED}):
        assert detected.refused(PATH, **untyped | wrong)["reason"] == "wallet_not_found"
    assert detected.refused(PATH, blockchain="eth", address=EVM, type="whale")["allowed"] == ["kol"]


def test_priced_tokens_are_those_that_are_still_held(caller: Caller, importer: Importer) -> None:
    at = datetime.now(UTC) - timedelta(hours=2)
    importer.trades(
        trade_row(ANN, f"{sold}-{minute}", at + timedelta(minutes=minute), mint=mint_of(sold), **more)
        for sold in ("98", "99.5")
        for minute, more in (
            (0, {"token_amount": "100"}),
            (1, {"transaction_type": "sell", "token_amount": sold, "value": "2"}),
        )
    )
    stats = caller.get("/wallets/history", **GROUP, address=ANN)["lifetime_stats"]
    # The rest of the other one, less than 1 % of it, is worth something.
    assert (stats["priced_tokens_count"], stats["still_holding_count"]) == (1, 1)
    assert stats["unpriced_cost"] == 0
