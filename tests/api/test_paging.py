"""Paging to the end, at any limit: each row once, in order, also while rows are being added."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import base58
import pytest

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import mint_of
from tests.naive import Ledger

# Responses are not cached: what was imported a moment ago counts.
pytestmark = pytest.mark.settings(answer_ttl_seconds=0, leaderboard_ttl_seconds=0)

NOW = datetime.now(UTC).replace(microsecond=0)
GROUP = {"blockchain": "solana", "type": "kol"}
LIMITS = (1, 2, 3, 7, 39, 40, 41, 10**12)


def address(number: int) -> str:
    """A Solana address, another for each number, in no order."""
    return base58.b58encode(random.Random(number).randbytes(32)).decode()


def wallets(numbers: range) -> list[Row]:
    """Tracked wallets of one group."""
    return [GROUP | {"wallet_address": address(number)} for number in numbers]


def trades(count: int, seed: int) -> list[Row]:
    """Trades of wallet 0, many of them at the same time, with the same signature, in several tokens."""
    chance = random.Random(seed)
    rows = {
        (signature, mint, side, index): {
            "blockchain": "solana",
            "wallet_address": address(0),
            "tx_signature": signature,
            "mint": mint,
            "transaction_type": side,
            "token_amount": "1",
            "value": str(number),
            "created_at": (NOW - timedelta(microseconds=500_000 * chance.randint(0, 8))).isoformat(),
            "event_index": index,
        }
        for number in range(count * 4)
        for signature, mint, side, index in [
            (
                f"{chance.choice('aBé')}{seed}",
                chance.choice([mint_of("x"), mint_of("X"), mint_of("y")]),
                chance.choice(["buy", "sell"]),
                chance.randint(0, 12),
            )
        ]
    }
    return list(rows.values())[:count]


@pytest.fixture
def importer(database_url: str) -> Importer:
    """Takes rows in."""
    return Importer(database_url)


def walk(
    caller: Caller, path: str, rows: str, between: Callable[[int], None], **parameters: Any
) -> list[Row]:
    """The rows of all pages; `between` is called after each page with the number of pages so far."""
    found: list[Row] = []
    cursor: str | None = ""
    pages = 0
    while cursor is not None:
        data = caller.get(path, **parameters, cursor=cursor)
        assert len(data[rows]) <= parameters["limit"]
        found += data[rows]
        cursor = data["pagination"]["next_cursor"]
        assert data["pagination"]["has_more"] is (cursor is not None)
        pages += 1
        between(pages)
    return found


def test_the_list_is_visited_once_in_the_order_of_bytes_at_any_limit(
    caller: Caller, importer: Importer
) -> None:
    importer.wallets([*wallets(range(40)), GROUP | {"type": "smart", "wallet_address": address(99)}])
    expected = sorted((address(number) for number in range(40)), key=str.encode)
    for limit in LIMITS:
        pages = caller.pages("/wallets", "wallets", **GROUP, limit=limit)
        assert [wallet["wallet_address"] for wallet in pages] == expected
    whole = caller.get("/wallets", **GROUP)
    assert [wallet["wallet_address"] for wallet in whole["wallets"]] == expected
    assert whole["pagination"] == {"total": 40, "limit": 40, "next_cursor": None, "has_more": False}
    first = caller.get("/wallets", **GROUP, limit=3, cursor="")
    assert first["pagination"] | {"next_cursor": None} == {
        "total": 40,
        "limit": 3,
        "next_cursor": None,
        "has_more": True,
    }
    rest = caller.get("/wallets", **GROUP, cursor=first["pagination"]["next_cursor"])
    assert [wallet["wallet_address"] for wallet in first["wallets"] + rest["wallets"]] == expected


def test_wallets_added_while_the_list_is_paged_cost_and_repeat_none(
    caller: Caller, importer: Importer
) -> None:
    importer.wallets(wallets(range(12)))

    def add(pages: int) -> None:
        if pages < 8:
            importer.wallets(wallets(range(10 * pages + 12, 10 * pages + 22)))

    found = [row["wallet_address"] for row in walk(caller, "/wallets", "wallets", add, **GROUP, limit=5)]
    assert found == sorted(set(found), key=str.encode)
    assert set(found) >= {address(number) for number in range(12)}


def test_trades_of_equal_times_are_visited_once_in_their_order_at_any_limit(
    caller: Caller, importer: Importer
) -> None:
    rows = trades(40, seed=1)
    importer.wallets(wallets(range(1)))
    importer.trades(rows)
    ledger = Ledger()
    ledger.add_wallets(wallets(range(1)))
    ledger.add_trades(rows)
    expected = ledger.history(datetime.now(UTC), "solana", address(0))["trades"]
    assert len(expected) == 40
    for limit in LIMITS:
        question = GROUP | {"address": address(0), "limit": limit}
        assert caller.pages("/wallets/history", "trades", **question) == expected


def test_trades_added_while_a_history_is_paged_cost_and_repeat_none(
    caller: Caller, importer: Importer
) -> None:
    importer.wallets(wallets(range(1)))
    importer.trades(trades(30, seed=1))
    question = GROUP | {"address": address(0), "limit": 4}
    before = caller.pages("/wallets/history", "trades", **question)

    def add(pages: int) -> None:
        if pages < 6:
            # Newer ones, older ones, and some of the very time at which the page ends.
            importer.trades(trades(8, seed=pages + 1))

    found = walk(caller, "/wallets/history", "trades", add, **question)
    told = [tuple(row.items()) for row in found]
    assert len(set(told)) == len(told)
    assert [row for row in found if row["tx_signature"].endswith("1")] == before
    assert [row["created_at"] for row in found] == sorted((row["created_at"] for row in found), reverse=True)


def test_every_page_of_a_history_has_all_lifetime_figures(caller: Caller, importer: Importer) -> None:
    importer.wallets(wallets(range(1)))
    importer.trades(trades(10, seed=1))
    first = caller.get("/wallets/history", **GROUP, address=address(0), limit=4)
    second = caller.get(
        "/wallets/history", **GROUP, address=address(0), limit=4, cursor=first["pagination"]["next_cursor"]
    )
    for part in ("profile", "lifetime_stats", "win_rate_distribution", "token_overview"):
        assert first[part] == second[part]
    assert first["lifetime_stats"]["total_tx_count"] == 10


def test_a_page_of_trades_is_50_by_default_and_1000_at_most(caller: Caller, importer: Importer) -> None:
    importer.wallets(wallets(range(1)))
    rows = [trades(1, seed=1)[0] | {"tx_signature": f"s{number}"} for number in range(1001)]
    importer.trades(rows)
    question = GROUP | {"address": address(0)}
    data = caller.get("/wallets/history", **question)
    assert (len(data["trades"]), data["pagination"]["limit"], "warnings" in data) == (50, 50, False)
    data = caller.get("/wallets/history", **question, limit=1000)
    assert (len(data["trades"]), data["pagination"]["limit"], "warnings" in data) == (1000, 1000, False)
    data = caller.get("/wallets/history", **question, limit=1001)
    assert (len(data["trades"]), data["pagination"]["limit"]) == (1000, 1000)
    assert data["pagination"]["has_more"] is True
    assert [type(warning) for warning in data["warnings"]] == [str]


def test_a_cursor_belongs_to_its_operation_and_filters(caller: Caller, importer: Importer) -> None:
    importer.wallets([*wallets(range(3)), GROUP | {"type": "smart", "wallet_address": address(99)}])
    importer.trades(trades(3, seed=1))
    questions: list[tuple[str, Row]] = [
        ("/wallets", GROUP),
        ("/wallets", GROUP | {"type": "smart"}),
        ("/wallets/history", GROUP | {"address": address(0)}),
        ("/wallets/history", GROUP | {"address": address(1)}),
        ("/wallet/leaderboard", GROUP | {"period": "6h"}),
        ("/wallet/leaderboard", GROUP | {"period": "1d"}),
    ]
    made = {}
    for number, (path, question) in enumerate(questions):
        made[number] = caller.get(path, **question, limit=1)["pagination"]["next_cursor"]
    assert made[0]
    assert made[2]
    for own, cursor in made.items():
        for number, (path, question) in enumerate(questions):
            document = caller.ask(path, **question, limit=1, cursor=cursor or "made up")
            assert document["success"] is (number == own and cursor is not None)
