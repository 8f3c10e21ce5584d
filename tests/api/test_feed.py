"""GET /v1/transactions/latest, /timerange and /count: the trades of a group, exactly once and in order."""

import gzip
import random
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from tests.ledger import random_trades
from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row, parsed
from tests.ledger.mints import evm_mint_of, mint_of
from tests.ledger.rows import trade_row

# Responses are not cached: what was imported a moment ago counts.
pytestmark = pytest.mark.settings(answer_ttl_seconds=0)

FIRST = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"
SECOND = "So11111111111111111111111111111111111111112"
EVM = "0xabcdef0123456789abcdef0123456789abcdef01"
GROUP = {"blockchain": "solana", "type": "kol"}
NOW = datetime.now(UTC).replace(microsecond=0)
LATEST, TIMERANGE, COUNT = (f"/transactions/{mode}" for mode in ("latest", "timerange", "count"))


@pytest.fixture
def importer(database_url: str) -> Importer:
    """Takes rows in, for two wallets of Solana and one of Ethereum."""
    importer = Importer(database_url)
    importer.wallets(
        [
            GROUP | {"wallet_address": FIRST, "name": "Ann", "copytrade_link": "https://copy.example/ann"},
            GROUP | {"wallet_address": SECOND},
            {"blockchain": "eth", "type": "kol", "wallet_address": EVM},
        ]
    )
    return importer


def trade(signature: str, ago: timedelta, value: str = "1", **fields: Any) -> Row:
    """A buy of the first wallet."""
    return trade_row(FIRST, signature, NOW - ago, value=value, **fields)


def signatures(data: Row) -> list[str]:
    """The trades of a response."""
    return [row["tx_signature"] for row in data["transactions"]]


def test_a_group_without_trades_has_an_empty_feed(caller: Caller, importer: Importer) -> None:
    empty = GROUP | {"currency": "SOL", "count": 0, "transactions": []}
    pagination = {"limit": 50, "total": 0, "has_more": False, "next_cursor": None}
    assert caller.get(LATEST, **GROUP) == empty | {"mode": "latest", "pagination": pagination}
    window = {"total": 0, "time_window_seconds": 3600}
    assert caller.get(TIMERANGE, **GROUP) == empty | {"mode": "timerange"} | window
    none = {"mode": "count", "count": 0, "wallet_count": 0, "time_window_seconds": 86400}
    assert caller.get(COUNT, **GROUP) == GROUP | none


@pytest.mark.parametrize("limit", [1, 7, 1000])
def test_pages_hold_every_trade_once_and_in_order(caller: Caller, database_url: str, limit: int) -> None:
    ledger = random_trades.import_coinciding(Importer(database_url), 400 if limit > 1 else 60, NOW)
    for type in random_trades.TYPES:
        for mint in (None, mint_of("mint-3")):
            group = {"blockchain": "solana", "type": type, "mint": mint}
            found = caller.pages(LATEST, "transactions", **group, limit=limit)
            assert found == ledger.latest(NOW, "solana", type, mint)


def test_pages_hold_every_trade_once_while_others_are_imported_moved_and_removed(
    caller: Caller, database_url: str
) -> None:
    importer = Importer(database_url, batch_rows=50)
    wallets = random_trades.wallets(12)
    types = {row["wallet_address"]: row["type"] for row in wallets}
    importer.wallets(wallets)
    rows = random_trades.trades(3000, 12, NOW, days=3, late=0)
    # So that what is added is older and newer than what is there.
    random.Random(1).shuffle(rows)
    start, added = rows[:1000], rows[1000:]
    moved, removed, left = start[:100], start[100:200], start[200:]
    importer.trades(start)

    def change() -> None:
        for number in range(20):
            importer.trades(added[number::20])
            importer.trades([row | {"created_at": NOW.isoformat()} for row in moved[number::20]])
            importer.remove_trades(removed[number::20])

    seen: dict[str, list[int]] = {type: [] for type in random_trades.TYPES}
    with ThreadPoolExecutor(1) as pool:
        changing = pool.submit(change)
        while not changing.done():
            for type in random_trades.TYPES:
                found = caller.pages(LATEST, "transactions", blockchain="solana", type=type, limit=40)
                times = [row["created_at"] for row in found]
                assert times == sorted(times, reverse=True)
                shown = Counter(row["tx_signature"] for row in found)
                own = {row["tx_signature"] for row in left if types[row["wallet_address"]] == type}
                assert {shown[name] for name in own} == {1}
                assert {shown[row["tx_signature"]] for row in (*added, *removed)} <= {0, 1}
                seen[type].append(len(found))
        changing.result()
    # Else this test has seen nothing of the changes.
    assert all(len(set(counts)) > 3 for counts in seen.values()), seen


def test_pagination_is_repeated_beside_data(caller: Caller, importer: Importer) -> None:
    importer.trades([trade(name, timedelta(minutes=5)) for name in "abc"])
    document = caller.ask(LATEST, **GROUP, limit=2)
    assert list(document) == ["success", "data", "pagination", "meta"]
    assert document["pagination"] == document["data"]["pagination"]
    pagination = document["pagination"]
    assert (pagination["limit"], pagination["total"], pagination["has_more"]) == (2, 3, True)
    last = caller.ask(LATEST, **GROUP, limit=2, cursor=pagination["next_cursor"])
    assert last["pagination"] == {"limit": 2, "total": 3, "has_more": False, "next_cursor": None}
    assert signatures(last["data"]) == ["a"]
    assert "pagination" not in caller.ask(TIMERANGE, **GROUP)


def test_a_large_page_is_the_same_compressed(caller: Caller, importer: Importer) -> None:
    importer.trades([trade(f"s{number}", timedelta(minutes=5)) for number in range(30)])
    headers = {"Authorization": f"Bearer {caller.key}", "Accept-Encoding": "gzip"}
    for _ in range(2):
        response = caller.client.get(f"/v1{LATEST}", query_string=GROUP | {"limit": 20}, headers=headers)
        assert response.headers["Content-Encoding"] == "gzip"
        body = gzip.decompress(response.data)
        assert parsed(body)["pagination"] == parsed(body)["data"]["pagination"]
    again = caller.client.get(
        f"/v1{LATEST}",
        query_string=GROUP | {"limit": 20},
        headers=headers | {"If-None-Match": response.headers["ETag"]},
    )
    assert again.status_code == 304


def test_a_cursor_belongs_to_its_group_and_token(caller: Caller, importer: Importer) -> None:
    importer.trades([trade(name, timedelta(minutes=5)) for name in "abc"])
    cursor = caller.get(LATEST, **GROUP, limit=1)["pagination"]["next_cursor"]
    assert signatures(caller.get(LATEST, **GROUP, cursor=cursor)) == ["b", "a"]
    for question in (
        GROUP | {"type": "smart"},
        GROUP | {"mint": mint_of("mint")},
        {"blockchain": "bnb", "type": "kol"},
    ):
        error = caller.ask(LATEST, **question, cursor=cursor)["error"]
        assert (error["code"], error["parameter"]) == ("invalid_parameter", "cursor")


def test_what_is_capped_is_warned_of(caller: Caller, importer: Importer) -> None:
    importer.trades([trade("a", timedelta(minutes=5)), trade("b", timedelta(minutes=6))])
    latest = caller.get(LATEST, **GROUP, limit=1001)
    assert latest["warnings"] == ["limit was capped from 1001 to 1000."]
    assert latest["pagination"]["limit"] == 1000
    within = caller.get(TIMERANGE, **GROUP, hours=1, seconds=1, limit=1)
    assert (within["time_window_seconds"], within["count"], within["total"]) == (3600, 1, 2)
    assert within["warnings"] == [
        "The window was capped from 3601 to 3600 seconds.",
        "Only the newest 1 of 2 trades are shown.",
    ]
    large = caller.get(TIMERANGE, **GROUP, limit=1001)
    assert large["warnings"] == ["limit was capped from 1001 to 1000."]
    counted = caller.get(COUNT, **GROUP, hours=25)
    assert (counted["time_window_seconds"], counted["count"]) == (86400, 2)
    assert counted["warnings"] == ["The window was capped from 90000 to 86400 seconds."]


def test_only_the_feed_without_a_window_has_what_is_ahead_of_the_clock(
    caller: Caller, importer: Importer
) -> None:
    importer.trades(
        [
            trade("ahead", NOW - datetime.now(UTC) - timedelta(minutes=4)),
            trade("ahead too", NOW - datetime.now(UTC) - timedelta(minutes=4), wallet_address=SECOND),
            trade("past", timedelta(minutes=4)),
        ]
    )
    assert signatures(caller.get(LATEST, **GROUP)) == ["ahead too", "ahead", "past"]
    assert signatures(caller.get(TIMERANGE, **GROUP)) == ["past"]
    counted = caller.get(COUNT, **GROUP)
    assert (counted["count"], counted["wallet_count"]) == (1, 1)
    assert caller.get(COUNT, **GROUP, mint=mint_of("mint"))["wallet_count"] == 1


def test_a_token_is_described_when_any_tracked_wallet_traded_it(caller: Caller, importer: Importer) -> None:
    eth = {"blockchain": "eth", "wallet_address": EVM, "mint": evm_mint_of("AB")}
    importer.trades(
        [
            trade("a", timedelta(minutes=3)),
            trade("b", timedelta(minutes=4), token_name="Old", wallet_address=SECOND),
            trade("c", timedelta(minutes=5), token_name="Older"),
            trade("d", timedelta(minutes=5), mint=mint_of("other")),
            trade("e", timedelta(minutes=5), **eth),
        ]
    )
    importer.prices([{"currency": "SOL", "usd": "150", "priced_at": (NOW - timedelta(days=1)).isoformat()}])
    for path in (LATEST, TIMERANGE):
        data = caller.get(path, **GROUP, mint=mint_of("mint"))
        assert (data["mint"], signatures(data)) == (mint_of("mint"), ["a", "b", "c"])
        token = data["token"]
        assert {name: value for name, value in token.items() if value is not None} == {
            "blockchain": "solana",
            "currency": "SOL",
            "mint": mint_of("mint"),
            "token_name": "Old",
            "sol_price_usd": 150,
            "price": 1,
            "price_usd": 150,
            "price_at": (NOW - timedelta(minutes=3)).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        # Known, but to no wallet of this type.
        other = caller.get(path, blockchain="solana", type="whale", mint=mint_of("mint"))
        assert (other["token"], other["transactions"]) == (token, [])
        unknown = caller.get(path, **GROUP, mint=mint_of("nowhere"))
        assert (unknown["mint"], unknown["transactions"], "token" in unknown) == (
            mint_of("nowhere"),
            [],
            False,
        )
        evm = caller.get(path, blockchain="eth", type="kol", mint=evm_mint_of("aB"))
        assert (evm["mint"], evm["token"]["mint"], evm["token"]["token_name"]) == (
            evm_mint_of("ab"),
            evm_mint_of("ab"),
            "",
        )
        assert evm["token"]["sol_price_usd"] is None
        assert "token" not in caller.get(path, **GROUP)


@pytest.mark.settings(answer_ttl_seconds=60.0)
def test_a_feed_is_shared_for_a_second_at_most(caller: Caller, importer: Importer) -> None:
    importer.trades([trade("first", timedelta(minutes=2))])
    for path in (LATEST, TIMERANGE, "/wallets"):
        caller.get(path, **GROUP)
    importer.trades([trade("second", timedelta(minutes=1))])
    importer.wallets([GROUP | {"wallet_address": "1" * 32}])
    time.sleep(1.1)
    for path in (LATEST, TIMERANGE):
        assert signatures(caller.get(path, **GROUP)) == ["second", "first"]
    assert len(caller.get("/wallets", **GROUP)["wallets"]) == 2


@pytest.mark.settings(token_price_min_value_usd=Decimal(200), token_price_max_age_seconds=3600)
def test_settings_decide_which_trades_make_a_price(caller: Caller, importer: Importer) -> None:
    importer.trades(
        [
            trade("small", timedelta(minutes=3), "3", value_usd="199"),
            trade("large", timedelta(minutes=4), "2", value_usd="200"),
            trade("old", timedelta(minutes=61), "5", value_usd="500", mint=mint_of("other")),
        ]
    )
    prices = [
        caller.get(path, **GROUP, mint=mint_of("mint"))["token"]["price"] for path in (LATEST, TIMERANGE)
    ]
    assert prices == [2, 2]
    assert caller.get(LATEST, **GROUP, mint=mint_of("other"))["token"]["price"] is None
    # Two tokens at 2, which cost 3 and 2.
    wallet = {"blockchain": "solana", "address": FIRST}
    record = caller.get("/wallets/history", **wallet, type="kol", overview="false")
    assert record["lifetime_stats"]["unrealized_pnl"] == -1
    assert record["lifetime_stats"]["priced_tokens_count"] == 1
    rows = caller.get("/wallets/tracker", **wallet)["period_history_tokens"]
    assert {row["mint"]: row["unrealized_pnl"] for row in rows} == {
        mint_of("mint"): -1,
        mint_of("other"): None,
    }
