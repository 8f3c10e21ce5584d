"""`wallet-api sync trades --follow` with an EVM node: new blocks within seconds."""

from datetime import timedelta

import psutil
import pytest

from tests.lib.waiting import calm_seconds, eventually
from tests.stub import faults
from tests.stub.evm import Block, EvmChain, now
from tests.stub.server import Stub
from tests.sync.evm_trades import FRIEND, WALLET, begin, buy, signature
from tests.sync.operator import Operator, Running, Start, addresses
from tests.sync.test_status import status

AT = now() - timedelta(minutes=10)


@pytest.fixture
def chain(stub: Stub, operator: Operator) -> EvmChain:
    """A chain of Ethereum with an empty block, and a tracked wallet."""
    chain = begin(stub, operator)
    chain.add(AT)
    return chain


def follow(start: Start, seconds: float = 0.2) -> Running:
    """Follow the chain, and return after the first round."""
    running = start("trades", "--follow", "--since", AT.isoformat(), FOLLOW_SECONDS=f"{seconds}")
    running.next_round()
    return running


def test_a_new_block_is_in_the_ledger_within_the_interval_and_two_seconds(
    chain: EvmChain, operator: Operator, start: Start
) -> None:
    running = follow(start, seconds=1)
    began = calm_seconds()
    chain.add(now(), buy(1))
    assert running.until(lambda summary: summary["changed"])["changed"] == 1
    assert calm_seconds() - began < 3
    assert operator.signatures() == {signature(1)}
    assert running.end()[0] == 0


def test_status_shows_that_the_chain_is_followed_and_only_rounds_with_news_are_reported(
    stub: Stub, chain: EvmChain, operator: Operator, start: Start
) -> None:
    running = follow(start)
    words = ["eth", "blocks", "1", "of", "1", "yes"]
    assert any(line.split()[:6] == words for line in status(operator).splitlines())
    # Only new blocks are read.
    stub.calls.clear()
    assert eventually(lambda: stub.requests_of("eth_getBlockByNumber").count("latest") >= 3)
    assert stub.requests_of("eth_getLogs") == []
    chain.add(now(), buy(1))
    assert running.next_round()["changed"] == 1
    assert eventually(lambda: "9 OF 10 IN" in status(operator))


def test_a_wallet_that_is_tracked_meanwhile_is_followed_without_a_restart(
    chain: EvmChain, operator: Operator, start: Start
) -> None:
    chain.add(AT + timedelta(minutes=1), buy(1, wallet=FRIEND))
    running = follow(start)
    operator.track(("eth", FRIEND))
    assert running.until(lambda summary: summary["changed"])["wallets"] == 2
    chain.add(now(), buy(2, wallet=FRIEND))
    running.until(lambda summary: summary["changed"])
    operator.fetch("DELETE FROM wallets WHERE address = %s RETURNING 1", FRIEND)
    chain.add(now(), buy(3, wallet=FRIEND), buy(4))
    running.until(lambda summary: summary["changed"])
    assert operator.signatures() == {signature(4)}


def test_a_round_writes_one_row_for_all_wallets(chain: EvmChain, operator: Operator, start: Start) -> None:
    others = addresses("eth", 10_000)
    operator.track(*(("eth", other) for other in others))
    running = follow(start)
    written = "SELECT wallet_id, xmin::text FROM sync_wallets ORDER BY wallet_id"
    before = operator.fetch(written)
    assert len(before) == 10_001
    memory = psutil.Process(running.process.pid).memory_full_info().uss
    for number in range(3):
        chain.add(now() - timedelta(seconds=3 - number), buy(number + 1))
        running.until(lambda summary: summary["changed"])
    assert operator.fetch(written) == before
    assert psutil.Process(running.process.pid).memory_full_info().uss - memory < 30 * 1024 * 1024
    (position,) = operator.fetch("SELECT blockchain, synced_until FROM sync_chains")
    assert (position["blockchain"], position["synced_until"]) == ("eth", chain.blocks[-1].created_at)
    # Whoever goes on goes on from there, with all wallets.
    running.end()
    chain.add(now(), buy(4), buy(5, wallet=others[7]))
    assert operator.sync("trades", "--since", AT.isoformat()).only["changed"] == 2


def test_a_wallet_that_is_read_again_from_earlier_misses_nothing_meanwhile(
    stub: Stub, chain: EvmChain, operator: Operator
) -> None:
    operator.track(("eth", FRIEND))
    operator.sync("trades", "--since", (AT - timedelta(days=1)).isoformat())
    operator.fetch(
        "UPDATE sync_wallets SET synced_from = %s FROM wallets"
        " WHERE wallets.wallet_id = sync_wallets.wallet_id AND address = %s RETURNING 1",
        AT,
        FRIEND,
    )
    chain.add(AT + timedelta(minutes=1), buy(1, wallet=FRIEND), buy(2))
    # The other wallet goes on, while this one fails.
    stub.scenarios["eth_getLogs"] = faults.in_turn(None, None, *[faults.status(500)] * 9)
    done = operator.sync("trades", "--since", (AT - timedelta(days=1)).isoformat(), SYNC_THREADS="1")
    assert (done.only["failed"], operator.signatures()) == (1, {signature(2)})
    stub.scenarios.clear()
    assert operator.sync("trades", "--since", AT.isoformat()).only["changed"] == 1
    assert operator.signatures() == {signature(1), signature(2)}


def test_a_new_wallet_with_much_to_read_delays_no_other(
    chain: EvmChain, operator: Operator, start: Start
) -> None:
    chain.blocks[:] = [Block(AT - timedelta(days=1))]
    for number in range(60):
        chain.add(AT + timedelta(seconds=number), buy(number + 1, wallet=FRIEND))
    chain.add(now())
    slow = {"FOLLOW_SECONDS": "1", "SYNC_RPC_REQUESTS_PER_SECOND": "5"}
    running = start("trades", "--follow", "--since", (AT - timedelta(days=1)).isoformat(), **slow)
    running.next_round()
    operator.track(("eth", FRIEND))
    assert eventually(lambda: operator.signatures() != set())
    chain.add(now(), buy(1000))
    assert eventually(lambda: signature(1000) in operator.signatures(), 10)
    assert len(operator.signatures()) < 60
    assert eventually(lambda: len(operator.signatures()) == 61)


def test_chains_without_a_node_are_read_with_their_own_period(
    stub: Stub, chain: EvmChain, operator: Operator, start: Start
) -> None:
    operator.environment["MORALIS_API_KEY"] = stub.swaps.key
    operator.track(("bnb", WALLET))
    running = follow(start)
    # The first rounds of both.
    running.next_round()
    assert eventually(lambda: stub.requests_of("eth_getBlockByNumber").count("latest") >= 5)
    assert len([call for call in stub.calls if call.name.endswith("/swaps")]) == 1
