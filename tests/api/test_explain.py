"""GET /v1/wallets/explain: each step is that of the walk, and all of them are the figures of the position."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from tests.ledger import random_trades
from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, BEN, UNTRACKED, trade_row
from wallet_api.schemas.explain import RULES

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
    assert table[0].startswith("tx_signature,created_at,")
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
