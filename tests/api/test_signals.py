"""Signals: edges of the window, state at its start and end, prices of then, optional arguments."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, BEN, GROUP, SMART, UNTRACKED, price_row, trade_row

pytestmark = pytest.mark.settings(answer_ttl_seconds=0, leaderboard_ttl_seconds=0)

NOW = datetime.now(UTC).replace(microsecond=0) - timedelta(days=3)
SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)
DAY = timedelta(hours=24)
MINT, OTHER = mint_of("mint"), mint_of("other")


def ask(caller: Caller, mode: str, as_of: datetime = NOW, **arguments: Any) -> list[Row]:
    """Return the signals of the group as of a moment, of a single wallet by default."""
    question = GROUP | {"mode": mode, "as_of": as_of.isoformat(), "min_wallets": 1} | arguments
    signals: list[Row] = caller.get("/signals", **question)["signals"]
    return signals


def mints(caller: Caller, mode: str, as_of: datetime = NOW, **arguments: Any) -> list[str]:
    """Return the mints of the signals, in their order."""
    return [signal["token"]["mint"] for signal in ask(caller, mode, as_of, **arguments)]


def sell(address: str, signature: str, at: datetime, **fields: Any) -> Row:
    """A sell of one token for one SOL."""
    return trade_row(address, signature, at, transaction_type="sell", **fields)


def test_a_window_is_open_at_its_start_and_closed_at_its_end(caller: Caller, importer: Importer) -> None:
    importer.trades([trade_row(ANN, "a", NOW - DAY), trade_row(BEN, "b", NOW - DAY + SECOND)])
    (signal,) = ask(caller, "cluster")
    assert [wallet["profile"]["wallet_address"] for wallet in signal["wallets"]] == [BEN]
    assert (signal["window"]["wallet_count"], signal["token_stats"]["wallet_count"]) == (1, 1)
    assert ask(caller, "cluster", NOW - DAY - SECOND) == []
    (earlier,) = ask(caller, "cluster", NOW - DAY)
    assert [wallet["profile"]["wallet_address"] for wallet in earlier["wallets"]] == [ANN]
    # Ann had bought before.
    assert mints(caller, "entry") == []
    assert mints(caller, "entry", NOW - DAY) == mints(caller, "entry", hours=25) == [MINT]


def test_an_entry_is_one_of_the_group_alone_however_long_ago(caller: Caller, importer: Importer) -> None:
    importer.trades([trade_row(ANN, "a", NOW), trade_row(SMART, "s", NOW - 400 * DAY)])
    assert mints(caller, "entry") == [MINT]
    # A sell is no buy.
    importer.trades([sell(BEN, "b", NOW - 300 * DAY)])
    assert mints(caller, "entry") == [MINT]
    importer.trades([trade_row(BEN, "c", NOW - 300 * DAY)])
    assert mints(caller, "entry") == []
    assert mints(caller, "cluster") == [MINT]


def test_a_value_counts_for_each_wallet_over_all_of_its_buys(caller: Caller, importer: Importer) -> None:
    importer.trades(
        [
            trade_row(ANN, "a", NOW, value="0.6"),
            trade_row(ANN, "b", NOW - HOUR, value="0.4"),
            trade_row(BEN, "c", NOW, value="0.999999999"),
        ]
    )
    for min_value, wallets in (("0", 2), ("0.999999999", 2), ("1", 1)):
        (signal,) = ask(caller, "cluster", min_value=min_value)
        assert signal["window"]["wallet_count"] == len(signal["wallets"]) == wallets
        # What the group did does not depend on it.
        assert signal["token_stats"]["wallet_count"] == 2
        # A trade of the very moment counts once.
        assert (signal["wallets"][0]["total_buy"], signal["wallets"][0]["buy_txn"]) == (1, 2)
    assert ask(caller, "cluster", min_value="1.000000001") == []


def test_an_exit_was_held_at_the_start_or_within_and_is_not_at_the_end(
    caller: Caller, importer: Importer
) -> None:
    importer.trades(
        [
            trade_row(ANN, "a", NOW - 2 * DAY, token_amount="100"),
            sell(ANN, "b", NOW - HOUR, token_amount="99"),
            trade_row(BEN, "c", NOW - 2 * HOUR, token_amount="5"),
            sell(BEN, "d", NOW, token_amount="7"),
            # Never held, and held until before the window.
            sell(ANN, "e", NOW, mint=OTHER),
            trade_row(BEN, "f", NOW - 3 * DAY, mint=OTHER, token_amount="3"),
            sell(BEN, "g", NOW - 2 * DAY, mint=OTHER, token_amount="3"),
            sell(BEN, "h", NOW - HOUR, mint=OTHER),
        ]
    )
    # One percent is held.
    (signal,) = ask(caller, "exit")
    assert [wallet["profile"]["wallet_address"] for wallet in signal["wallets"]] == [BEN]
    assert "bought_at" in signal["wallets"][0]
    importer.trades([sell(ANN, "i", NOW, token_amount="0.000001")])
    (signal,) = ask(caller, "exit", min_wallets=2)
    assert [wallet["profile"]["wallet_address"] for wallet in signal["wallets"]] == [ANN, BEN]
    assert "bought_at" not in signal["wallets"][0]
    assert signal["window"]["first_buy_at"] == (NOW - HOUR).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert signal["window"]["time_span_minutes"] == 60
    assert signal["token_stats"]["still_holding_count"] == 0
    # Bought again later: an exit as of then all the same.
    importer.trades([trade_row(BEN, "j", NOW + SECOND)])
    assert ask(caller, "exit", min_wallets=2) == [signal]
    assert len(ask(caller, "exit", NOW + SECOND)[0]["wallets"]) == 1


def test_what_was_bought_at_the_start_of_the_window_was_held_then(caller: Caller, importer: Importer) -> None:
    importer.trades([trade_row(ANN, "a", NOW - DAY, token_amount="2"), sell(ANN, "b", NOW, token_amount="2")])
    (signal,) = ask(caller, "exit")
    assert (signal["wallets"][0]["buy_txn"], signal["wallets"][0]["window_buy_txn"]) == (1, 0)
    assert (signal["window"]["total_invested"], signal["window"]["total_tokens_bought"]) == (0, 0)
    # Of an exit, a value is that of the sells.
    assert mints(caller, "exit", min_value="1") == [MINT]
    assert mints(caller, "exit", min_value="1.1") == []
    assert mints(caller, "exit", NOW - SECOND) == []


def test_the_last_of_several_trades_of_one_moment_decides(caller: Caller, importer: Importer) -> None:
    # In the order of the walk: buys, then sells by signature and index.
    importer.trades(
        [
            sell(ANN, "b", NOW, token_amount="0.5", event_index=1),
            sell(ANN, "b", NOW, token_amount="0.5"),
            trade_row(ANN, "z", NOW),
        ]
    )
    assert mints(caller, "exit") == [MINT]
    importer.trades([trade_row(ANN, "y", NOW, token_amount="0.02")])
    assert mints(caller, "exit") == []


def test_no_price_of_later_counts(caller: Caller, importer: Importer) -> None:
    importer.trades([trade_row(ANN, "a", NOW - 2 * HOUR, value="2")])
    importer.prices([price_row("100", NOW - 3 * DAY), price_row("900", NOW + 3 * HOUR)])
    (before,) = ask(caller, "cluster")
    assert (before["token_stats"]["price"], before["wallets"][0]["total_buy_usd"]) == (2, 200)
    importer.trades(
        [trade_row(BEN, "b", NOW + SECOND, value="7"), sell(ANN, "c", NOW + HOUR, value="9", value_usd="9")]
    )
    assert ask(caller, "cluster") == [before]
    assert ask(caller, "cluster", NOW + HOUR)[0]["token_stats"]["price"] == 9
    # The price is too old a day later.
    assert ask(caller, "cluster", NOW + 26 * HOUR, hours=168)[0]["token_stats"]["price"] is None


def test_a_wallet_is_active_if_it_traded_anything_in_the_last_day(caller: Caller, importer: Importer) -> None:
    importer.wallets([GROUP | {"wallet_address": UNTRACKED}])
    importer.trades(
        [
            *(trade_row(address, address, NOW - 2 * DAY) for address in (ANN, BEN, UNTRACKED)),
            trade_row(ANN, "a", NOW - DAY, mint=OTHER),
            trade_row(BEN, "b", NOW - DAY + SECOND, mint=OTHER),
            trade_row(UNTRACKED, "c", NOW - DAY, mint=OTHER),
            trade_row(UNTRACKED, "d", NOW + SECOND, mint=OTHER),
        ]
    )
    signal = next(s for s in ask(caller, "cluster", hours=72) if s["token"]["mint"] == MINT)
    assert {w["profile"]["wallet_address"]: w["is_active"] for w in signal["wallets"]} == {
        ANN: False,
        BEN: True,
        UNTRACKED: False,
    }


def test_strength_grows_with_the_wallets_and_order_is_by_wallets_value_and_mint(
    caller: Caller, importer: Importer
) -> None:
    addresses = [mint_of(f"wallet {number}") for number in range(4)]
    importer.wallets([GROUP | {"wallet_address": address} for address in addresses])
    names = {"four": 4, "two": 2, "big": 1, "one": 1}
    importer.trades(
        trade_row(address, f"{name} {address}", NOW, mint=mint_of(name), value="5" if name == "big" else "1")
        for name, count in names.items()
        for address in addresses[:count]
    )
    found = ask(caller, "cluster")
    assert [signal["token"]["mint"] for signal in found] == [mint_of(name) for name in names]
    assert [signal["signal_strength"] for signal in found] == ["high", "medium", "low", "low"]
    assert [signal["signal_strength"] for signal in ask(caller, "cluster", min_wallets=2)] == [
        "medium",
        "low",
    ]
    assert mints(caller, "cluster", limit=2) == [mint_of("four"), mint_of("two")]
    # Three by default, one of an entry.
    question = GROUP | {"as_of": NOW.isoformat()}
    assert caller.get("/signals", **question, mode="cluster")["count"] == 1
    assert caller.get("/signals", **question, mode="entry")["count"] == 4


def test_without_wallets_the_rest_stays(caller: Caller, importer: Importer) -> None:
    importer.trades([trade_row(ANN, "a", NOW)])
    (whole,) = ask(caller, "cluster")
    (brief,) = ask(caller, "cluster", include_wallets="false")
    assert brief == {name: value for name, value in whole.items() if name != "wallets"}


def test_at_most_a_thousand_wallets_of_a_signal_are_shown(caller: Caller, importer: Importer) -> None:
    addresses = [mint_of(f"wallet {number}") for number in range(1001)]
    importer.wallets([GROUP | {"wallet_address": address} for address in addresses])
    importer.trades(
        trade_row(address, address, NOW - timedelta(seconds=number))
        for number, address in enumerate(addresses)
    )
    question = GROUP | {"mode": "cluster", "as_of": NOW.isoformat()}
    data = caller.get("/signals", **question)
    shown = [wallet["profile"]["wallet_address"] for wallet in data["signals"][0]["wallets"]]
    # The first buyers, without the last of all.
    assert shown == addresses[:0:-1]
    assert data["signals"][0]["window"]["wallet_count"] == 1001
    assert data["warnings"] == ["Only the first 1000 wallets of a signal are shown."]
    assert "warnings" not in caller.get("/signals", **question, include_wallets="false")


def test_supplies_are_those_of_today(caller: Caller, importer: Importer, connection: Any) -> None:
    importer.trades([trade_row(ANN, "a", NOW, token_amount="30"), sell(ANN, "b", NOW, token_amount="10")])
    connection.execute(
        "INSERT INTO token_faces (token_id, symbol, name, decimals, supply, tried_at)"
        " SELECT token_id, 'FRT', 'Fart', 6, 1000, now() FROM tokens"
    )
    (signal,) = ask(caller, "cluster")
    assert (signal["token"]["symbol"], signal["token"]["token_name"]) == ("FRT", "Fart")
    assert (signal["token"]["token_supply"], signal["token"]["token_decimals"]) == (1000, 6)
    (wallet,) = signal["wallets"]
    assert (wallet["supply_pct"], wallet["supply_pct_peak"]) == (2, 3)
    assert signal["window"]["supply_pct_bought"] == Decimal(3)


def test_a_moment_in_the_future_is_refused_and_any_other_answered(caller: Caller) -> None:
    later = datetime.now(UTC) + timedelta(minutes=1)
    error = caller.refused("/signals", **GROUP, mode="cluster", as_of=later.isoformat())
    assert (error["code"], error["parameter"]) == ("invalid_parameter", "as_of")
    assert (
        caller.get("/signals", **GROUP, mode="cluster", as_of="0001-01-01")["as_of"] == "1970-01-01T00:00:00Z"
    )
    now = datetime.now(UTC)
    data = caller.get("/signals", **GROUP, mode="cluster", as_of=now.isoformat())
    assert data["as_of"] == now.strftime("%Y-%m-%dT%H:%M:%SZ")


def test_a_removed_or_retyped_wallet_is_in_no_signal_of_the_past(caller: Caller, importer: Importer) -> None:
    importer.wallets([GROUP | {"wallet_address": UNTRACKED}])
    importer.trades([trade_row(UNTRACKED, "a", NOW)])
    assert mints(caller, "cluster") == [MINT]
    importer.wallets([{"blockchain": "solana", "type": "smart", "wallet_address": UNTRACKED}])
    assert mints(caller, "cluster") == []
    assert mints(caller, "cluster", type="smart") == [MINT]
