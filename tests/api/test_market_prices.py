"""What tokens are worth where markets quote them: the worked example of docs/figures.md, and its edges."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.api.conftest import NewCaller
from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, GROUP, price_row, trade_row

# Responses are not cached: what was imported a moment ago counts.
pytestmark = pytest.mark.settings(answer_ttl_seconds=0)

NOW = datetime.now(UTC).replace(microsecond=0)
# An hour that is over.
NOON = NOW.replace(minute=0, second=0) - timedelta(hours=2)
TOKEN = {"blockchain": "solana", "mint": mint_of("mint")}
WALLET = GROUP | {"address": ANN}
BUY, SELL = {"token_amount": "12", "value": "7.2"}, {"transaction_type": "sell", "token_amount": "2"}


def quote_row(usd: str, at: datetime, liquidity: str | None = "20000", **fields: Any) -> Row:
    """A quote of the token."""
    row = TOKEN | {"usd": usd, "priced_at": at.isoformat(), "liquidity_usd": liquidity}
    return row | fields


def after(minutes: float) -> datetime:
    """A time so many minutes after noon."""
    return NOON + timedelta(minutes=minutes)


def shown(row: Row) -> list[str]:
    """A price with its source, as texts."""
    return [str(row[name]) for name in ("price", "price_source", "liquidity_usd")]


def as_of(caller: Caller, moment: datetime) -> list[str]:
    """The price of the token at a moment."""
    data = caller.get("/tokens/prices", **TOKEN, as_of=f"{moment:%Y-%m-%dT%H:%M:%SZ}")
    return shown(data["tokens"][0])


@pytest.fixture
def example(importer: Importer) -> Iterable[Row]:
    """The trades of the worked example, and the rows of its quotes."""
    importer.prices([price_row("200", after(30)), price_row("200", NOW)])
    importer.trades(
        [
            trade_row(ANN, "bought", after(-60), **BUY),
            trade_row(ANN, "sold", after(0), **SELL),
        ]
    )
    rows = ((20, "90"), (30, "2000"), (39, "2200"), (41, "2300"))
    return [*(quote_row(usd, after(minutes)) for minutes, usd in rows), quote_row("2400", after(50), "900")]


def test_the_worked_example(caller: Caller, importer: Importer, example: list[Row]) -> None:
    before = caller.get("/wallets/history", **WALLET)
    assert shown(caller.get("/tokens/stats", **TOKEN)["token"]) == ["0.5", "trade", "None"]
    for row, verdict in zip(example, ({}, {"far": 1}, {"far": 1}, {}, {"thin": 1}), strict=True):
        assert importer.quotes([row]).not_used == verdict
    prices = [as_of(caller, after(minutes)) for minutes in (55, 60)]
    assert prices == [["0.5", "trade", "None"], ["11.5", "market", "20000"]]
    [now] = caller.get("/tokens/prices", **TOKEN)["tokens"]
    assert (shown(now), str(now["last_price"])) == (["11.5", "market", "20000"], "11.5")
    assert now["price_at"] == now["last_price_at"] == f"{after(41):%Y-%m-%dT%H:%M:%SZ}"
    assert now["price_usd"] == 2300
    # It holds 10, which cost 6.
    history = caller.get("/wallets/history", **WALLET)
    [token] = caller.get("/wallets/tokens", **WALLET)["tokens"]
    worth = [str(token[name]) for name in ("price", "price_source", "worth", "worth_usd", "unrealized_pnl")]
    assert worth == ["11.5", "market", "115", "23000", "109"]
    overview = history["token_overview"][0]
    assert overview == {name: token[name] for name in overview}
    stats = {name: history["lifetime_stats"][name] for name in ("unrealized_pnl", "unpriced_cost")}
    assert stats == {"unrealized_pnl": 109, "unpriced_cost": 0}
    assert before["lifetime_stats"]["unrealized_pnl"] == -1


def test_every_figure_uses_the_same_price(caller: Caller, importer: Importer, example: list[Row]) -> None:
    importer.quotes(example)
    block = caller.get("/tokens/stats", **TOKEN)
    [trader] = block["traders"]
    [traded] = caller.get("/analytics", **GROUP, mode="most_traded")["tokens"]
    [signal] = caller.get("/signals", **GROUP, mode="cluster", min_wallets=1)["signals"]
    [row] = caller.get("/wallets/tracker", **WALLET)["period_history_tokens"]
    feed = caller.get("/tokens/transactions", **TOKEN)["token"]
    latest = caller.get("/transactions/latest", **GROUP, mint=TOKEN["mint"])["token"]
    blocks = (block["token"], feed, latest, signal["token_stats"])
    assert [shown(each) for each in blocks] == [["11.5", "market", "20000"]] * 4
    assert str(traded["price"]) == "11.5"
    gains = (row["unrealized_pnl"], trader["trader_holdings"]["unrealized_pnl_sol"])
    assert [str(gain) for gain in gains] == ["109", "109"]
    assert str(caller.get("/wallets/brief", **WALLET)["held"]["worth"]) == "115"
    early = f"{after(55):%Y-%m-%dT%H:%M:%SZ}"
    [signal] = caller.get("/signals", **GROUP, mode="cluster", min_wallets=1, as_of=early)["signals"]
    assert shown(signal["token_stats"]) == ["0.5", "trade", "None"]


def test_a_token_that_nobody_trades_any_more_has_a_worth(caller: Caller, importer: Importer) -> None:
    importer.prices([price_row("200", NOW)])
    importer.trades([trade_row(ANN, "bought", NOW - timedelta(days=3), **BUY)])
    stats = caller.get("/wallets/history", **WALLET)["lifetime_stats"]
    assert (str(stats["unpriced_cost"]), stats.get("unrealized_pnl")) == ("7.2", None)
    importer.quotes([quote_row("100", NOW - timedelta(minutes=1))])
    stats = caller.get("/wallets/history", **WALLET)["lifetime_stats"]
    assert (str(stats["unpriced_cost"]), str(stats["unrealized_pnl"])) == ("0", "-1.2")
    tracked = caller.get("/wallets/tracker", **WALLET)["period_stats"]
    assert str(tracked["unpriced_cost"]) == "0"


def test_of_a_trade_and_a_quote_at_one_time_the_trade_counts(caller: Caller, importer: Importer) -> None:
    at = NOW - timedelta(minutes=10)
    importer.prices([price_row("200", NOW)])
    importer.trades([trade_row(ANN, "bought", at)])
    importer.quotes([quote_row("300", at)])
    assert shown(caller.get("/tokens/stats", **TOKEN)["token"]) == ["1", "trade", "None"]
    importer.quotes([quote_row("300", at + timedelta(seconds=1))])
    assert shown(caller.get("/tokens/stats", **TOKEN)["token"]) == ["1.5", "market", "20000"]
    importer.trades([trade_row(ANN, "sold", at + timedelta(seconds=2), transaction_type="sell")])
    assert shown(caller.get("/tokens/stats", **TOKEN)["token"]) == ["1", "trade", "None"]


def test_a_quote_grows_as_old_as_a_trade_and_is_then_the_last_price(
    caller: Caller, importer: Importer
) -> None:
    at = NOW - timedelta(days=1, minutes=1)
    importer.prices([price_row("200", at)])
    importer.trades([trade_row(ANN, "bought", NOW - timedelta(days=3))])
    importer.quotes([quote_row("300", at)])
    [token] = caller.get("/tokens/prices", **TOKEN)["tokens"]
    assert (shown(token), str(token["last_price"])) == (["None", "None", "None"], "1.5")
    assert token["last_price_at"] == f"{at:%Y-%m-%dT%H:%M:%SZ}"


@pytest.mark.settings(answer_ttl_seconds=0, token_price_max_age_seconds=172_800)
def test_the_price_of_a_past_moment_stays_when_minutes_are_forgotten(
    new_caller: NewCaller, importer: Importer, connection: Any
) -> None:
    caller, noon = new_caller(), NOON - timedelta(days=1)
    importer.prices([price_row("200", noon + timedelta(minutes=minutes)) for minutes in (0, 60, 120)])
    importer.trades([trade_row(ANN, "bought", noon)])
    importer.quotes(
        [quote_row(str(200 + minutes), noon + timedelta(minutes=minutes)) for minutes in range(1, 130)]
    )
    moments = [noon + timedelta(minutes=minutes) for minutes in range(0, 181, 6)]
    before = [as_of(caller, moment) for moment in moments]
    assert {price for price, _, _ in before} == {"1", "1.295", "1.595", "1.645"}
    connection.execute("DELETE FROM token_quotes WHERE span_seconds = 60")
    assert [as_of(caller, moment) for moment in moments] == before
