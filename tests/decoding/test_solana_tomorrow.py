"""Transactions of Solana as they will be: with other rents, as version 1, in deeper calls."""

import copy
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


@pytest.mark.parametrize("rent", STEPS_OF_RENT)
@pytest.mark.parametrize("mint", [WRAPPED, FART])
@pytest.mark.parametrize("is_new", [True, False])
def test_rent_is_what_the_creation_of_an_account_put_in_or_what_it_has_beyond_its_tokens(
    rent: int, mint: str, is_new: bool
) -> None:
    # A relayer's account is closed to the wallet, which gets the proceeds in wrapped coin, and the rent.
    machine = Machine((WALLET, "relayer"))
    account = "new account" if is_new else machine.tokens("relayer", mint)
    if is_new:
        machine.create("relayer", account, rent)
        machine.open(account, mint, "relayer")
    else:
        for each in (machine.accounts[account], machine.before[account]):
            each.lamports, each.units = rent, 0
    machine.call("exchange")
    machine.send(machine.tokens(WALLET, FART), machine.tokens(POOL, FART), UNITS, WALLET)
    proceeds = account if mint == WRAPPED else machine.tokens(WALLET, WRAPPED)
    machine.send(machine.tokens(POOL, WRAPPED), proceeds, SOL, POOL)
    machine.close(account, WALLET)
    result = machine.result()
    # The machine takes the rent of a time for that of each account of wrapped coin.
    for row in result["meta"]["preTokenBalances"]:
        row["uiTokenAmount"]["amount"] = str(max(0, int(row["uiTokenAmount"]["amount"])))
    assert read_of(decode_for(read(result))) == [(FART, "sell", "1", "1")]


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
