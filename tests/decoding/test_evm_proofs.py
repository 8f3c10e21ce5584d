"""A proof covers the amounts, the party and the logs that it names: what strangers put beside it is no trade.

In each attack a stranger sends the transaction, keeps what he moves between contracts of his own, and names a
wallet that agreed to something else. An honest one stands beside each.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from tests.decoding.drafts import shown
from tests.decoding.evm import ARCHIVE, BARE, TRACES, Given
from tests.decoding.test_evm_recorded import CASES
from tests.decoding.test_evm_rules import (
    CURVE,
    DECIMALS,
    ENTRY,
    STARTED,
    UNITS,
    beside_wraps,
    by_account,
    operation,
)
from tests.stub import evm
from tests.stub.evm import Row, Transaction, log, transfer, word
from tests.sync.evm_trades import CAT, DOG, ETH, FRIEND, POOL, ROUTER, SWAP, USDC, WALLET, WETH, buy, receipt
from wallet_api.chain.decoding.evm.frames import Frame, Frames, frames_of
from wallet_api.chain.decoding.swaps import NO_TRADE, UNSIGNED
from wallet_api.chain.decoding.trades import Decoded

NODES = (ARCHIVE, TRACES, BARE)
# Worthless tokens, contracts and an account of the stranger, and a merchant.
BAIT, DUST = f"0x{'ba' * 20}", f"0x{'d5' * 20}"
Q, P2, MERCHANT = f"0x{'99' * 20}", f"0x{'b2' * 20}", f"0x{'3e' * 20}"
OTHER = f"0x{'02' * 20}"
EXECUTED = "0x442e715f626346e8c54381002da614f62bee8d27386535b2521ec8540898556e"
EXECUTES = "0x66753cd2356569ee081232e3be8909b950e0a76c1f8460c3a5e3c2be32b11bed"
ONE_INCH_5 = "0x1111111254eeb25477b68fb85ed929f73a960582"
FILLED = "0xb9ed0243fdf00f0545c63a0af8850c090d86bb46682baec4bf3c496814fe4f02"
UNISWAP_X = "0x6000da47483062a0d734ba3dc7576ce6a0b645c4"
FILL = "0x78ad7ec0e9f89e74012afa58738b6b661c024cb0fd185ee2f616c0a28924bd66"
ZERO_X, OTC = (
    "0xdef1c0ded9bec7f1a1670819833240f027b25eff",
    ("0xac75f773e3a92f1a02b12134d65e1f47f8a14eabe4eaf1e24624918e6a8b269f"),
)
OTHER_ENTRY = "0x0000000071727de22e5e9d8baf0edac6f37da032"
DECIMAL = DECIMALS | dict.fromkeys((BAIT, DUST), 18)

# He sells a token that is his, and buys another one, for a hundred ether of his own that come back.
TRICK = (
    transfer(BAIT, WALLET, Q, UNITS),
    transfer(WETH, Q, P2, 100 * ETH),
    transfer(DUST, P2, WALLET, ETH),
    log(P2, (SWAP,)),
)
DUSTED = transfer(DUST, P2, WALLET, ETH)


def filled(maker: str = WALLET, number: int = 1) -> Row:
    """Return the log of 1inch of an order whose words it does not state."""
    return log(ONE_INCH_5, (FILLED, word(maker)), number, 0)


def fill(swapper: str = WALLET) -> Row:
    """Return the log of UniswapX of an order that FRIEND has filled."""
    return log(UNISWAP_X, (FILL, word(OTHER), word(FRIEND), word(swapper)), 1)


def otc(maker: str, gave: tuple[str, int], got: tuple[str, int]) -> Row:
    """Return the log of 0x of an order with all of its words."""
    names = [int(name, 16) for name in (maker, ROUTER, gave[0], got[0])]
    return log(ZERO_X, (OTC,), 1, *names, gave[1], got[1])


def sold(units: int = UNITS, coin: int = ETH) -> tuple[Row, ...]:
    """Return the logs of a sale of CAT for wrapped coin."""
    return transfer(CAT, WALLET, Q, units), transfer(WETH, Q, WALLET, coin)


def carried(*logs: Row, to: str = Q, coin: int = 0) -> Transaction:
    """Return a transaction of the stranger, that changes the coin of the wallet so."""
    return Transaction(receipt(1, *logs, sender=FRIEND, to=to), 0, {WALLET: coin, FRIEND: -coin})


def decoded(transaction: Transaction, node: str = ARCHIVE, wallet: str = WALLET, **more: Any) -> Decoded:
    """Return what is decoded of a transaction."""
    given = Given("eth", transaction.receipt, transaction.value, transaction.coins, DECIMAL, **more)
    return given.decode(wallet, node, is_alone=node == ARCHIVE)


SOLD, BOUGHT = [(CAT, "sell", "1", "1")], [(CAT, "buy", "5", "1")]
PAID = (transfer(USDC, WALLET, MERCHANT, 100_000 * UNITS),)

# What nothing proves and where no money of the wallet moved: only counted.
WITHOUT_MONEY = {
    "a Safe's signed transaction, carried beside a trick": carried(log(WALLET, (EXECUTED,), 1, 0), *TRICK),
    "the same with the Safe's own span, which moved nothing": carried(
        log(WALLET, (EXECUTES,), 0), log(WALLET, (EXECUTED,), 1, 0), *TRICK
    ),
    "a wallet with code that a stranger calls": carried(*TRICK, to=WALLET),
    "a wallet that is named alone": carried(*TRICK),
}
# What nothing proves, of which money at the wallet is named, and no trade.
NAMED = {
    "a wei of an open order beside a trick": carried(
        filled(), transfer(CAT, WALLET, Q, 1), transfer(WETH, FRIEND, WALLET, 1), *TRICK
    ),
    "a payment, beside a token that comes": carried(*PAID, DUSTED),
    "a payment, beside a token and a false pool": carried(
        *PAID, DUSTED, log(Q, (CURVE, word(FRIEND)), 0, 100_000 * UNITS, 1, ETH)
    ),
    "a payment that a fill of a wei of the same token hides in": carried(
        filled(), transfer(USDC, WALLET, Q, 1), *PAID, transfer(CAT, Q, WALLET, 1)
    ),
    "a fill with dust": carried(filled(), *sold(), DUSTED),
    "an order that is not proven, with dust": carried(
        transfer(USDC, WALLET, Q, 32 * UNITS), transfer(CAT, Q, WALLET, 5 * UNITS), DUSTED
    ),
    "a stated order of a wei beside a fill that states nothing": carried(
        filled(),
        *sold(),
        otc(WALLET, (USDC, 1), (DOG, 1)),
        transfer(USDC, WALLET, Q, 1),
        transfer(DOG, Q, WALLET, 1),
    ),
}


@pytest.mark.parametrize("node", NODES)
@pytest.mark.parametrize("attack", [*WITHOUT_MONEY, *NAMED])
def test_what_a_stranger_puts_beside_a_consent_is_no_trade(attack: str, node: str) -> None:
    result = decoded((WITHOUT_MONEY | NAMED)[attack], node)
    assert not result.drafts
    assert (result.why, result.is_signed) == (UNSIGNED, False)
    # Nothing of it is hidden.
    assert bool(result.unproven) == (attack in NAMED)


HONEST: dict[str, tuple[Transaction, list[tuple[str, str, str, str]]]] = {
    "a Safe that the transaction calls": (carried(*sold(), log(WALLET, (EXECUTED,), 1, 0), to=WALLET), SOLD),
    "a Safe that another contract calls, and a trick after it": (
        carried(log(WALLET, (EXECUTES,), 0), *sold(), log(WALLET, (EXECUTED,), 1, 0), *TRICK),
        SOLD,
    ),
    "an account that the transaction calls": (carried(*sold(), to=WALLET), SOLD),
    "a fill of 1inch, whose log comes first": (carried(filled(), *sold()), SOLD),
    "a fill of UniswapX, whose log comes last": (carried(*sold(), fill()), SOLD),
    "an order that its event states, with dust": (
        carried(*sold(), DUSTED, otc(WALLET, (CAT, UNITS), (WETH, ETH))),
        SOLD,
    ),
    "a fill of which nearly all comes back as a gift": (
        carried(*sold(), transfer(CAT, Q, WALLET, UNITS - 1), fill()),
        SOLD,
    ),
    "an operation, and a trick after it": (by_account(buy(1), operation(WALLET, FRIEND, 1), *TRICK), BOUGHT),
}


@pytest.mark.parametrize("node", [ARCHIVE, TRACES])
@pytest.mark.parametrize("kind", HONEST)
def test_an_honest_one_lands(kind: str, node: str) -> None:
    transaction, expected = HONEST[kind]
    assert shown(decoded(transaction, node).drafts) == expected


def test_an_operation_ends_and_begins_at_its_own_entry_point() -> None:
    for other in (log(OTHER_ENTRY, (STARTED,)), operation(OTHER, FRIEND, 1) | {"address": OTHER_ENTRY}):
        bought = buy(1)
        row = by_account(bought, other, operation(WALLET, FRIEND, 1)).receipt
        assert row["to"] == ENTRY
        assert shown(decoded(bought).drafts) == BOUGHT
    assert shown(decoded(beside_wraps(evm.DEPOSIT, -3 * ETH)).drafts) == BOUGHT


def test_native_coin_for_an_order_is_the_wallets_own_and_on_a_node_without_state_not_known() -> None:
    unwrapped = log(WETH, (evm.WITHDRAWAL, word(FRIEND)), 100 * ETH)
    sale = carried(transfer(CAT, WALLET, Q, UNITS), unwrapped, fill(), coin=ETH)
    assert shown(decoded(sale, ARCHIVE).drafts) == shown(decoded(sale, TRACES).drafts) == SOLD
    # A stranger may unwrap as much of his own as he likes.
    assert (decoded(sale, BARE).why, decoded(sale, BARE).is_signed) == ("no_value", True)
    # Some dollars beside it would make a false price where the coin is not seen.
    gift = carried(
        transfer(CAT, WALLET, Q, UNITS), transfer(USDC, Q, WALLET, UNITS), unwrapped, fill(), coin=ETH
    )
    for node in NODES:
        assert (decoded(gift, node).drafts, bool(decoded(gift, node).unproven)) == ((), True)


def test_an_order_whose_proceeds_went_to_somebody_else_is_no_trade_and_a_part_of_them_is_unclear() -> None:
    order = otc(WALLET, (CAT, UNITS), (USDC, 100 * UNITS))
    gave = transfer(CAT, WALLET, Q, UNITS)
    elsewhere = carried(order, gave, transfer(USDC, Q, FRIEND, 100 * UNITS))
    assert decoded(elsewhere).why == NO_TRADE
    part = carried(order, gave, transfer(USDC, Q, WALLET, 50 * UNITS), transfer(USDC, Q, FRIEND, 50 * UNITS))
    assert str(decoded(part).why) == "unclear"


def test_two_orders_of_one_transaction_have_their_own_prices() -> None:
    both = (
        transfer(CAT, WALLET, FRIEND, UNITS),
        transfer(CAT, OTHER, FRIEND, 3 * UNITS),
        transfer(CAT, FRIEND, POOL, 4 * UNITS),
        transfer(WETH, POOL, FRIEND, 10 * ETH),
        transfer(WETH, FRIEND, WALLET, ETH),
        transfer(WETH, FRIEND, OTHER, 9 * ETH),
        *(fill(), fill(OTHER)),
    )
    for wallet, expected in ((WALLET, SOLD), (OTHER, [(CAT, "sell", "3", "9")])):
        for node in NODES:
            (draft,) = decoded(carried(*both), node, wallet).drafts
            assert (shown([draft]), draft.exchanged(draft.native)) == (expected, 0)


def _prices() -> Iterator[tuple[str, Transaction]]:
    shout = log(Q, (CURVE, word(FRIEND)), 0, 900 * ETH, 1, UNITS // 100)
    friend = transfer(CAT, Q, OTHER, UNITS // 100)
    bought = buy(1)
    bought.receipt["logs"] += [friend, shout]
    yield "a callee in the wallet's own trade", bought
    loud = log(Q, (CURVE, word(FRIEND)), 0, 1000 * ETH, 1, UNITS)
    yield "a filler of its order", carried(*sold(), loud, fill())


@pytest.mark.parametrize(("writer", "transaction"), list(_prices()))
def test_no_log_of_a_third_party_writes_a_price(writer: str, transaction: Transaction) -> None:
    for node in (ARCHIVE, TRACES):
        (draft,) = decoded(transaction, node).drafts
        is_own = transaction.receipt["from"] == WALLET
        assert (writer, draft.native, draft.exchanged(draft.native)) == (writer, 1, None if is_own else 0)


def test_what_was_bought_and_sold_makes_no_price() -> None:
    # Where it sold a small part of what it bought, the rest makes one.
    for halves, left, exchanged in ((1, "2.5", None), (4, "1", 0)):
        bought = buy(1, 3 * UNITS, 3 * ETH)
        bought.receipt["logs"] += [*sold(halves * UNITS // 2, halves * ETH // 2), log(Q, (SWAP,))]
        for node in (ARCHIVE, TRACES):
            (draft,) = decoded(bought, node).drafts
            assert shown([draft]) == [(CAT, "buy", left, left)]
            assert draft.exchanged(draft.native) == exchanged


def test_of_what_others_carry_only_named_amounts_make_a_price() -> None:
    stated = carried(*sold(), otc(WALLET, (CAT, UNITS), (WETH, ETH)), to=ZERO_X)
    moved = carried(*sold(), fill())
    ran = carried(log(WALLET, (EXECUTES,), 0), *sold(), log(WALLET, (EXECUTED,), 1, 0), to=WALLET)
    for transaction, exchanged in ((stated, None), (moved, 0), (ran, 0)):
        (draft,) = decoded(transaction).drafts
        assert shown([draft]) == SOLD
        assert draft.exchanged(draft.native) == exchanged


def test_a_signature_covers_all_and_dust_spoils_no_order() -> None:
    assert shown(decoded(buy(1)).drafts) == BOUGHT
    assert decoded(carried(DUSTED, log(P2, (SWAP,)))).why in (UNSIGNED, NO_TRADE)


RELAYER, DELEGATION = f"0x{'e1' * 20}", f"0x{'de' * 20}"


# Of 457 recorded swaps, without traces and with them. What is only counted is of two tokens, neither money.
SPONSORED = {
    False: {
        **{"buy counts": 141, "buy named": 12, "buy else": 1},
        **{"sell counts": 2, "sell named": 154, "sell else": 3, "sell+sell named": 1},
        **{"buy+sell counts": 3, "buy+sell named": 102, "buy+sell else": 38},
    },
    True: {
        **{"buy counts": 153, "buy else": 1},
        **{"sell counts": 156, "sell else": 3, "sell+sell counts": 1},
        **{"buy+sell counts": 105, "buy+sell else": 38},
    },
}


@pytest.mark.parametrize("has_traces", [False, True])
def test_what_sponsors_carry_for_accounts_counts_or_is_named(has_traces: bool) -> None:
    read: Counter[str] = Counter()
    for case in CASES:
        receipt = case.given.receipt
        if receipt["from"] != case.wallet or not case.trades or case.is_either or not case.is_recorded:
            continue
        # The same swap, but sent and paid for by a relayer who calls another contract that calls the account.
        fee = case.given.logs().receipt.fee
        coins = dict(case.given.coins) | {case.wallet: case.given.coins[case.wallet] + fee}
        carried = replace(
            case.given, receipt=receipt | {"from": RELAYER, "to": DELEGATION}, value=0, coins=coins
        )
        if has_traces:
            # All of it is one call of the account.
            frames = Frames([(0, len(receipt["logs"]) - 1)], coins[case.wallet])
            carried = replace(carried, frames=frames)
        result = carried.decode(case.wallet, ARCHIVE)
        sides = "+".join(sorted(side for _, side, *_ in case.trades))
        values = {(draft.mint, "sell" if draft.is_sell else "buy"): draft.native for draft in result.drafts}
        for mint, side, _, coin, *_ in case.trades if result.drafts else ():
            assert coin is None or values[mint, side] in (Decimal(coin), 0)
        how = "counts" if result.drafts else "named" if result.unproven else "else"
        read[f"{sides} {how}"] += 1
    print("sponsored:", *sorted(read.items()), sep="\n")
    # Coin that is gone was sent by the account's own code; what it sold for coin is proven by nothing.
    assert read == SPONSORED[has_traces]


def call(sender: str, to: str, *inner: Row, value: int = 0, kind: str = "CALL", **more: Any) -> Row:
    """Return the frame of a call, with its logs and the calls that it made, in their order."""
    calls: list[Row] = []
    logs: list[Row] = []
    for one in inner:
        if "topics" in one:
            logs.append(one | {"position": hex(len(calls))})
        else:
            calls.append(one)
    return {"type": kind, "from": sender, "to": to, "value": hex(value), "calls": calls, "logs": logs} | more


def logs_of(frame: Row) -> Iterator[Row]:
    """Yield the logs of a frame in their order; none if it failed."""
    if "error" in frame:
        return
    logs = [*frame["logs"]]
    for number, inner in enumerate(frame["calls"]):
        while logs and int(logs[0]["position"], 16) <= number:
            yield logs.pop(0)
        yield from logs_of(inner)
    yield from logs


def traced(trace: Row, coin: int = 0, logs: list[Row] | None = None) -> Decoded:
    """Return what is decoded of the transaction of a stranger with this trace."""
    found = [{name: one[name] for name in ("address", "topics", "data")} for one in logs_of(trace)]
    transaction = carried(*(found if logs is None else logs), to=trace["to"], coin=coin)
    given = Given("eth", transaction.receipt, 0, transaction.coins, DECIMAL)
    frames = frames_of(msgspec.convert(trace, Frame), given.logs().receipt.logs, WALLET)
    return replace(given, frames=frames).decode(WALLET, ARCHIVE)


NOTHING = call(WALLET, OTHER)
RAN = call(WALLET, ROUTER, *sold(), log(Q, (SWAP,)))
FOR_COIN = call(
    *(WALLET, ROUTER, transfer(CAT, WALLET, Q, UNITS), log(Q, (SWAP,))),
    call(Q, ROUTER, log(WETH, (evm.WITHDRAWAL, word(ROUTER)), ETH)),
    call(ROUTER, WALLET, value=ETH),
)
BESIDE = call(DELEGATION, Q, *TRICK)


def through_the_account(*calls: Row, kind: str = "DELEGATECALL") -> Row:
    """Return the frame of the account, whose code makes these calls."""
    return call(DELEGATION, WALLET, call(WALLET, OTHER, *calls, kind=kind))


@pytest.mark.parametrize(
    ("calls", "coin"),
    [
        ((through_the_account(RAN),), 0),
        ((through_the_account(RAN), BESIDE), 0),
        ((BESIDE, through_the_account(call(WALLET, CAT), RAN), call(Q, WALLET, value=90 * ETH)), 90 * ETH),
        ((BESIDE, through_the_account(FOR_COIN), BESIDE), ETH),
        ((through_the_account(FOR_COIN), call(Q, WALLET, value=90 * ETH)), 91 * ETH),
        # What failed was not run.
        ((through_the_account(call(WALLET, Q, *TRICK, error="reverted"), RAN), BESIDE), 0),
    ],
)
def test_what_the_code_of_an_account_ran_counts_and_nothing_beside_it(
    calls: tuple[Row, ...], coin: int
) -> None:
    result = traced(call(RELAYER, DELEGATION, *calls), coin)
    assert shown(result.drafts) == SOLD
    assert [draft.exchanged(draft.native) for draft in result.drafts] == [0]


@pytest.mark.parametrize(
    ("attack", "calls"),
    [
        ("a signed call that moves nothing, beside a trick", (through_the_account(NOTHING), BESIDE)),
        ("code that others run", (call(DELEGATION, WALLET, *TRICK),)),
        ("a call of the account that failed", (through_the_account(NOTHING | {"error": "no"}), BESIDE)),
        ("a call that only reads", (through_the_account(call(WALLET, Q, *TRICK, kind="STATICCALL")),)),
        ("a call of the account within", (call(DELEGATION, Q, through_the_account(NOTHING), *TRICK),)),
    ],
)
def test_what_strangers_put_beside_the_calls_of_an_account_is_no_trade(
    attack: str, calls: tuple[Row, ...]
) -> None:
    result = traced(call(RELAYER, DELEGATION, *calls))
    assert (attack, result.why, result.drafts) == (attack, UNSIGNED, ())


def test_a_trace_that_does_not_have_the_logs_of_the_receipt_proves_nothing() -> None:
    trace = call(RELAYER, DELEGATION, through_the_account(RAN))
    logs = [{name: one[name] for name in ("address", "topics", "data")} for one in logs_of(trace)]
    assert shown(traced(trace, logs=logs).drafts) == SOLD
    for other in ([*logs, DUSTED], logs[::-1], [DUSTED, *logs]):
        result = traced(trace, logs=other)
        assert (result.why, result.drafts) == (UNSIGNED, ())
