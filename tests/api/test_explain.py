"""GET /v1/wallets/explain: each step is that of the walk, and all of them are the figures of the position."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from tests.ledger import random_trades
from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, BEN, UNTRACKED, trade_row
from wallet_api.api.schemas.wallet_tokens import RULES
from wallet_api.database import Connection
from wallet_api.ledger.wallet import find_wallet
from wallet_api.queries import cursors
from wallet_api.queries.explain import explain_position

NOW = datetime.now(UTC).replace(microsecond=0)
PATH = "/wallets/explain"
MINT = mint_of("mint")
OF_ANN = {"blockchain": "solana", "address": ANN, "mint": MINT}


def trade(day: int, side: str, tokens: str, value: str) -> dict[str, Any]:
    at = NOW - timedelta(days=30 - day)
    return trade_row(ANN, f"s{day}", at, transaction_type=side, token_amount=tokens, value=value)


def test_every_step_names_its_rule_and_what_is_held_after_it(caller: Caller, importer: Importer) -> None:
    importer.trades(
        [
            *(trade(1, "buy", "100", "1"), trade(3, "buy", "100", "3"), trade(5, "sell", "50", "2")),
            *(trade(6, "sell", "300", "12"), trade(7, "sell", "10", "0.5"), trade(8, "buy", "10", "1")),
        ]
    )
    data = caller.get(PATH, **OF_ANN)
    rows = [
        (row["rule"], row["quantity"], row["cost"], row["peak"], row.get("covered"), row.get("realized_pnl"))
        for row in data["steps"]
    ]
    assert rows == [
        ("a-buy", 100, 1, 100, None, None),
        ("a-buy", 200, 4, 200, None, None),
        ("a-sell-of-what-was-bought", 150, 3, 200, 50, 1),
        ("a-sell-of-more-than-was-bought", 0, 0, 200, 150, 3),
        ("a-sell-without-a-buy", 0, 0, 200, 0, None),
        ("a-buy", 10, 1, 10, None, None),
    ]
    assert [row.get("without_cost") for row in data["steps"]] == [None, None, 0, 6, Decimal("0.5"), None]
    assert [row.get("cost_of_sold") for row in data["steps"]] == [None, None, 1, 3, None, None]
    bought = [NOW - timedelta(days=days) for days in (29, 28, 28)]
    held = [
        datetime.fromisoformat(row["acquired_at"]) if row["acquired_at"] else None for row in data["steps"]
    ]
    assert held == [*bought, None, None, NOW - timedelta(days=22)]
    assert data["steps"][2]["hold_time_minutes"] == 3 * 24 * 60
    totals = data["totals"]
    assert (totals["realized_pnl"], totals["sold_without_cost"], totals["open_cost"]) == (
        4,
        Decimal("6.5"),
        1,
    )
    assert data["pagination"]["total"] == 6
    text = (__import__("pathlib").Path(__file__).parents[2] / "docs" / "figures.md").read_text()
    for rule in RULES:
        assert f"### {rule.replace('-', ' ').capitalize()}\n" in text


def test_the_steps_of_random_ledgers_sum_up_to_the_figures_of_the_history(
    caller: Caller, database_url: str
) -> None:
    tracked, _ = random_trades.fill(Importer(database_url, batch_rows=300), 6, 3000)
    checked = 0
    for wallet in tracked:
        of_wallet = {"blockchain": "solana", "address": wallet["wallet_address"]}
        history = caller.get("/wallets/history", **of_wallet, type=wallet["type"], limit=1)
        for row in history["token_overview"][:12]:
            steps = caller.pages(PATH, "steps", **of_wallet, mint=row["mint"], limit=7)
            whole = caller.get(PATH, **of_wallet, mint=row["mint"], limit=1000)
            # A page is walked from the last empty position before it.
            assert steps == whole["steps"]
            assert whole["totals"] == row
            for figure, of_step in (
                ("realized_pnl", "realized_pnl"),
                ("sold_without_cost", "without_cost"),
            ):
                total = sum((step.get(of_step, 0) for step in steps), Decimal(0))
                # Each step is rounded.
                assert abs(total - row[figure]) <= Decimal("5e-10") * (len(steps) + 1), (figure, row["mint"])
            assert steps[-1]["cost"] == row["open_cost"]
            checked += len(steps)
    assert checked > 500


def test_a_page_is_a_table_too_and_what_is_not_there_is_not_found(caller: Caller, importer: Importer) -> None:
    importer.trades([trade(1, "buy", "100", "1"), trade(2, "sell", "10", "1")])
    table = caller.send(PATH, **OF_ANN, format="csv").text.splitlines()
    assert table[0].startswith("tx_signature,block,block_index,created_at,")
    assert len(table) == 3
    for changed, reason in (
        ({"address": BEN}, "token_not_found"),
        ({"mint": mint_of("nowhere")}, "token_not_found"),
        ({"address": UNTRACKED}, "wallet_not_found"),
    ):
        assert caller.refused(PATH, **OF_ANN | changed)["reason"] == reason
    assert caller.refused(PATH, **OF_ANN | {"mint": "FROG"})["parameter"] == "mint"
    other = caller.get(PATH, **OF_ANN, limit=1)["pagination"]["next_cursor"]
    assert caller.refused(PATH, **OF_ANN | {"mint": mint_of("other")}, cursor=other)["parameter"] == "cursor"


def test_steps_are_in_the_order_of_the_chain_and_show_their_places(
    caller: Caller, importer: Importer
) -> None:
    # Of one second, against the order of their signatures: bought for 1, sold for 2, bought for 3.
    at = NOW - timedelta(days=3)
    rows = [
        trade_row(ANN, "z", at, token_amount="100") | {"block": 7},
        trade_row(ANN, "y", at, token_amount="100", value="2", transaction_type="sell") | {"block": 8},
        trade_row(ANN, "x", at, token_amount="100", value="3") | {"block": 8, "block_index": 5},
        trade_row(ANN, "w", at, token_amount="50", value="4") | {"block": 8, "block_index": 6},
    ]
    importer.trades(rows[::-1])
    data = caller.get(PATH, **OF_ANN)
    shown = [
        (row["tx_signature"], row["cost"], row.get("block"), row.get("block_index")) for row in data["steps"]
    ]
    assert shown == [("z", 1, 7, None), ("y", 0, 8, None), ("x", 3, 8, 5), ("w", 7, 8, 6)]
    assert (data["totals"]["realized_pnl"], data["totals"]["open_cost"]) == (1, 7)
    assert caller.pages(PATH, "steps", **OF_ANN, limit=1) == data["steps"]


def test_a_cursor_of_steps_from_before_trades_had_places_goes_on(
    importer: Importer, connection: Connection
) -> None:
    importer.trades([trade(day, "buy", "1", "1") for day in range(1, 5)])
    wallet = find_wallet(connection, "solana", ANN)
    at = NOW - timedelta(days=28)
    cursor = cursors.encode_cursor(("wallets/explain", "solana", ANN, MINT), [at, False, "s2", 0])
    data = explain_position(connection, wallet, NOW, {"mint": MINT, "limit": 50, "cursor": cursor})
    assert list(data["steps"]["tx_signature"]) == ["s3", "s4"]
