"""GET /v1/wallets/brief: the figures of the board, the history and the tokens of a wallet, in short."""

from tests.ledger import random_trades
from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer
from tests.ledger.rows import ANN, UNTRACKED

PATH = "/wallets/brief"


def test_a_brief_has_the_figures_of_the_operations_that_it_is_made_of(
    caller: Caller, database_url: str
) -> None:
    tracked, _ = random_trades.fill(Importer(database_url), 9, 1500, days=20)
    for wallet in tracked[:4]:
        group = {"blockchain": "solana", "type": wallet["type"]}
        of_wallet = {"blockchain": "solana", "address": wallet["wallet_address"]}
        response = caller.send(PATH, **of_wallet)
        assert len(response.data) <= 6 * 1024
        brief = caller.get(PATH, **of_wallet)
        for name, period in (("all", "all"), ("month", "30d"), ("week", "7d")):
            [entry] = caller.get(
                "/wallet/leaderboard", **group, period=period, address=wallet["wallet_address"]
            )["leaderboard"]
            figures = entry["period_stats"]
            own = {
                key: value
                for key, value in brief[name].items()
                if key not in ("since", "until", "closed_count")
            }
            assert own == {key: figures[key] for key in own}
            assert own.keys() >= {"realized_pnl", "pnl_without_best_token", "win_rate_low", "total_txn"}
            assert brief[name]["closed_count"] == entry["period_win_rate_distribution"]["closed_count"]
            assert ("since" in brief[name]) is (period != "all")
        board = {"period": "30d", "sort": "pnl_without_best_token"}
        [entry] = caller.get("/wallet/leaderboard", **group, **board, address=wallet["wallet_address"])[
            "leaderboard"
        ]
        assert brief["rank"] == entry["rank"]
        history = caller.get("/wallets/history", **of_wallet, type=wallet["type"], limit=3)
        assert brief["latest"] == history["trades"]
        stats = history["lifetime_stats"]
        assert brief["held"]["tokens"] == stats["still_holding_count"]
        assert brief["held"]["open_cost"] == stats["open_cost"]
        if "unrealized_pnl" in stats:
            worth = stats["unrealized_pnl"] + stats["open_cost"] - stats["unpriced_cost"]
            assert brief["held"]["worth"] == worth
        best = caller.get("/wallets/tokens", **of_wallet, sort="realized_pnl", limit=3)["tokens"]
        assert [row["mint"] for row in brief["best"]] == [row["mint"] for row in best]
        worst = caller.get("/wallets/tokens", **of_wallet, sort="realized_pnl", order="asc", limit=3)[
            "tokens"
        ]
        assert [row["mint"] for row in brief["worst"]] == [row["mint"] for row in worst]


def test_a_wallet_that_never_traded_has_a_brief_of_zeros(caller: Caller, importer: Importer) -> None:
    brief = caller.get(PATH, blockchain="solana", address=ANN)
    assert brief["profile"]["name"] == "Ann"
    assert brief["profile"]["copytrade_link"] == "https://copy.example/ann"
    assert (brief["rank"], brief["best"], brief["worst"], brief["latest"]) == (None, [], [], [])
    assert brief["month"]["realized_pnl"] == brief["month"]["total_txn"] == 0
    assert brief["held"] == {"tokens": 0, "open_cost": 0, "unpriced_cost": 0}
    error = caller.refused(PATH, blockchain="solana", address=UNTRACKED)
    assert error["reason"] == "wallet_not_found"
