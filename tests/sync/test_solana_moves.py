"""The trades of Solana transactions, from the node's response to the ledger."""

from datetime import timedelta

import pytest

from tests.stub.server import Stub
from tests.stub.transactions import RENT, WRAPPED, Move, now, transaction
from tests.sync.operator import Operator, values
from tests.sync.solana import BONK, FART, SOL, USDC, WALLET, buy, own, pool, read_from

UNCLEAR = "several tokens whose separate prices are unclear"
NO_VALUE = "a swap of two tokens of unknown value"

AT = now() - timedelta(minutes=50)


@pytest.fixture(autouse=True)
def _tracked(operator: Operator, stub: Stub) -> None:
    read_from(stub, operator)


# What moved, and the trades that it is: by mint and side the amount and its value in SOL.
TRADES: dict[str, tuple[list[Move], dict[tuple[str, str], tuple[str, str]]]] = {
    "the rent of a new account is no price": (
        [
            own(None, -SOL - RENT),
            own(FART, 5 * 10**6, opened=True),
            pool(WRAPPED, SOL),
            pool(FART, -5 * 10**6),
        ],
        {(FART, "buy"): ("5", "1")},
    ),
    "nor is that of a closed one": (
        [
            own(None, SOL // 2 + RENT),
            own(FART, -(10**6), closed=True),
            pool(WRAPPED, -SOL // 2),
            pool(FART, 10**6),
        ],
        {(FART, "sell"): ("1", "0.5")},
    ),
    "the wrapped coin is the coin": (
        [
            own(None, -SOL // 4),
            own(WRAPPED, -SOL // 2),
            own(FART, 10**6),
            pool(WRAPPED, 3 * SOL // 4),
            pool(FART, -(10**6)),
        ],
        {(FART, "buy"): ("1", "0.75")},
    ),
    "a bonding curve holds the coin itself": (
        [own(None, SOL // 10), own(FART, -123_456), pool(None, -SOL // 10), pool(FART, 123_456)],
        {(FART, "sell"): ("0.123456", "0.1")},
    ),
    "who makes a token and buys of it first": (
        [own(None, -SOL), own(FART, 10**6), pool(None, SOL), pool(FART, 999 * 10**6)],
        {(FART, "buy"): ("1", "1")},
    ),
    "a tip and a bot's fee are part of what it cost": (
        [
            own(None, -SOL - 7_000_000),
            own(FART, 10**6),
            pool(WRAPPED, SOL),
            pool(FART, -(10**6)),
            Move("tip", None, 7_000_000),
        ],
        {(FART, "buy"): ("1", "1.007")},
    ),
    "what only passes through is no trade": (
        [
            own(None, -SOL),
            own(FART, 10**6),
            pool(WRAPPED, SOL),
            pool(USDC, -150),
            pool(USDC, 150, "b"),
            pool(FART, -(10**6), "b"),
        ],
        {(FART, "buy"): ("1", "1")},
    ),
    "a stable coin says the dollars": (
        [
            own(USDC, 320 * 10**6),
            own(FART, -(10**6)),
            own(None, -900_000),
            pool(USDC, -320 * 10**6),
            pool(FART, 10**6),
            Move("tip", None, 900_000),
        ],
        {(FART, "sell"): ("1", "2"), (USDC, "buy"): ("320", "2")},
    ),
    "two tokens by way of the coin": (
        [
            own(BONK, -9),
            own(FART, 7),
            pool(BONK, 9),
            pool(WRAPPED, -SOL),
            pool(WRAPPED, SOL, "b"),
            pool(FART, -7, "b"),
        ],
        {(BONK, "sell"): ("0.000009", "1"), (FART, "buy"): ("0.000007", "1")},
    ),
    "two tokens by way of a third and the coin": (
        [
            own(BONK, -9),
            own(FART, 7),
            pool(BONK, 9),
            pool(USDC, -5),
            pool(USDC, 5, "b"),
            pool(WRAPPED, -SOL, "b"),
            pool(None, SOL, "c"),
            pool(FART, -7, "c"),
        ],
        {(BONK, "sell"): ("0.000009", "1"), (FART, "buy"): ("0.000007", "1")},
    ),
    "several instructions, each with a price of its own": (
        [
            own(BONK, -9),
            own(FART, 7),
            own(None, SOL // 2),
            pool(BONK, 9),
            pool(WRAPPED, -2 * SOL),
            pool(WRAPPED, 3 * SOL // 2, "b"),
            pool(FART, -7, "b"),
        ],
        {(BONK, "sell"): ("0.000009", "2"), (FART, "buy"): ("0.000007", "1.5")},
    ),
    "two tokens bought at once": (
        [
            own(None, -3 * SOL),
            own(BONK, 9),
            own(FART, 7),
            pool(BONK, -9),
            pool(WRAPPED, SOL),
            pool(WRAPPED, 2 * SOL, "b"),
            pool(FART, -7, "b"),
        ],
        {(BONK, "buy"): ("0.000009", "1"), (FART, "buy"): ("0.000007", "2")},
    ),
    "an order book that keeps each side with an owner of its own": (
        [own(None, -SOL), own(FART, 7), pool(WRAPPED, SOL, "one vault"), pool(FART, -7, "the other")],
        {(FART, "buy"): ("0.000007", "1")},
    ),
    "another wallet's swap in the same transaction": (
        [
            own(BONK, -9),
            own(FART, 7),
            pool(BONK, 18),
            pool(WRAPPED, -2 * SOL),
            pool(WRAPPED, SOL, "b"),
            pool(FART, -7, "b"),
            Move("other", BONK, -9),
            Move("other", None, SOL),
        ],
        {(BONK, "sell"): ("0.000009", "1"), (FART, "buy"): ("0.000007", "1")},
    ),
    "a wrap": ([own(None, -SOL - RENT), own(WRAPPED, SOL, opened=True)], {}),
    "a transfer to somebody": ([own(FART, -5), own(None, -RENT), Move("friend", FART, 5, opened=True)], {}),
    "a gift": ([own(FART, 5), Move("friend", FART, -5)], {}),
    "an airdrop that its owner paid the rent for": (
        [own(None, -1_600_000), own(FART, 5), Move("claims", None, 1_600_000), Move("vault", FART, -5)],
        {},
    ),
    "two tokens into a pool": (
        [own(BONK, -9), own(FART, -7), own(None, SOL), pool(BONK, 9), pool(FART, 7)],
        {},
    ),
    "coins alone": ([own(None, SOL), Move("friend", None, -SOL)], {}),
    "an NFT": (
        [
            own(None, -SOL),
            Move(WALLET, BONK, 1, opened=True, decimals=0),
            Move("artist", None, SOL),
            Move("artist", BONK, -1, closed=True, decimals=0),
        ],
        {},
    ),
}

REFUSED: dict[str, tuple[list[Move], str]] = {
    "two tokens that nothing values": (
        [own(BONK, -9), own(FART, 7), pool(BONK, 9), pool(FART, -7)],
        NO_VALUE,
    ),
    "partly for the coin and partly for a token": (
        [own(None, -SOL), own(BONK, -9), own(FART, 7), pool(WRAPPED, SOL), pool(BONK, 9), pool(FART, -7)],
        UNCLEAR,
    ),
}


@pytest.mark.parametrize("name", TRADES)
def test_what_moved_says_what_was_traded(stub: Stub, operator: Operator, name: str) -> None:
    stub.prices.hourly = lambda currency, moment: 160.0
    moves, expected = TRADES[name]
    stub.transactions.add(WALLET, "s", transaction(AT, WALLET, *moves))
    done = operator.sync("trades", "--chain", "solana")
    assert (done.status, done.only["left_out"]) == (0, 0)
    ledger = values(operator.ledger())
    assert {key[1:]: trade[:2] for key, trade in ledger.items()} == expected
    assert operator.sync("trades", "--chain", "solana").only["changed"] == 0


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_told_is_left_out_and_counted(stub: Stub, operator: Operator, name: str) -> None:
    moves, reason = REFUSED[name]
    stub.transactions.add(WALLET, "s", transaction(AT, WALLET, *moves))
    stub.transactions.add(WALLET, "good", buy(AT))
    done = operator.sync()
    code = "no_value" if reason == NO_VALUE else "unclear"
    assert (done.status, done.only["left_out_reasons"]) == (3, {code: {reason: 1}})
    assert {key[2] for key in operator.ledger()} == {"good"}
