"""Signals: the argument `as_of`, defaults, and how many wallets are shown.

Figures are in tests/integration/test_ledger_properties.py.
"""

from datetime import UTC, datetime, timedelta

import pytest

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, BEN, GROUP, UNTRACKED, trade_row

pytestmark = pytest.mark.settings(answer_ttl_seconds=0, leaderboard_ttl_seconds=0)

NOW = datetime.now(UTC).replace(microsecond=0) - timedelta(days=3)


def test_three_wallets_make_a_signal_and_one_an_entry_by_default(caller: Caller, importer: Importer) -> None:
    importer.wallets([GROUP | {"wallet_address": UNTRACKED}])
    importer.trades(
        trade_row(address, f"{address} {mint}", NOW, mint=mint_of(mint), value=value)
        for mint, value, addresses in (
            *(("three", "1", (ANN, BEN, UNTRACKED)), ("two", "1", (ANN, BEN))),
            *(("one", "1", (ANN,)), ("valuable", "2", (ANN,))),
        )
        for address in addresses
    )

    def mints(mode: str, **arguments: int) -> list[str]:
        question = GROUP | {"mode": mode, "as_of": NOW.isoformat()} | arguments
        return [signal["token"]["mint"] for signal in caller.get("/signals", **question)["signals"]]

    three, two, valuable, one = (mint_of(name) for name in ("three", "two", "valuable", "one"))
    assert mints("cluster") == [three]
    assert mints("cluster", min_wallets=2) == [three, two]
    assert mints("cluster", min_transactions=3) == [three]
    assert mints("cluster", min_transactions=4) == []
    assert mints("entry") == [three, two, valuable, one]
    assert mints("entry", limit=3) == [three, two, valuable]
    question = GROUP | {"mode": "entry", "as_of": NOW.isoformat()}
    data = caller.get("/signals", **question, limit=3)
    assert (data["count"], data["total"]) == (3, 4)
    assert data["warnings"] == ["Only the first 3 of 4 signals are shown."]
    data = caller.get("/signals", **question)
    assert (data["count"], data["total"], "warnings" in data) == (4, 4, False)


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


def test_a_moment_in_the_future_is_refused_and_any_other_answered(caller: Caller) -> None:
    later = datetime.now(UTC) + timedelta(minutes=1)
    token = {"blockchain": "solana", "mint": mint_of("mint")}
    for path, asked in (("/signals", GROUP | {"mode": "cluster"}), ("/tokens/prices", token)):
        error = caller.refused(path, **asked, as_of=later.isoformat())
        assert (error["code"], error["parameter"]) == ("invalid_parameter", "as_of")
    now = datetime.now(UTC)
    for moment, shown in (
        ("0001-01-01", "1970-01-01T00:00:00Z"),
        (now.isoformat(), now.strftime("%Y-%m-%dT%H:%M:%SZ")),
    ):
        assert caller.get("/signals", **GROUP, mode="cluster", as_of=moment)["as_of"] == shown


def test_up_to_a_thousand_signals_are_returned(caller: Caller, importer: Importer) -> None:
    mints = [mint_of(f"token {number}") for number in range(1001)]
    importer.trades(trade_row(ANN, mint, NOW, mint=mint) for mint in mints)
    question = GROUP | {"mode": "entry", "as_of": NOW.isoformat()}
    for limit, shown, warnings in (
        (100, 100, ["Only the first 100 of 1001 signals are shown."]),
        (101, 101, ["Only the first 101 of 1001 signals are shown."]),
        (
            *(1001, 1000),
            ["limit was capped from 1001 to 1000.", "Only the first 1000 of 1001 signals are shown."],
        ),
    ):
        data = caller.get("/signals", **question, limit=limit)
        assert (data["count"], len(data["signals"]), data["total"]) == (shown, shown, 1001)
        assert data["warnings"] == warnings


def test_an_exit_by_one_transaction_is_one_of_its_sells(caller: Caller, importer: Importer) -> None:
    importer.wallets([GROUP | {"wallet_address": UNTRACKED}])
    wallets, hour = (ANN, BEN, UNTRACKED), timedelta(hours=1)
    importer.trades(trade_row(each, each, NOW - hour) for each in wallets)
    importer.trades(trade_row(each, "sold", NOW, transaction_type="sell") for each in wallets)
    exits = GROUP | {"mode": "exit", "as_of": (NOW + hour).isoformat()}
    [signal] = caller.get("/signals", **exits)["signals"]
    assert signal["window"]["transaction_count"] == 1
    assert caller.get("/signals", **exits, min_transactions=2)["signals"] == []


def test_a_token_was_left_by_those_who_held_it_and_did_not_at_the_moment(
    caller: Caller, importer: Importer
) -> None:
    trades = {
        # Hours before the moment, and how much: below zero it is sold.
        "left": ((2, 2), (1, -2)),
        "left at the moment": ((2, 2), (0, -2)),
        "left until later": ((2, 2), (1, -2), (-1, 2)),
        "left later": ((2, 2), (1, -1), (-1, -1)),
        "sold in part": ((2, 2), (1, -1)),
        "sold and bought": ((3, 2), (2, -2), (1, 2)),
        "bought before": ((40, 2), (1, -2)),
        "bought before and later": ((40, 2), (1, -2), (-1, 2)),
        "never bought": ((1, -2),),
        "not bought days ago": ((50, -2),),
        "left days ago": ((100, 2), (70, -2)),
        "left before": ((42, 1000), (41, -995), (1, -5)),
        "left and sold": ((42, 2), (41, -1), (1, -1)),
    }
    importer.trades(
        trade_row(
            ANN,
            f"{name} {hours}",
            NOW - timedelta(hours=hours),
            mint=mint_of(name),
            transaction_type="buy" if amount > 0 else "sell",
            token_amount=str(abs(amount)),
        )
        for name, steps in trades.items()
        for hours, amount in steps
    )
    names = {mint_of(name): name for name in trades}

    def left(**arguments: int) -> set[str]:
        question = GROUP | {"mode": "exit", "as_of": NOW.isoformat(), "min_wallets": 1} | arguments
        return {names[signal["token"]["mint"]] for signal in caller.get("/signals", **question)["signals"]}

    of_a_day = {
        *("left", "left at the moment", "left until later"),
        *("bought before", "bought before and later", "left and sold"),
    }
    assert left() == of_a_day
    assert left(hours=168) == of_a_day | {"left before", "left days ago"}
    # What is sold on whole days, and beside them, is one sum.
    assert left(hours=168, min_value=2) == {"left before", "left and sold"}
    assert left(min_wallets=2) == set()
