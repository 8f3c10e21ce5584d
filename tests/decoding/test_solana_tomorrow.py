"""Recorded transactions of Solana as they will be: with other rents, as version 1, in deeper calls."""

import copy
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from tests.decoding.solana import decode_for, read, trades_of
from tests.decoding.solana_machine import TOKENS, Machine
from tests.decoding.test_solana_consent import read_of
from tests.decoding.test_solana_recorded import CASES, Case
from tests.stub.swaps import Row
from tests.stub.transactions import RENT, WRAPPED
from tests.sync.solana import FART, SOL, WALLET
from wallet_api.base.chains import CHAINS
from wallet_api.chain.decoding.swaps import NO_TRADE

POOL, UNITS = "pool", 10**6
STEPS_OF_RENT = (1_488_440, 203_928)


def deeper(result: Row, depth: int) -> Row:
    """Return it with each call, and what it invoked, so much deeper, inside programs that do nothing else."""
    result = copy.deepcopy(result)
    outer = result["transaction"]["message"]["instructions"]
    for group in result["meta"]["innerInstructions"] or ():
        called = outer[group["index"]]
        outer[group["index"]] = {"programId": "program 1", "accounts": []}
        over = [
            {"programId": f"program {each}", "accounts": [], "stackHeight": each}
            for each in range(2, 1 + depth)
        ]
        rows = [row | {"stackHeight": row["stackHeight"] + depth} for row in group["instructions"]]
        group["instructions"] = [*over, called | {"stackHeight": 1 + depth}, *rows]
    return result


def assert_the_same(case: Case, result: Row) -> None:
    """Assert that this has the trades of a recorded transaction."""
    found = trades_of(decode_for(read(result), case.wallet))
    assert (case.key, found) == (case.key, trades_of(case.decode()))


def test_version_1_and_calls_nested_to_8_give_the_same_trades() -> None:
    seen = 0
    for case in CASES:
        groups = case.result["meta"]["innerInstructions"] or ()
        # Old nodes do not report the depth.
        rows = [row for group in groups for row in group["instructions"]]
        if not rows or any("stackHeight" not in row for row in rows):
            continue
        deepest = max(row["stackHeight"] for row in rows)
        result = deeper(case.result, 9 - deepest) | {"version": 1}
        assert_the_same(case, result)
        seen += 1
    assert seen > 100


def steps_of(result: Row) -> Iterator[Row]:
    """Yield the parsed instructions in the order of execution."""
    inner = {group["index"]: group["instructions"] for group in result["meta"]["innerInstructions"] or ()}
    for index, outer in enumerate(result["transaction"]["message"]["instructions"]):
        for each in (outer, *inner.get(index, ())):
            if isinstance(each.get("parsed"), dict):
                yield each["parsed"]


def rented(result: Row, rent: int) -> tuple[Row, int]:
    """Return it with another rent of the token accounts that it creates, and how many these are."""
    result = copy.deepcopy(result)
    keys = [key["pubkey"] for key in result["transaction"]["message"]["accountKeys"]]
    after, less, created = Counter[str](), RENT - rent, set()
    opened = {
        step["info"]["account"] for step in steps_of(result) if step["type"].startswith("initializeAccount")
    }
    count = 0
    for step in steps_of(result):
        info = step.get("info", {})
        if info.get("newAccount") in opened and info["lamports"] >= RENT:
            info["lamports"] -= less
            after[info["source"]] += less
            after[info["newAccount"]] -= less
            created.add(info["newAccount"])
            count += 1
        elif step["type"] == "closeAccount" and info["account"] in created:
            after[info["account"]] += less
            after[info["destination"]] -= less
            created.remove(info["account"])
    balances = result["meta"]["postBalances"]
    result["meta"]["postBalances"] = [units + after[key] for key, units in zip(keys, balances, strict=True)]
    return result, count


@pytest.mark.parametrize("rent", STEPS_OF_RENT)
def test_recorded_transactions_with_another_rent_give_the_same_trades(rent: int) -> None:
    seen = 0
    for case in CASES:
        result, count = rented(case.result, rent)
        if count:
            assert_the_same(case, result)
            seen += bool(case.trades)
    assert seen > 50


def rented_before(result: Row, rent: int) -> tuple[Row, int]:
    """Return it with another rent of the token accounts of before, and how many of them are closed."""
    result = copy.deepcopy(result)
    meta, keys = result["meta"], [key["pubkey"] for key in result["transaction"]["message"]["accountKeys"]]
    steps = list(steps_of(result))
    created = {step["info"].get("newAccount", step["info"].get("account")) for step in steps if _opens(step)}
    closed = {
        step["info"]["account"]: step["info"]["destination"]
        for step in steps
        if step["type"] == "closeAccount"
    }
    before, after, count = meta["preBalances"], meta["postBalances"], 0
    for row in meta["preTokenBalances"] or ():
        place, account = row["accountIndex"], keys[row["accountIndex"]]
        held = int(row["uiTokenAmount"]["amount"]) if row["mint"] == WRAPPED else 0
        if account in created or before[place] - held != RENT:
            continue
        before[place] -= RENT - rent
        after[keys.index(closed.get(account, account))] -= RENT - rent
        count += account in closed
    return result, count


def _opens(step: Row) -> bool:
    return bool(step["type"].startswith(("createAccount", "initializeAccount")))


@pytest.mark.parametrize("rent", STEPS_OF_RENT)
def test_the_rent_of_an_account_of_before_is_what_it_has_beyond_its_tokens(rent: int) -> None:
    seen = 0
    for case in CASES:
        result, closed = rented_before(case.result, rent)
        # Who gets such a rent has less by the difference, which is no part of a trade.
        assert_the_same(case, result)
        seen += closed > 0
    assert seen > 10


@pytest.mark.parametrize("rent", STEPS_OF_RENT)
def test_rent_is_what_the_creation_of_an_account_put_in(rent: int) -> None:
    # A relayer's account of wrapped coin is closed to the wallet, which gets the proceeds and the rent.
    machine = Machine((WALLET, "relayer"))
    machine.create("relayer", "new coin", rent)
    machine.open("new coin", WRAPPED, "relayer")
    machine.call("exchange")
    machine.send(machine.tokens(WALLET, FART), machine.tokens(POOL, FART), UNITS, WALLET)
    machine.send(machine.tokens(POOL, WRAPPED), "new coin", SOL, POOL)
    machine.close("new coin", WALLET)
    assert read_of(decode_for(read(machine.result()))) == [(FART, "sell", "1", "1")]


def test_the_rent_of_a_time_is_that_of_its_row() -> None:
    rent = CHAINS["solana"].rent
    assert rent(165, datetime(2026, 9, 2, 23, 59, tzinfo=UTC)) == RENT
    assert rent(165, datetime(2026, 9, 3, tzinfo=UTC)) == STEPS_OF_RENT[0]


def test_lamports_beyond_a_rent_that_a_wallet_takes_out_are_its_own() -> None:
    machine = Machine((WALLET,))
    machine.call("exchange")
    machine.pay(WALLET, POOL, SOL)
    mine = machine.tokens(WALLET, FART)
    machine.send(machine.tokens(POOL, FART), mine, UNITS, POOL)
    machine.top()
    machine.outer.append(
        {
            "programId": TOKENS,
            "parsed": {
                "type": "withdrawExcessLamports",
                "info": {"source": mine, "destination": WALLET, "authority": WALLET},
            },
        }
    )
    machine.take(mine, WALLET, RENT - STEPS_OF_RENT[0])
    assert read_of(decode_for(read(machine.result()))) == [(FART, "buy", "1", "1")]


def test_a_transaction_that_failed_before_it_ran_is_no_trade() -> None:
    # Its payer could not pay the fee: it has neither a fee nor logs.
    machine = Machine((WALLET,))
    machine.pay(WALLET, POOL, SOL)
    result = machine.result()
    keys = len(result["transaction"]["message"]["accountKeys"])
    failed = {"err": "InsufficientFundsForFee", "fee": 0, "logMessages": None, "innerInstructions": None}
    result["meta"] |= failed | {"preBalances": [0] * keys, "postBalances": [0] * keys}
    assert decode_for(read(result)).why == NO_TRADE


def test_balances_without_owners_are_unreadable() -> None:
    """Nodes did not record owners before October 2021."""
    machine = Machine((WALLET,))
    machine.call("exchange")
    machine.pay(WALLET, POOL, SOL)
    machine.send(machine.tokens(POOL, FART), machine.tokens(WALLET, FART), UNITS, POOL)
    result = machine.result()
    for name in ("preTokenBalances", "postTokenBalances"):
        for row in result["meta"][name]:
            del row["owner"]
    decoded = decode_for(read(result))
    assert (str(decoded.why), decoded.is_signed) == ("unreadable", True)
