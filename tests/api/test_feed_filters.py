"""The filters of /v1/transactions/latest and /v1/tokens/transactions, with the cursors of their pages."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from tests.ledger import random_trades
from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, BEN, GROUP, SMART, UNTRACKED, trade_row

# Responses are not cached: what was imported a moment ago counts.
pytestmark = pytest.mark.settings(answer_ttl_seconds=0)

NOW = datetime.now(UTC).replace(microsecond=0)
LATEST, OF_TOKEN = "/transactions/latest", "/tokens/transactions"
TOKEN = {"blockchain": "solana", "mint": mint_of("mint-0")}
ADDRESSES = [row["wallet_address"] for row in random_trades.wallets(12) if row["type"] == "kol"]


def least(name: str, bound: str) -> Callable[[Row], bool]:
    """Whether a trade has a figure, and at least so much."""
    return lambda row: row[name] is not None and row[name] >= Decimal(bound)


FILTERS: list[tuple[Row, Callable[[Row], bool]]] = [
    ({"transaction_type": "sell"}, lambda row: row["transaction_type"] == "sell"),
    ({"min_value": "1.5"}, least("value", "1.5")),
    ({"min_value_usd": "150"}, least("value_usd", "150")),
    ({"address": ADDRESSES[0]}, lambda row: row["profile"]["wallet_address"] == ADDRESSES[0]),
    (
        {"address": ",".join(ADDRESSES[1:3]), "transaction_type": "buy", "min_value": "0"},
        lambda row: row["profile"]["wallet_address"] in ADDRESSES[1:3] and row["transaction_type"] == "buy",
    ),
]


def pages(caller: Caller, path: str, **question: Any) -> list[Row]:
    """The rows of all pages, each of at most 7."""
    return caller.pages(path, "transactions", **question, limit=7)


def test_filters_leave_exactly_the_trades_that_pass_them(caller: Caller, database_url: str) -> None:
    random_trades.import_coinciding(Importer(database_url), 400, NOW, mints=2)
    questions = (
        (LATEST, GROUP),
        (LATEST, GROUP | TOKEN),
        (OF_TOKEN, TOKEN),
        (OF_TOKEN, TOKEN | {"type": "kol"}),
    )
    for path, question in questions:
        every = caller.get(path, **question, limit=1000)["transactions"]
        for filters, passes in FILTERS:
            expected = [row for row in every if passes(row)]
            assert 0 < len(expected) < len(every), (path, filters)
            assert pages(caller, path, **question, **filters) == expected, (path, question, filters)
            data = caller.get(path, **question, **filters, limit=len(expected))
            assert data["transactions"] == expected
            assert data["pagination"] == {"limit": len(expected), "has_more": False, "next_cursor": None}


def test_a_bound_is_met_by_the_figure_as_it_is_shown(caller: Caller, importer: Importer) -> None:
    importer.trades([trade_row(ANN, "a", NOW, value="0.9999999996", value_usd="2.99995")])
    for filters in ({"min_value": "1"}, {"min_value_usd": "3"}):
        assert caller.get(LATEST, **GROUP, **filters)["count"] == 1
    for filters in ({"min_value": "1.000000001"}, {"min_value_usd": "3.0001"}):
        assert caller.get(LATEST, **GROUP, **filters)["count"] == 0


def test_addresses_that_are_not_tracked_in_the_group_are_named(caller: Caller, importer: Importer) -> None:
    importer.trades([trade_row(ANN, "a", NOW), trade_row(BEN, "b", NOW), trade_row(SMART, "c", NOW)])
    data = caller.get(LATEST, **GROUP, address=f"{UNTRACKED},{ANN},{SMART}")
    assert [row["tx_signature"] for row in data["transactions"]] == ["a"]
    assert data["warnings"] == [
        f"The wallet {UNTRACKED} is not tracked on solana as kol.",
        f"The wallet {SMART} is not tracked on solana as kol.",
    ]
    data = caller.get(OF_TOKEN, blockchain="solana", mint=mint_of("mint"), address=f"{UNTRACKED},{SMART}")
    assert [row["tx_signature"] for row in data["transactions"]] == ["c"]
    assert data["warnings"] == [f"The wallet {UNTRACKED} is not tracked on solana."]
    data = caller.get(LATEST, **GROUP, address=UNTRACKED)
    assert (data["transactions"], data["pagination"]["has_more"]) == ([], False)


def test_a_page_reads_so_many_trades_at_most(caller: Caller, importer: Importer) -> None:
    start = NOW - timedelta(days=1)
    importer.trades([trade_row(ANN, "large", start, value="9"), trade_row(BEN, "larger", start, value="10")])
    importer.trades(
        trade_row((ANN, BEN)[number % 2], f"s{number}", start + timedelta(seconds=1 + number))
        for number in range(3_500)
    )
    for path, question in ((LATEST, GROUP), (OF_TOKEN, {"blockchain": "solana", "mint": mint_of("mint")})):
        first = caller.get(path, **question, min_value=5)
        assert (first["transactions"], first["pagination"]["has_more"]) == ([], True), path
        cursor = first["pagination"]["next_cursor"]
        second = caller.get(path, **question, min_value=5, cursor=cursor)
        assert [row["value"] for row in second["transactions"]] == [10, 9]
        assert second["pagination"] == {"limit": 50, "has_more": False, "next_cursor": None}
