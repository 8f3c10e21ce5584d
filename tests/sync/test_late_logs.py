"""Logs that an EVM node leaves out of its newest blocks, and adds later: no trade is lost."""

import itertools
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from tests.lib.waiting import eventually, repeated
from tests.stub.evm import EvmChain, now
from tests.stub.server import Stub
from tests.sync import evm_trades
from tests.sync.evm_trades import CAT, FRIEND, WALLET, WRAPPED, buy, signature
from tests.sync.operator import Operator, Start

AT = now() - timedelta(minutes=10)
# The time from block to block, and after how many seconds blocks are no longer read again.
CHAINS = {"base": 0.2, "bnb": 0.45, "eth": 1.0}
CONFIRM = 4.0


def begin(stub: Stub, operator: Operator, name: str) -> EvmChain:
    """Return a chain with an empty block, and a tracked wallet."""
    operator.environment[f"{name.upper()}_CONFIRM_SECONDS"] = f"{CONFIRM}"
    chain = evm_trades.begin(stub, operator, name)
    chain.add(AT)
    return chain


def live(chain: EvmChain, name: str, seconds: float, numbers: Iterator[int]) -> None:
    """Let the chain go on for so long, with a purchase in each block, of which one in twenty comes late."""
    began = time.monotonic()
    for place in itertools.count(1):
        if time.monotonic() - began > seconds:
            return
        number = next(numbers)
        if number % 20 == 7:
            chain.omitted.add(signature(number))
        chain.add(datetime.now(UTC), buy(number, wrapped=WRAPPED[name]))
        time.sleep(max(0.0, began + place * CHAINS[name] - time.monotonic()))


@pytest.mark.parametrize("name", CHAINS)
def test_what_a_node_leaves_out_for_less_than_the_set_time_is_not_lost(
    stub: Stub, operator: Operator, start: Start, name: str
) -> None:
    chain = begin(stub, operator, name)
    chain.omitted_seconds, chain.reorders, chain.halves = CONFIRM, True, 1
    numbers = itertools.count(1)
    running = start("trades", "--follow", "--since", AT.isoformat(), FOLLOW_SECONDS="1")
    running.next_round()
    stub.calls.clear()
    live(chain, name, 20, numbers)
    # The blocks that the node had at the end are read again with the next ones.
    stopped = next(numbers)
    for _ in range(2):
        time.sleep(CONFIRM)
        chain.add(datetime.now(UTC))
    assert eventually(lambda: operator.signatures() == {signature(number) for number in range(1, stopped)})
    (late,) = operator.fetch("SELECT total FROM sync_report WHERE name = 'left_out' AND label = 'late'")
    assert late["total"] >= len(chain.omitted) / 2
    # Each block is read with each round, in one request: two filters, of what was given and of what came.
    rounds = stub.requests_of("eth_getBlockByNumber").count("latest")
    assert len(stub.requests_of("eth_getLogs")) <= 2 * rounds
    # No transaction is requested twice for it.
    receipts = stub.requests_of("eth_getTransactionReceipt")
    assert len(receipts) <= 1.2 * stopped
    assert running.end()[0] == 0


def test_what_was_left_out_for_longer_comes_with_the_reading_of_the_next_day(
    stub: Stub, operator: Operator
) -> None:
    chain = begin(stub, operator, "base")
    operator.track(("base", FRIEND))
    operator.environment["SYNC_OVERLAP_SECONDS"] = "60"
    day = timedelta(days=1)
    chain.blocks[0].created_at = AT - 2 * day
    chain.omitted, chain.omitted_seconds = {signature(2)}, 3 * day.total_seconds()
    wrapped = WRAPPED["base"]
    chain.add(AT - day, buy(1, wrapped=wrapped), buy(2, wallet=FRIEND, wrapped=wrapped))
    chain.add(now())
    since = (AT - day - timedelta(hours=1)).isoformat()

    def one_round() -> int:
        chain.add(now())
        return int(operator.sync("trades", "--since", since).only["changed"])

    assert one_round() == 1
    # What the ledger has keeps its value, also where the state of its block is gone.
    (before,) = operator.ledger().values()
    chain.omitted.clear()
    chain.state_blocks = 1
    assert one_round() == 0
    operator.fetch(
        "UPDATE sync_chains SET rechecked_until = rechecked_until - interval '25 hours' RETURNING 1"
    )
    assert one_round() == 1
    assert operator.signatures() == {signature(1), signature(2)}
    assert operator.ledger()["base", WALLET, signature(1), CAT, "buy"] == before
    # Only once a day, and each block once.
    stub.calls.clear()
    assert one_round() == 0
    assert len(stub.requests_of("eth_getLogs")) == 2
    (state,) = operator.fetch("SELECT rechecked_until FROM sync_chains")
    assert state["rechecked_until"] > datetime.now(UTC) - timedelta(minutes=12)


def test_a_log_that_a_later_reading_lacks_takes_no_trade_back_but_another_hash_of_its_block_does(
    stub: Stub, operator: Operator
) -> None:
    chain = begin(stub, operator, "base")
    one = chain.add(now(), buy(1, wrapped=WRAPPED["base"]))
    options = ("trades", "--since", AT.isoformat())
    assert operator.sync(*options).only["changed"] == 1
    chain.omitted, chain.omitted_seconds = {signature(1)}, 3600.0
    for _ in range(2):
        chain.add(now(), buy(2, wrapped=WRAPPED["base"]))
        operator.sync(*options)
        assert signature(1) in operator.signatures()
    depth = len(chain.blocks) - chain.blocks.index(one)
    chain.reorganise(depth, [type(one)(now()) for _ in range(depth)])
    assert operator.sync(*options).only["reorganised"] == 2
    assert operator.signatures() == set()


def test_nodes_behind_one_address_of_which_some_are_a_little_behind_lose_nothing(
    stub: Stub, operator: Operator, start: Start
) -> None:
    chain = begin(stub, operator, "base")
    running = start("trades", "--follow", "--since", AT.isoformat(), FOLLOW_SECONDS="0.3")
    running.next_round()
    numbers = itertools.count(1)

    def waver() -> None:
        chain.behind = 2 - chain.behind

    with repeated(waver, 0.31):
        live(chain, "base", 6, numbers)
    chain.behind = 0
    stopped = next(numbers)
    chain.add(datetime.now(UTC))
    assert eventually(lambda: operator.signatures() == {signature(number) for number in range(1, stopped)})
    # What one of them does not have yet is asked again.
    assert "crashed" not in running.end()[1]
