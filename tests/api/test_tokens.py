"""GET /v1/tokens/transactions, /stats and /holders: by whom, in what order, and of which token."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from tests.ledger import random_trades
from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import evm_mint_of, mint_of
from tests.ledger.rows import trade_row
from tests.naive import Ledger

# Responses are not cached: what was imported a moment ago counts.
pytestmark = pytest.mark.settings(answer_ttl_seconds=0)

A = "4wBqpZM9xaSheZzJSMawUKKwhdpChKbZ5eu5ky4Vigw"
B = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"
C = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
EVM = "0xabcdef0123456789abcdef0123456789abcdef01"
NOW = datetime.now(UTC).replace(microsecond=0)
MINUTE = timedelta(minutes=1)
TRANSACTIONS, STATS, HOLDERS = (f"/tokens/{name}" for name in ("transactions", "stats", "holders"))
OF_MINT = {"blockchain": "solana", "mint": mint_of("mint")}


@pytest.fixture
def importer(database_url: str) -> Importer:
    """Imports rows, for a wallet of each type of Solana and one of Ethereum."""
    importer = Importer(database_url)
    types = {A: "kol", B: "smart", C: "whale"}
    importer.wallets(
        [
            *(
                {"blockchain": "solana", "type": type, "wallet_address": address, "copytrade_link": type}
                for address, type in types.items()
            ),
            {"blockchain": "eth", "type": "kol", "wallet_address": EVM},
        ]
    )
    return importer


def trade(address: str, side: str, ago: timedelta, amount: str, value: str, **fields: Any) -> Row:
    """A trade in a token, one of this wallet at that time."""
    more = {"transaction_type": side, "token_amount": amount, "value": value, **fields}
    return trade_row(address, f"{ago.total_seconds()}", NOW - ago, **more)


def at(ago: timedelta) -> str:
    """A time as it is shown."""
    return (NOW - ago).strftime("%Y-%m-%dT%H:%M:%SZ")


def import_example(importer: Importer) -> None:
    """Three wallets: one bought and sold a part, one bought, one sold what it never bought."""
    importer.prices([{"currency": "SOL", "usd": "100", "priced_at": (NOW - timedelta(days=3)).isoformat()}])
    importer.trades(
        [
            trade(A, "buy", 90 * MINUTE, "100", "1", token_name="Coin"),
            trade(A, "buy", 80 * MINUTE, "100", "3"),
            trade(A, "sell", 70 * MINUTE, "50", "2"),
            trade(B, "buy", 60 * MINUTE, "1000", "8", value_usd="900"),
            trade(C, "sell", 50 * MINUTE, "10", "0.5"),
            trade(C, "buy", 40 * MINUTE, "1", "1", mint=mint_of("other")),
        ]
    )


def test_stats_show_all_traders_and_their_sums(caller: Caller, importer: Importer) -> None:
    import_example(importer)
    data = caller.get(STATS, **OF_MINT)
    assert (data["token"]["token_name"], data["token"]["price"]) == ("Coin", Decimal("0.05"))
    assert data["total_holders"] == {
        "kol_count": 1,
        "smart_count": 1,
        "whale_count": 1,
        "still_holding_count": 2,
    }
    assert data["total_holdings"] == {
        "token_amount": 1150,
        "token_amount_peak": 1200,
        "supply_pct": None,
        "supply_pct_peak": None,
    }
    hours = data["total_statistics"].pop("time_since_first_entry_hours")
    assert Decimal("1.5") <= hours < 2
    assert data["total_statistics"] == {
        "total_buy": 12,
        "total_buy_usd": 1300,  # 100 + 300 by the latest price, and 900
        "total_sell": Decimal("2.5"),
        "total_sell_usd": 250,
        "total_volume": Decimal("14.5"),
        "total_volume_usd": 1550,
        "net_flow": Decimal("9.5"),
        "net_flow_usd": 1050,
        "buying_pressure": Decimal("0.8276"),
        "avg_position_size": 6,
        "largest_position": 8,
        "first_entry_time": at(90 * MINUTE),
        "first_entry_type": "kol",
        "first_entry_wallet_address": A,
        "latest_entry_time": at(60 * MINUTE),
        "latest_entry_type": "smart",
        "latest_entry_wallet_address": B,
    }
    assert [row["profile"]["wallet_address"] for row in data["traders"]] == [B, A, C]
    trader = data["traders"][1]
    assert trader["profile"]["copytrade_link"] == "kol"
    assert trader["trader_holdings"] == {
        "token_amount": 150,
        "token_amount_peak": 200,
        "bag_pct": 75,
        "still_holding": True,
        "supply_pct": None,
        "supply_pct_peak": None,
        "remaining_sol": Decimal("7.5"),
        "remaining_usd": 750,
        "unrealized_pnl_sol": Decimal("4.5"),  # what is left cost 3
        "unrealized_pnl_usd": 450,
        "unrealized_pnl_pct": 150,
        "entry_market_cap": None,
        "entry_market_cap_usd": None,
    }
    assert trader["trader_stats"] == {
        "buy": 4,
        "buy_usd": 400,
        "buy_count": 2,
        "buy_tokens": 200,
        "sell": 2,
        "sell_usd": 200,
        "sell_count": 1,
        "sell_tokens": 50,
        "volume_buy": 4,
        "volume_buy_usd": 400,
        "volume_sell": 2,
        "volume_sell_usd": 200,
        "avg_buy_price": Decimal("0.02"),
        "realized_pnl": 1,  # never sells minus buys
        "realized_pnl_percentage": 100,
        "first_trade_at": at(90 * MINUTE),
        "last_trade_at": at(70 * MINUTE),
    }
    # It sold what it never bought: it holds nothing, whatever the price, and realized nothing.
    holdings, stats = (data["traders"][2][part] for part in ("trader_holdings", "trader_stats"))
    worth = (
        "remaining_sol",
        "remaining_usd",
        "unrealized_pnl_sol",
        "unrealized_pnl_usd",
        "unrealized_pnl_pct",
    )
    assert {holdings[name] for name in worth} == {0}
    assert (stats["buy_usd"], stats["realized_pnl"], stats["realized_pnl_usd"]) == (0, 0, 0)


def test_without_a_price_what_is_held_has_no_worth_and_dollars_are_left_out(
    caller: Caller, importer: Importer
) -> None:
    two_days = timedelta(days=2)
    importer.trades(
        [
            trade(A, "buy", two_days, "100", "1"),
            trade(B, "buy", two_days, "1", "1"),
            trade(B, "sell", two_days - MINUTE, "1", "1", value_usd="5"),
        ]
    )
    data = caller.get(STATS, **OF_MINT)
    assert data["token"]["price"] is None
    holding, sold = data["traders"]
    names = (
        "remaining_sol",
        "remaining_usd",
        "unrealized_pnl_sol",
        "unrealized_pnl_usd",
        "unrealized_pnl_pct",
    )
    assert {holding["trader_holdings"][name] for name in names} == {None}
    assert {sold["trader_holdings"][name] for name in names} == {0}
    assert "buy_usd" not in holding["trader_stats"]
    assert holding["trader_stats"]["sell_usd"] == 0
    assert "realized_pnl_usd" not in sold["trader_stats"]
    totals = data["total_statistics"]
    assert {"total_buy_usd", "net_flow_usd"} & set(totals) == set()
    assert (totals["total_sell_usd"], totals["total_volume_usd"]) == (5, 5)


def test_a_type_limits_the_trades_to_its_wallets(caller: Caller, importer: Importer) -> None:
    import_example(importer)
    data = caller.get(STATS, **OF_MINT, type="smart")
    assert [row["profile"]["wallet_address"] for row in data["traders"]] == [B]
    assert data["total_holders"] == {
        "kol_count": 0,
        "smart_count": 1,
        "whale_count": 0,
        "still_holding_count": 1,
    }
    assert data["total_statistics"]["total_buy"] == 8
    assert [
        row["profile"]["wallet_address"] for row in caller.get(HOLDERS, **OF_MINT, type="kol")["holders"]
    ] == [A]
    page = caller.get(TRANSACTIONS, **OF_MINT, type="kol", limit=2)
    assert (page["type"], page["count"], page["pagination"]["total"]) == ("kol", 2, 3)
    assert "type" not in caller.get(TRANSACTIONS, **OF_MINT)


def test_a_known_token_that_the_type_never_traded_is_empty(caller: Caller, importer: Importer) -> None:
    importer.trades([trade(A, "buy", MINUTE, "1", "1")])
    question = OF_MINT | {"type": "whale"}
    stats = caller.get(STATS, **question)
    assert stats["traders"] == []
    assert set(stats["total_holders"].values()) == {0}
    totals = stats["total_statistics"]
    assert not [name for name in totals if "entry" in name]
    assert set(totals.values()) == {0}
    holders = caller.get(HOLDERS, **question)
    assert (holders["holders"], holders["total"], holders["count"]) == ([], 0, 0)
    page = caller.get(TRANSACTIONS, **question)
    assert (page["transactions"], page["pagination"]["total"]) == ([], 0)
    assert page["token"]["mint"] == mint_of("mint")


@pytest.mark.parametrize("path", [TRANSACTIONS, STATS, HOLDERS])
def test_a_token_without_a_trade_on_the_chain_is_not_found(
    caller: Caller, importer: Importer, path: str
) -> None:
    trades = [
        trade(A, "buy", MINUTE, "1", "1"),
        trade(A, "buy", 2 * MINUTE, "1", "1", mint=mint_of("removed")),
    ]
    importer.trades(trades)
    importer.remove_trades(trades[1:])
    for question in (
        {"blockchain": "solana", "mint": mint_of("nowhere")},
        {"blockchain": "solana", "mint": mint_of("removed")},
        {"blockchain": "eth", "mint": mint_of("mint")},
    ):
        error = caller.ask(path, **question)["error"]
        assert (error["code"], error["reason"]) == ("not_found", "token_not_found")


def test_mints_of_evm_chains_are_found_in_any_case(caller: Caller, importer: Importer) -> None:
    importer.trades([trade(EVM, "buy", MINUTE, "1", "1", blockchain="eth", mint=evm_mint_of("AB"))])
    for path in (TRANSACTIONS, STATS, HOLDERS):
        assert caller.get(path, blockchain="eth", mint=evm_mint_of("aB"))["token"]["mint"] == evm_mint_of(
            "ab"
        )
    assert caller.get(STATS, blockchain="eth", mint=evm_mint_of("ab"))["token"]["currency"] == "ETH"


def test_holders_are_those_with_a_peak_and_sorted_by_what_they_hold(
    caller: Caller, importer: Importer
) -> None:
    import_example(importer)
    importer.trades([trade(C, "buy", 30 * MINUTE, "150", "1"), trade(B, "sell", MINUTE, "1000", "9")])
    data = caller.get(HOLDERS, **OF_MINT)
    shown = [(row["profile"]["wallet_address"], row["holdings"]["token_amount"]) for row in data["holders"]]
    # Of equal quantities the one that was larger once.
    assert shown == [(A, 150), (C, 150), (B, 0)]
    assert (data["total"], data["count"], data["total_holders"]["still_holding_count"]) == (3, 3, 2)
    capped = caller.get(HOLDERS, **OF_MINT, limit=1001)
    assert capped.pop("warnings") == ["limit was capped from 1001 to 1000."]
    assert capped == data
    first = caller.get(HOLDERS, **OF_MINT, limit=1)
    assert (first["total"], first["count"], first["holders"]) == (3, 1, data["holders"][:1])


def test_a_wallet_that_only_sold_a_token_is_a_trader_but_no_holder(
    caller: Caller, importer: Importer
) -> None:
    import_example(importer)
    data = caller.get(HOLDERS, **OF_MINT)
    assert [row["profile"]["wallet_address"] for row in data["holders"]] == [B, A]
    assert data["total_holders"]["whale_count"] == 1


@pytest.mark.parametrize("limit", [1, 7, 1000])
def test_pages_hold_every_trade_of_the_token_once_and_in_order(
    caller: Caller, database_url: str, limit: int
) -> None:
    ledger, importer = Ledger(), Importer(database_url)
    rows = random_trades.trades(500, 12, NOW, days=3)
    for row in rows:
        # Few tokens and few different times, so that most trades have equals.
        row["mint"] = mint_of(f"mint-{ord(row['mint'][5]) % 2}")
        moment = datetime.fromisoformat(row["created_at"])
        row["created_at"] = moment.replace(
            hour=moment.hour // 6 * 6, minute=0, second=0, microsecond=0
        ).isoformat()
    wallets, prices = random_trades.wallets(12), random_trades.prices(NOW, 3)
    # A type with so few of the trades that its positions are read for them.
    for wallet in wallets:
        wallet["type"] = "kol"
    wallets[11]["type"] = "whale"
    for kind, given in (("wallets", wallets), ("prices", prices), ("trades", rows)):
        getattr(importer, kind)(given)
        getattr(ledger, f"add_{kind}")(given)
    for type in (None, "kol", "whale"):
        question = {"blockchain": "solana", "mint": mint_of("mint-0"), "type": type, "limit": limit}
        found = caller.pages(TRANSACTIONS, "transactions", **question)
        assert found == ledger.token_transactions(NOW, "solana", mint_of("mint-0"), type)
        assert len(found) == caller.get(TRANSACTIONS, **question)["pagination"]["total"]
        assert found


def test_pagination_is_repeated_beside_data_and_a_cursor_belongs_to_its_operation(
    caller: Caller, importer: Importer
) -> None:
    import_example(importer)
    document = caller.ask(TRANSACTIONS, **OF_MINT, limit=2)
    assert list(document) == ["success", "data", "pagination", "meta"]
    assert document["pagination"] == document["data"]["pagination"]
    assert set(document["data"]["transactions"][0]).isdisjoint({"mint", "token_name"})
    cursor = document["pagination"]["next_cursor"]
    for question in (OF_MINT | {"type": "kol"}, OF_MINT | {"mint": mint_of("other")}):
        error = caller.ask(TRANSACTIONS, **question, cursor=cursor)["error"]
        assert (error["code"], error["parameter"]) == ("invalid_parameter", "cursor")
    latest = caller.get(
        "/transactions/latest", blockchain="solana", type="kol", mint=mint_of("mint"), limit=1
    )
    cursor = latest["pagination"]["next_cursor"]
    assert caller.ask(TRANSACTIONS, **OF_MINT, type="kol", cursor=cursor)["error"]["parameter"] == "cursor"
    capped = caller.get(TRANSACTIONS, **OF_MINT, limit=1001)
    assert capped["warnings"] == ["limit was capped from 1001 to 1000."]


@pytest.mark.parametrize(
    ("path", "parameter", "value"),
    [
        (TRANSACTIONS, "limit", 0),
        (TRANSACTIONS, "seconds", 1),
        (TRANSACTIONS, "cursor", "none"),
        (TRANSACTIONS, "type", "whales"),
        (STATS, "limit", 1),
        (STATS, "mint", "x" * 129),
        (HOLDERS, "limit", "x"),
        (HOLDERS, "cursor", "a"),
    ],
)
def test_what_is_not_allowed_is_refused_by_name(
    caller: Caller, path: str, parameter: str, value: object
) -> None:
    error = caller.ask(path, **OF_MINT | {parameter: value})["error"]
    assert (error["code"], error["parameter"]) == ("invalid_parameter", parameter)


@pytest.mark.parametrize("path", [TRANSACTIONS, STATS, HOLDERS])
def test_a_mint_is_required_and_the_type_is_one_of_the_chain(caller: Caller, path: str) -> None:
    error = caller.ask(path, blockchain="solana")["error"]
    assert (error["code"], error["parameter"]) == ("missing_parameter", "mint")
    error = caller.ask(path, blockchain="eth", mint=mint_of("mint"), type="whale")["error"]
    assert (error["code"], error["allowed"]) == ("invalid_parameter", ["kol"])


def test_each_trader_is_the_row_of_its_history_and_the_sums_are_those_of_the_traders(
    caller: Caller, database_url: str
) -> None:
    importer = Importer(database_url)
    importer.wallets(random_trades.wallets(9))
    importer.prices(random_trades.prices(NOW, 1))
    importer.trades(random_trades.trades(600, 9, NOW, days=40))
    compared = 0
    for mint in map(mint_of, ("mint-0", "mint-5", "mint-20")):
        data = caller.get(STATS, blockchain="solana", mint=mint)
        totals = data["total_statistics"]
        for figure, name in (("buy", "total_buy"), ("sell", "total_sell")):
            assert sum(row["trader_stats"][figure] for row in data["traders"]) == totals[name]
        held = sum(row["trader_holdings"]["token_amount"] for row in data["traders"])
        assert held == data["total_holdings"]["token_amount"]
        assert len(data["traders"]) == sum(data["total_holders"][f"{t}_count"] for t in random_trades.TYPES)
        holders = caller.get(HOLDERS, blockchain="solana", mint=mint)["holders"]
        peaks = {
            row["profile"]["wallet_address"]
            for row in data["traders"]
            if row["trader_holdings"]["token_amount_peak"]
        }
        assert {row["profile"]["wallet_address"] for row in holders} == peaks
        for row in data["traders"]:
            profile, stats = row["profile"], row["trader_stats"]
            history = caller.get(
                "/wallets/history",
                blockchain="solana",
                type=profile["type"],
                address=profile["wallet_address"],
            )
            (own,) = [token for token in history["token_overview"] if token["mint"] == mint]
            assert (own["invested"], own["sold"]) == (stats["buy"], stats["sell"])
            assert (own["buy_txn"], own["sell_txn"]) == (stats["buy_count"], stats["sell_count"])
            assert own["realized_pnl"] == stats["realized_pnl"]
            assert own["realized_pnl_percentage"] == stats["realized_pnl_percentage"]
            assert (own["first_seen"], own["last_seen"]) == (stats["first_trade_at"], stats["last_trade_at"])
            assert own["still_holding"] == row["trader_holdings"]["still_holding"]
            assert own.get("unrealized_pnl") == row["trader_holdings"]["unrealized_pnl_sol"]
            compared += 1
    assert compared > 10
