"""`wallet-api sync trades`: from the provider's rows to the ledger, on any pages."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.ledger.rows import trade_row
from tests.stub import faults
from tests.stub.server import Stub
from tests.stub.swaps import Row, leg, swap
from tests.stub.transactions import WRAPPED
from tests.sync.operator import Operator, addresses, values
from tests.sync.solana import BONK, FART, USDC, WALLET

POOL = "5quBtoiQqxF9Jv6KYKctB59NT3gtJD2Y65kdnB1Uev3h"
NOW = datetime.now(UTC).replace(microsecond=0)
AT = NOW - timedelta(minutes=50)


@pytest.fixture(autouse=True)
def _tracked(operator: Operator) -> None:
    operator.track(("solana", WALLET))


def fart(amount: str, name: str | None = "Fartcoin") -> Row:
    return leg(FART, amount, name)


def sol(amount: str, **fields: Any) -> Row:
    return leg(WRAPPED, amount, "Wrapped SOL", **fields)


def usdc(amount: str) -> Row:
    return leg(USDC, amount, "USDC")


def add(stub: Stub, *rows: Row) -> None:
    """Let the provider have these rows of the wallet."""
    stub.swaps.add("solana", WALLET, *rows)


def test_legs_decide_the_side_and_the_documented_row_lands_to_its_last_digit(
    stub: Stub, operator: Operator
) -> None:
    bought = swap(
        "3S8wDKHkP9si7YajUuub8t7bKwGGc7umSo1bkwhwyT3y",
        AT,
        leg(FART, "16.236165000", "Fartcoin", usdPrice=1.175495875, usdAmount=19.085544983319373),
        sol("0.079320000", usdPrice=240.614535941, usdAmount=19.08554499084012),
        19.08554499,
        walletAddress=WALLET,
    )
    sold = swap("4S", AT + timedelta(minutes=1), sol("0.1"), fart("16.236165"), 24.06, transactionType="buy")
    add(stub, bought, sold)
    outcome = operator.sync()
    assert outcome.status == 0
    assert (outcome.only["synced"], outcome.only["changed"], outcome.only["left_out"]) == (1, 2, 0)
    assert operator.ledger() == {
        ("solana", WALLET, "3S8wDKHkP9si7YajUuub8t7bKwGGc7umSo1bkwhwyT3y", FART, "buy"): (
            *("16.236165", "0.07932", "19.08554499", AT, "Fartcoin"),
        ),
        ("solana", WALLET, "4S", FART, "sell"): (
            *("16.236165", "0.1", "24.06", AT + timedelta(minutes=1), "Fartcoin"),
        ),
    }


@pytest.mark.parametrize(
    ("chain", "native"),
    [
        ("eth", "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"),
        ("eth", "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE"),
        ("eth", "0x0000000000000000000000000000000000000000"),
        ("bnb", "0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c"),
        ("base", "0x4200000000000000000000000000000000000006"),
    ],
)
def test_evm_addresses_are_one_whatever_their_case_and_each_chain_has_its_own_coin(
    stub: Stub, operator: Operator, chain: str, native: str
) -> None:
    wallet = "0xdce4550b1e46a88e7969000605be5cb1bbddc034"
    token = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
    operator.track((chain, wallet))
    row = swap(
        *("0x" + "AB12" * 16, AT, leg(token, "5", "T"), leg(native, "0.25"), 750.5),
        walletAddress="0xDCE4550B1E46A88E7969000605BE5CB1BBDDC034",
    )
    # As its specification shows it: without milliseconds.
    row["blockTimestamp"] = AT.strftime("%Y-%m-%dT%H:%M:%SZ")
    stub.swaps.add(chain, wallet, row)
    assert operator.sync("trades", "--chain", chain).status == 0
    assert operator.ledger() == {
        (chain, wallet, "0x" + "ab12" * 16, token.lower(), "buy"): ("5", "0.25", "750.5", AT, "T")
    }


def test_a_nearer_price_that_comes_later_revises_no_value(stub: Stub, operator: Operator) -> None:
    operator.prices(("SOL", "160", AT - timedelta(minutes=30)))
    add(stub, swap("s", AT, fart("70"), usdc("200"), 200.0))
    operator.sync()
    before = operator.ledger()
    operator.prices(("SOL", "100", AT))
    assert operator.sync().only["changed"] == 0
    assert operator.ledger() == before
    # But what the provider itself corrects is valued anew.
    stub.swaps.rows["solana", WALLET] = [swap("s", AT, fart("70"), usdc("300"), 300.0)]
    assert operator.sync().only["changed"] == 2
    assert values(operator.ledger())["s", FART, "buy"] == ("70", "3", "300")


def test_a_value_that_a_sync_converted_follows_its_dollars_as_one_of_a_file_does(
    stub: Stub, operator: Operator
) -> None:
    operator.prices(("SOL", "160", AT))
    stated = trade_row(WALLET, "stated", AT, mint=FART, token_amount="70", value="9", value_usd="200")
    operator.trades([stated])
    del stated["value"]
    add(
        stub,
        swap("converted", AT, fart("70"), usdc("200"), 200.0),
        swap("native", AT, fart("70"), sol("2"), 200.0),
        # A sync gives it its name, and keeps its value.
        swap("stated", AT, fart("70"), usdc("200"), 200.0),
    )
    assert operator.sync().only["changed"] == 5
    signatures = ("converted", "native", "stated")
    operator.trades([stated | {"tx_signature": one, "value_usd": "240"} for one in signatures])
    bought = {key[0]: value for key, value in values(operator.ledger()).items() if key[2] == "buy"}
    assert bought == {
        "converted": ("70", "1.5", "240"),
        "native": ("70", "2", "240"),
        "stated": ("70", "9", "240"),
    }


def test_prices_that_a_value_needs_are_fetched_and_without_them_the_wallet_waits(
    stub: Stub, operator: Operator
) -> None:
    add(stub, swap("s", AT, fart("70"), usdc("200"), 200.0))
    stub.scenarios["coingecko"] = stub.scenarios["binance"] = faults.status(500, "out of order")
    outcome = operator.sync()
    assert outcome.status == 1
    assert outcome.only["failures"] == {"price_missing": 1}
    assert operator.ledger() == {}
    stub.scenarios["coingecko"] = stub.scenarios["binance"] = lambda: None
    stub.prices.hourly = lambda currency, moment: 160.0 if currency == "SOL" else None
    assert operator.sync().status == 0
    assert values(operator.ledger())["s", FART, "buy"] == ("70", "1.25", "200")


def test_a_swap_without_a_value_is_left_out_and_costs_the_wallet_nothing_else(
    stub: Stub, operator: Operator
) -> None:
    add(
        stub,
        swap("s", AT, fart("70"), usdc("200"), 200.0),
        swap("unknown", AT, fart("70"), leg(BONK, "1")),
        swap("zero", AT, fart("70"), leg(BONK, "1"), 0),
        swap("good", AT, fart("1"), sol("1"), 0),
    )
    outcome = operator.sync()
    assert (outcome.status, outcome.only["new_left_out"]) == (3, 3)
    assert outcome.only["left_out_reasons"] == {
        "no_value": {
            "no native price of its hour is known": 2,
            "a swap of two tokens of unknown value": 2,
        }
    }
    # A dollar value of zero is none.
    assert values(operator.ledger()) == {("good", FART, "buy"): ("1", "1", None)}


def test_trades_in_denied_tokens_are_left_out_and_counted_once(
    stub: Stub, operator: Operator, tmp_path: Path
) -> None:
    operator.prices(("SOL", "240", AT))
    denylist = tmp_path / "denied.ndjson"
    denylist.write_text(json.dumps({"blockchain": "solana", "mint": FART}))
    add(
        stub,
        swap("5S", AT, fart("5"), sol("0.1"), 24.06),
        swap("6S", AT + timedelta(minutes=1), leg(BONK, "7", "Bonk"), fart("5"), 24.06),
    )
    for _ in range(2):
        outcome = operator.sync(TOKEN_DENYLIST=str(denylist))
        assert (outcome.status, outcome.only["denied"], outcome.only["left_out"]) == (0, 2, 0)
    assert {key[3] for key in operator.ledger()} == {BONK}
    (denied,) = [
        one for one in operator.sync("status").only["left_out"] if one["reason"] == "denied" and one["total"]
    ]
    assert (denied["blockchain"], denied["total"], denied["last_round"]) == ("solana", 2, 2)
    operator.sync()
    assert {key[3] for key in operator.ledger()} == {BONK, FART}


def test_wraps_are_no_trades_and_bad_rows_are_counted_and_cost_no_other(
    stub: Stub, operator: Operator
) -> None:
    good = swap("good", AT, fart("1"), sol("1"), 182.0)
    no_time = swap("a", AT, fart("1"), sol("1"))
    no_time["blockTimestamp"] = "yesterday"
    add(
        stub,
        swap("a", AT, None, sol("1")),
        swap("a", AT, fart("1"), None),
        swap("a", AT, fart("0"), sol("1")),
        swap("a", AT, fart("1"), sol("0.000")),
        swap("a", AT, leg(FART, None), sol("1")),
        swap("a", AT, fart("NaN"), sol("1")),
        swap("a", AT, fart("1e999999999"), sol("1")),
        swap("a", AT, leg("not an address", "1"), sol("1")),
        swap("a", AT, fart("1"), sol("1"), walletAddress=POOL),
        swap("", AT, fart("1"), sol("1")),
        swap("n\0l", AT, fart("1"), sol("1")),
        swap("a", NOW + timedelta(minutes=30), fart("1"), sol("1")),
        {"transactionHash": "a"},
        no_time,
        swap("wrap", AT, sol("1"), leg("So11111111111111111111111111111111111111112", "1")),
        good,
    )
    outcome = operator.sync()
    assert (outcome.status, outcome.only["wraps"]) == (3, 1)
    assert outcome.only["left_out_reasons"] == {
        "invalid": {
            "nothing bought": 1,
            "nothing sold": 1,
            "the amount bought is zero": 1,
            "the amount sold is zero": 1,
            "the amount bought is not a number that the ledger accepts": 3,
            "a token's address is not base58 of 32 bytes": 1,
            "a swap of another wallet": 1,
            "no transaction hash": 2,
            "the time is more than 5 minutes ahead of now": 1,
            "the time is not ISO 8601": 1,
            "no time": 1,
        }
    }
    assert list(values(operator.ledger())) == [("good", FART, "buy")]


def test_names_that_anybody_may_write_become_harmless(stub: Stub, operator: Operator) -> None:
    spam = "# free\0 \u202eriah\ud83d\ude80 " + 3000 * "x"
    add(
        stub,
        swap("s", AT, leg(FART, "1", spam.encode("utf-16", "surrogatepass").decode("utf-16")), sol("1")),
    )
    assert operator.sync().status == 0
    (trade,) = operator.ledger().values()
    assert trade[4] == ("# free riah\U0001f680 " + 128 * "x")[:128]


def test_rows_that_come_late_or_to_a_known_transaction_are_taken_in(stub: Stub, operator: Operator) -> None:
    add(stub, swap("hop", AT, fart("70"), usdc("200"), 200.0))
    stub.prices.hourly = lambda currency, moment: 160.0
    operator.sync()
    assert values(operator.ledger())["hop", USDC, "sell"] == ("200", "1.25", "200")
    add(
        stub,
        swap("late", NOW - timedelta(minutes=45), fart("1"), sol("0.01"), 1.6),
        # The hop's other half, which has the better value.
        swap("hop", AT, usdc("200"), sol("1.3"), 200.0, pool=POOL),
    )
    operator.sync(SYNC_OVERLAP_SECONDS="7200")
    assert values(operator.ledger()) == {
        ("hop", USDC, "buy"): ("200", "1.3", "200"),
        ("hop", USDC, "sell"): ("200", "1.3", "200"),
        ("hop", FART, "buy"): ("70", "1.3", "200"),
        ("late", FART, "buy"): ("1", "0.01", "1.6"),
    }


def test_what_is_late_by_more_than_the_overlap_comes_in_within_a_day(stub: Stub, operator: Operator) -> None:
    operator.sync(SYNC_OVERLAP_SECONDS="60")
    add(stub, swap("late", AT, fart("1"), sol("1"), 1.0))
    assert operator.sync(SYNC_OVERLAP_SECONDS="60").only["swaps"] == 0
    # As if a day had passed.
    operator.fetch("UPDATE sync_wallets SET rechecked_at = rechecked_at - interval '1 day' RETURNING 1")
    assert operator.sync(SYNC_OVERLAP_SECONDS="60").only["changed"] == 1
    assert operator.sync(SYNC_OVERLAP_SECONDS="60").only["swaps"] == 0


def test_since_bounds_the_first_run_and_reaches_further_back_when_asked_again(
    stub: Stub, operator: Operator
) -> None:
    for days in (5, 15, 45):
        add(stub, swap(f"{days}", NOW - timedelta(days=days), fart("1"), sol("1"), 1.0))
    assert operator.sync("trades", "--since", "10d").only["changed"] == 1
    assert operator.sync("trades", "--since", "10d").only["changed"] == 0
    assert operator.sync().only["changed"] == 1
    assert operator.sync("trades", "--since", "10d").only["changed"] == 0
    date = (NOW - timedelta(days=60)).date().isoformat()
    assert operator.sync("trades", "--since", date).only["changed"] == 1
    assert operator.signatures() == {"5", "15", "45"}


def test_a_wallet_of_many_pages_lands_in_parts_and_nothing_is_lost_between_them(
    stub: Stub, operator: Operator
) -> None:
    stub.swaps.page_rows = 4
    # Three rows a second, so that every part ends inside a second.
    rows = [swap(f"t{n}", AT + timedelta(seconds=n // 3), fart("1"), sol("1"), 1.0) for n in range(180)]
    add(stub, *rows)
    outcome = operator.sync()
    assert outcome.status == 0
    assert len(operator.ledger()) == 180
    assert operator.sync().only["changed"] == 0


def test_new_wallets_come_first_and_then_those_whose_turn_is_longest_ago(
    stub: Stub, operator: Operator
) -> None:
    first, second, third = addresses("solana", 3)
    operator.track(("solana", first))
    operator.sync(SYNC_THREADS="1")
    operator.track(("solana", second), ("solana", third))
    operator.fetch(
        "UPDATE sync_wallets SET tried_at = tried_at - interval '1 hour' FROM wallets"
        " WHERE wallets.wallet_id = sync_wallets.wallet_id AND address = %s RETURNING 1",
        first,
    )
    stub.calls.clear()
    operator.sync(SYNC_THREADS="1")
    requested = [call.subject for call in stub.calls]
    assert set(requested[:2]) == {second, third}
    assert requested[2:] == [first, WALLET]
