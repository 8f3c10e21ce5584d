"""GET /v1/wallets/copy: the worked example of docs/figures.md, its terms, its pages, and what is refused.

The figures of any ledger are in tests/integration/test_copies.py.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from tests.ledger import random_trades
from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, BEN, GROUP, UNTRACKED, trade_row

# Responses are not cached: what was imported a moment ago counts.
pytestmark = pytest.mark.settings(answer_ttl_seconds=0)

NOW = datetime.now(UTC).replace(microsecond=0)
NOON = NOW - timedelta(days=2)
PATH = "/wallets/copy"
BOARD = "/wallet/leaderboard"
OF_ANN = {"blockchain": "solana", "address": ANN}
OTHER = mint_of("other")


def trade(address: str, at: timedelta, side: str, tokens: str, value: str, **fields: str) -> Row:
    """A trade so long after noon."""
    signature = f"{address[:3]}{at.total_seconds():.0f}"
    moved = {"transaction_type": side, "token_amount": tokens, "value": value}
    return trade_row(address, signature, NOON + at, **moved, **fields)


def seconds(count: float) -> timedelta:
    """So many seconds."""
    return timedelta(seconds=count)


HOUR = timedelta(hours=1)
EXAMPLE = [
    trade(ANN, seconds(0), "buy", "1000", "10"),
    trade(BEN, seconds(4), "buy", "100", "1.2"),
    trade(BEN, seconds(20), "buy", "100", "1.25"),
    trade(ANN, HOUR, "sell", "500", "10"),
    trade(BEN, HOUR + seconds(30), "sell", "100", "1.5"),
    trade(ANN, 2 * HOUR, "sell", "500", "5"),
    trade(ANN, 47 * HOUR, "buy", "2", "3", mint=OTHER),
]


def shown(row: Row, *names: str) -> list[str]:
    """Members of a row as texts."""
    return [str(row.get(name)) for name in names]


def sums(steps: Sequence[Row]) -> dict[str, Decimal]:
    """The totals that steps add up to."""
    totals = {
        "invested": [step["value"] for step in steps if step["transaction_type"] == "buy"],
        "realized_pnl": [step.get("realized_pnl", Decimal(0)) for step in steps],
        "fees": [step["fee"] for step in steps],
    }
    return {name: sum(parts, Decimal(0)) for name, parts in totals.items()}


def test_the_worked_example(caller: Caller, importer: Importer) -> None:
    importer.trades(EXAMPLE)
    data = caller.get(PATH, **OF_ANN)
    names = ("followed", "price", "source", "value", "token_amount", "fee", "realized_pnl")
    assert [shown(step, *names) for step in data["steps"]] == [
        ["True", "0.0125", "trade", "10", "792", "0.1", "None"],
        ["True", "0.015", "trade", "5.8806", "396", "0.0594", "0.8806"],
        ["False", "None", "None", "0", "396", "0", "-5"],
        ["False", "None", "None", "0", "0", "0", "None"],
    ]
    assert data["steps"][0]["price_at"] == f"{NOON + seconds(20):%Y-%m-%dT%H:%M:%SZ}"
    figures = {
        **{"invested": "10", "realized_pnl": "-4.1194", "fees": "0.1594", "return_percent": "-41.194"},
        **{"unrealized_pnl": "0", "unpriced_cost": "0", "wallet_return_percent": "50"},
        **{"wallet_return_percent_all": "38.4615", "followed": "2", "not_followed": "1"},
        **{"not_followed_value": "3", "stuck": "1", "delay": "5", "fee_percent": "1", "size": "None"},
    }
    assert dict(zip(figures, shown(data, *figures), strict=True)) == figures
    assert sums(data["steps"]) == {name: data[name] for name in ("invested", "realized_pnl", "fees")}
    [warning] = data["warnings"]
    assert "No price moves by the copier's own orders" in warning
    # At Ann's own prices all of it is followed.
    data = caller.get(PATH, **OF_ANN, size="2.5", fee_percent="0", delay=0)
    assert shown(data, "realized_pnl", "followed", "not_followed", "size") == ["1.25", "4", "0", "2.5"]


def test_a_board_has_the_copies_of_its_entries(caller: Caller, importer: Importer) -> None:
    importer.trades(EXAMPLE)
    names = ("copied_return_percent", "followed", "not_followed", "stuck")
    plain = caller.get(BOARD, **GROUP, period="7d")["leaderboard"]
    for span in ({"period": "7d"}, {"since": f"{NOON:%Y-%m-%dT%H:%M:%SZ}"}):
        entries = caller.get(BOARD, **GROUP, **span, copied="true", sort="realized_pnl")["leaderboard"]
        assert {entry["wallet"]: shown(entry, *names) for entry in entries} == {
            ANN: ["-41.194", "2", "1", "1"],
            # Nobody trades in time but for the last of Ben's buys, which he sold to none.
            BEN: ["None", "0", "2", "0"],
        }
        shorter = [{name: entry[name] for name in entry if name not in names} for entry in entries]
        assert sorted(row["wallet"] for row in shorter) == sorted(row["wallet"] for row in plain)
    assert shorter[0].keys() == plain[0].keys()
    table = caller.send(BOARD, **GROUP, period="7d", copied="true", format="csv").text.splitlines()
    assert table[0].count(",stuck") == 1


def test_only_the_first_hundred_entries_are_copied(caller: Caller, importer: Importer) -> None:
    wallets = [row for row in random_trades.wallets(303) if row["type"] == "kol"]
    importer.wallets(wallets)
    importer.trades(trade(row["wallet_address"], seconds(0), "buy", "1", "1") for row in wallets)
    entries = caller.get(BOARD, **GROUP, period="7d", copied="true")["leaderboard"]
    assert [entry["rank"] for entry in entries if "followed" not in entry] == [101]


def test_steps_have_pages(caller: Caller, importer: Importer) -> None:
    importer.trades(EXAMPLE)
    whole = caller.get(PATH, **OF_ANN)
    assert whole["pagination"]["total"] == len(whole["steps"]) == 4
    assert caller.pages(PATH, "steps", **OF_ANN, limit=1) == whole["steps"]
    cursor = caller.get(PATH, **OF_ANN, limit=1)["pagination"]["next_cursor"]
    for other in ({"delay": 6}, {"size": 1}, {"fee_percent": 2}, {"address": BEN}, {"until": "2026-11-01"}):
        assert caller.refused(PATH, **OF_ANN | other, cursor=cursor)["parameter"] == "cursor"
    assert len(caller.get(PATH, **OF_ANN, limit=1001)["warnings"]) == 2


def test_a_wallet_that_never_traded_or_is_not_tracked(caller: Caller, importer: Importer) -> None:
    data = caller.get(PATH, **OF_ANN)
    assert (data["steps"], data["invested"], data["return_percent"]) == ([], 0, None)
    assert caller.refused(PATH, **OF_ANN | {"address": UNTRACKED})["reason"] == "wallet_not_found"


def test_more_trades_than_can_be_walked_are_refused_with_a_window_that_is_not(
    caller: Caller, importer: Importer
) -> None:
    importer.trades(
        trade(ANN, seconds(number), "buy", "1", "1", mint=mint_of(f"{number % 50}"))
        for number in range(2_001)
    )
    error = caller.refused(PATH, **OF_ANN)
    assert (error["code"], error["parameter"]) == ("invalid_parameter", "since")
    [entry] = (board := caller.get(BOARD, **GROUP, period="all", copied="true"))["leaderboard"]
    assert "followed" not in entry
    assert board["warnings"][0].startswith(
        "Entries that are not copied: 1. They have more than 2000 trades each"
    )
    since = error["message"].rpartition("since=")[2].removesuffix(".")
    assert caller.get(PATH, **OF_ANN, since=since)["pagination"]["total"] == 2_000
