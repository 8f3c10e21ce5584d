"""The place of a trade in its chain, as nodes and Moralis state it: the order, and what is final."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.ledger.rows import trade_row
from tests.stub.evm import EvmChain, Transaction
from tests.stub.server import Stub
from tests.stub.swaps import leg, swap
from tests.stub.transactions import WRAPPED as WRAPPED_SOL
from tests.stub.transactions import transaction
from tests.sync import evm_trades, solana
from tests.sync.evm_trades import CAT, WRAPPED, signature
from tests.sync.operator import Operator, Start
from wallet_api.base.chains import CHAINS
from wallet_api.database import connect
from wallet_api.ledger.wallet import find_wallet
from wallet_api.queries.history import wallet_history

Row = dict[str, Any]

AT = datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=20)
UNIT = 10**6
# By the number of its transaction, against the order of the chain: bought for 1, sold for 2, bought for 3.
BOUGHT, SOLD, BOUGHT_AGAIN = 9, 5, 1
_PLACES = "SELECT tx_signature, created_at, block, block_index FROM trades"
_CHANGES = """
SELECT (SELECT json_agg(arrivals ORDER BY arrivals) FROM arrivals) AS arrivals,
       (SELECT json_agg(ledger_events ORDER BY ledger_events) FROM ledger_events) AS events
"""


def trades_of(name: str, wallet: str = evm_trades.WALLET) -> list[Transaction]:
    """The three trades of a wallet, in their order."""
    buy: Row = {"wallet": wallet, "wrapped": WRAPPED[name], "units": 100 * UNIT}
    return [
        evm_trades.buy(BOUGHT, coin=1 * evm_trades.ETH, **buy),
        evm_trades.sell(SOLD, coin=2 * evm_trades.ETH, **buy),
        evm_trades.buy(BOUGHT_AGAIN, coin=3 * evm_trades.ETH, **buy),
    ]


def follow(stub: Stub, operator: Operator, name: str) -> EvmChain:
    """A chain with a block before the trades, whose node the wallet is read from."""
    chain = evm_trades.begin(stub, operator, name)
    chain.add(AT - timedelta(minutes=1))
    return chain


def one_round(operator: Operator, name: str, **environment: str) -> Row:
    since = (AT - timedelta(minutes=2)).isoformat()
    return operator.sync("trades", "--chain", name, "--since", since, **environment).only


def history(operator: Operator, name: str, address: str) -> Row:
    with connect(operator.url) as connection:
        wallet = find_wallet(connection, name, address)
        return wallet_history(connection, wallet, datetime.now(UTC), {"limit": 50})


def gain(operator: Operator, name: str, address: str = evm_trades.WALLET) -> tuple[float, float]:
    """Return what is realized, and the cost of what is held."""
    shown = history(operator, name, address)
    return float(shown["lifetime_stats_realized_pnl"]), float(shown["lifetime_stats_open_cost"])


def places(operator: Operator) -> dict[str, tuple[float, int | None, int | None]]:
    """Return second after the first trade, block and index by transaction."""
    return {
        row["tx_signature"]: (
            round((row["created_at"] - AT).total_seconds(), 3),
            row["block"],
            row["block_index"],
        )
        for row in operator.fetch(_PLACES)
    }


def final(operator: Operator, name: str, address: str = evm_trades.WALLET) -> dict[str, bool]:
    """Return by transaction whether it is final."""
    trades = history(operator, name, address)["trades"]
    return dict(zip(trades["tx_signature"], trades["final"], strict=True))


@pytest.mark.parametrize(
    ("name", "field"), [("base", "timestampMs"), ("bnb", "milliTimestamp"), ("base", ""), ("eth", "")]
)
def test_a_sale_before_a_purchase_in_one_second_is_walked_as_the_chain_has_them(
    stub: Stub, operator: Operator, name: str, field: str
) -> None:
    chain = follow(stub, operator, name)
    chain.milliseconds = field
    for milliseconds, one in zip((0, 200, 600), trades_of(name), strict=True):
        chain.add(AT + timedelta(milliseconds=milliseconds), one)
    assert one_round(operator, name)["changed"] == 3
    assert gain(operator, name) == (1, 3)
    parts = (0, 0.2, 0.6) if field else (0, 0, 0)
    numbers = (BOUGHT, SOLD, BOUGHT_AGAIN)
    assert places(operator) == {
        signature(number): (part, chain.start + place, 0)
        for place, (number, part) in enumerate(zip(numbers, parts, strict=True), 1)
    }


def test_trades_of_one_block_are_walked_in_the_order_of_their_transactions(
    stub: Stub, operator: Operator
) -> None:
    chain = follow(stub, operator, "eth")
    chain.add(AT, *trades_of("eth"))
    # Balances are of a whole block: the values come from logs.
    one_round(operator, "eth")
    assert gain(operator, "eth") == (1, 3)
    assert [place[1:] for place in places(operator).values()] == [(1001, index) for index in range(3)]


@pytest.mark.parametrize("stated", ["0x1", "no number", 5, None, 10**6])
def test_milliseconds_of_another_second_or_of_no_form_are_none(
    stub: Stub, operator: Operator, monkeypatch: pytest.MonkeyPatch, stated: Any
) -> None:
    chain = follow(stub, operator, "base")
    answer = chain.answer
    monkeypatch.setattr(
        chain,
        "answer",
        lambda method, parameters: (
            found | {"timestampMs": stated}
            if isinstance(found := answer(method, parameters), dict) and "timestamp" in found
            else found
        ),
    )
    chain.add(AT, trades_of("base")[0])
    assert one_round(operator, "base")["changed"] == 1
    assert places(operator) == {signature(BOUGHT): (0, 1001, 0)}


def test_slots_and_the_places_in_them_order_the_trades_of_solana(stub: Stub, operator: Operator) -> None:
    solana.read_from(stub, operator)
    paid = solana.SOL

    def trade(units: int, lamports: int) -> Row:
        moves = (
            *(solana.own(None, -lamports), solana.own(solana.FART, units)),
            *(solana.pool(WRAPPED_SOL, lamports), solana.pool(solana.FART, -units)),
        )
        return transaction(AT, solana.WALLET, *moves)

    rows = {
        "z": trade(UNIT, paid) | {"slot": 7, "transactionIndex": 9},
        "y": trade(-UNIT, -2 * paid) | {"slot": 8, "transactionIndex": 9},
        "x": trade(UNIT, 3 * paid) | {"slot": 8, "transactionIndex": 10},
    }
    for name, row in rows.items():
        stub.transactions.add(solana.WALLET, name, row)
    assert one_round(operator, "solana")["changed"] == 3
    assert gain(operator, "solana", solana.WALLET) == (1, 3)
    assert places(operator) == {"z": (0, 7, 9), "y": (0, 8, 9), "x": (0, 8, 10)}
    assert set(final(operator, "solana", solana.WALLET).values()) == {True}
    # What comes from a file, and is later than what the node says to be final, is not.
    operator.trades([trade_row(solana.WALLET, "w", AT, mint=solana.FART, block=9)])
    assert final(operator, "solana", solana.WALLET) == {"z": True, "y": True, "x": True, "w": False}


def test_blocks_of_moralis_order_its_trades_and_all_of_them_are_final(stub: Stub, operator: Operator) -> None:
    operator.track(("eth", evm_trades.WALLET))
    coin = CHAINS["eth"].wrapped_mint
    rows = (
        (BOUGHT, 7, leg(CAT, "100"), leg(coin, "1")),
        (SOLD, 8, leg(coin, "2"), leg(CAT, "100")),
        (BOUGHT_AGAIN, 9, leg(CAT, "100"), leg(coin, "3")),
    )
    for number, block, bought, sold in rows:
        place = {"blockNumber": block, "transactionIndex": 0}
        stub.swaps.add("eth", evm_trades.WALLET, swap(signature(number), AT, bought, sold, 1.0, **place))
    # What another source has said before is no longer so.
    operator.fetch("INSERT INTO final_blocks VALUES ('eth', 1), ('base', 1) RETURNING 1")
    one_round(operator, "eth")
    assert gain(operator, "eth") == (1, 3)
    assert set(final(operator, "eth").values()) == {True}
    assert operator.fetch("SELECT * FROM final_blocks") == [{"blockchain": "base", "number": 1}]


def test_a_trade_is_final_when_the_node_says_so(stub: Stub, operator: Operator) -> None:
    chain = follow(stub, operator, "base")
    chain.unfinal = 1
    bought, sold, again = trades_of("base")
    chain.add(AT, bought)
    chain.add(AT + timedelta(seconds=2), sold)
    one_round(operator, "base")
    assert final(operator, "base") == {signature(BOUGHT): True, signature(SOLD): False}
    before = operator.fetch(_CHANGES)
    chain.unfinal = 0
    one_round(operator, "base")
    assert final(operator, "base") == {signature(BOUGHT): True, signature(SOLD): True}
    # Which is no event, and is not taken back by a node that is behind.
    assert operator.fetch(_CHANGES) == before
    chain.unfinal = 2
    chain.add(AT + timedelta(seconds=4), again)
    one_round(operator, "base")
    assert final(operator, "base") == {
        signature(BOUGHT): True,
        signature(SOLD): True,
        signature(BOUGHT_AGAIN): False,
    }


def test_where_the_node_does_not_say_what_is_final_it_is_what_is_older_than_the_set_time(
    stub: Stub, operator: Operator
) -> None:
    chain = follow(stub, operator, "base")
    chain.unfinal = None
    bought, sold, _ = trades_of("base")
    chain.add(AT, bought)
    one_round(operator, "base", BASE_CONFIRM_SECONDS="3600")
    assert final(operator, "base") == {signature(BOUGHT): False}
    one_round(operator, "base", BASE_CONFIRM_SECONDS="20")
    assert final(operator, "base") == {signature(BOUGHT): True}
    chain.add(datetime.now(UTC).replace(microsecond=0), sold)
    one_round(operator, "base", BASE_CONFIRM_SECONDS="20")
    assert final(operator, "base") == {signature(BOUGHT): True, signature(SOLD): False}


def test_after_a_sync_is_forgotten_all_blocks_of_its_chain_count_as_final(
    stub: Stub, operator: Operator
) -> None:
    chain = follow(stub, operator, "base")
    chain.unfinal = 1
    chain.add(AT, trades_of("base")[0])
    one_round(operator, "base")
    assert final(operator, "base") == {signature(BOUGHT): False}
    assert operator.run("sync", "forget", "base").exit_code == 0
    assert final(operator, "base") == {signature(BOUGHT): True}


def test_a_node_that_does_not_know_for_a_moment_makes_no_block_final(
    stub: Stub, operator: Operator, start: Start
) -> None:
    chain = follow(stub, operator, "base")
    chain.unfinal = 1
    chain.add(AT, trades_of("base")[0])
    since = (AT - timedelta(minutes=2)).isoformat()
    running = start("trades", "--chain", "base", "--since", since, "--every", "6")
    running.next_round()
    chain.unfinal = None
    # It is requested every ten seconds.
    for _ in range(3):
        running.next_round()
    assert stub.requests_of("eth_getBlockByNumber").count("finalized") == 2
    assert final(operator, "base") == {signature(BOUGHT): False}
    running.end()
