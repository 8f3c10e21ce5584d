"""Trades from an EVM node: spans, limits, faults, reorganisations."""

from datetime import timedelta

import pytest
from flask import Response, request

from tests.stub import evm, faults
from tests.stub.evm import Block, EvmChain, Transaction, log, now, transfer, word
from tests.stub.server import Stub
from tests.sync.evm_trades import (
    AT,
    CAT,
    DOG,
    ETH,
    FRIEND,
    GAS,
    POOL,
    SWAP,
    WALLET,
    begin,
    buy,
    receipt,
    sell,
    signature,
)
from tests.sync.operator import Operator, Start, values

CHAIN = "eth"


@pytest.fixture
def chain(stub: Stub, operator: Operator) -> EvmChain:
    """A chain of Ethereum with an empty block a minute, the last one now, and a tracked wallet."""
    chain = begin(stub, operator, CHAIN)
    for minute in range(30):
        chain.add(AT + timedelta(minutes=minute))
    return chain


def sync(operator: Operator, *options: str, since: str = AT.isoformat(), **environment: str) -> evm.Row:
    """Run one round, and return its summary."""
    return operator.sync("trades", "--chain", CHAIN, "--since", since, *options, **environment).only


def trades(operator: Operator) -> dict[tuple[str, str, str], tuple[str, str, str | None]]:
    """Return amount, value and dollars by transaction, mint and side."""
    return values(operator.ledger())


def test_wallets_share_the_requests(stub: Stub, chain: EvmChain, operator: Operator) -> None:
    others = [f"0x{number:040x}" for number in range(1, 300)]
    operator.track(*((CHAIN, other) for other in others))
    chain.add(now(), *(buy(number, wallet=other) for number, other in enumerate(others[:20], 1)))
    done = sync(operator)
    assert (done["synced"], done["changed"]) == (300, 20)
    assert len(stub.requests_of("eth_getLogs")) == 2
    # More than a few receipts of a block come in one response.
    assert (len(stub.requests_of("eth_getBlockReceipts")), stub.requests_of("eth_getTransactionReceipt")) == (
        1,
        [],
    )
    stub.calls.clear()
    assert sync(operator)["changed"] == 0
    # The last blocks are read again, and nothing else.
    assert len(stub.requests_of("eth_getLogs")) == 2


def test_a_wallet_that_is_tracked_later_is_read_from_the_beginning(
    chain: EvmChain, operator: Operator
) -> None:
    chain.blocks[5].transactions = [buy(1), buy(2, wallet=FRIEND)]
    assert sync(operator)["changed"] == 1
    operator.track((CHAIN, FRIEND))
    assert sync(operator)["changed"] == 1
    assert {key[1] for key in operator.ledger()} == {WALLET, FRIEND}


def sold_somewhere(number: int) -> Transaction:
    """Return a sale to a pool that holds native coin and logs nothing that is known."""
    logs = (transfer(CAT, WALLET, POOL, 10**6), log(POOL, (signature(5),)))
    return Transaction(receipt(number, *logs), 0, {WALLET: ETH - GAS, POOL: -ETH})


def test_dust_of_a_stranger_in_the_same_block_hides_no_trade_and_makes_none(
    chain: EvmChain, operator: Operator
) -> None:
    stranger, other = f"0x{'57' * 20}", f"0x{'58' * 20}"
    # What strangers may log beside it is in tests/decoding/test_evm_rules.py.
    dust, exchanged = transfer(DOG, other, WALLET, 1), log(other, (SWAP,), 5)
    chain.add(now(), sold_somewhere(1), Transaction(receipt(2, dust, sender=stranger)))
    chain.add(now(), buy(3), Transaction(receipt(4, dust, exchanged, sender=stranger, to=other)))
    done = sync(operator)
    assert (done["changed"], done["unsigned"], done["left_out"]) == (2, 1, 0)
    assert {key: amounts[:2] for key, amounts in trades(operator).items()} == {
        (signature(1), CAT, "sell"): ("1", "1"),
        (signature(3), CAT, "buy"): ("5", "1"),
    }


def test_without_state_and_agreement_there_is_no_value(chain: EvmChain, operator: Operator) -> None:
    chain.state_blocks = 0
    chain.add(now(), buy(1), sold_somewhere(2))
    done = sync(operator)
    assert (done["changed"], done["from_logs"], done["left_out_reasons"].keys()) == (1, 1, {"no_value"})
    assert {key[0] for key in trades(operator)} == {signature(1)}
    chain.state_blocks, chain.has_traces = None, True
    # What was left out is read again at the next start.
    assert sync(operator)["changed"] == 1
    assert operator.fetch("SELECT * FROM sync_left_out") == []


@pytest.mark.parametrize("decimals", [None, 200])
def test_amounts_that_cannot_be_read_are_left_out(
    chain: EvmChain, operator: Operator, decimals: int | None
) -> None:
    chain.decimals = {} if decimals is None else {CAT: decimals}
    chain.add(now(), buy(1))
    assert sync(operator)["left_out_reasons"].keys() == {"invalid"}


@pytest.mark.parametrize("field", ["withdrawals", "miner"])
def test_a_reward_of_the_block_is_no_proceeds(chain: EvmChain, operator: Operator, field: str) -> None:
    block = chain.add(now(), sell(1))
    address = f"0x{WALLET[2:].upper()}"
    setattr(block, field, [address] if field == "withdrawals" else address)
    block.transactions[0].coins[WALLET] += ETH // 100
    assert sync(operator)["from_logs"] == 1
    assert trades(operator)[signature(1), CAT, "sell"][1] == "1"


def test_an_account_that_pays_for_its_operation_pays_no_prefund_for_its_trade(
    chain: EvmChain, operator: Operator
) -> None:
    entry, cost, prefund = "0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789", ETH // 1000, ETH // 100
    one = buy(1)
    event = log(entry, (evm.USER_OPERATION, signature(5), word(WALLET), word(evm.ZERO)), 1, 1, cost, 9)
    one.receipt |= {"from": FRIEND, "to": entry, "logs": [*one.receipt["logs"], event]}
    one.value, one.coins = 0, {WALLET: -ETH - prefund}
    one.deposits = {WALLET: prefund - cost}
    chain.add(now(), one)
    assert sync(operator)["from_logs"] == 0
    assert trades(operator) == {(signature(1), CAT, "buy"): ("5", "1", None)}


@pytest.mark.parametrize(
    "error",
    [
        (-32600, "block range is too wide"),
        (-32005, "query returned more than 10000 results. Try with this block range [0x1, 0x2]."),
        (-32602, "Log response size exceeded. this block range should work: [0x1, 0x2]"),
        (-32000, "an unknown reason"),
    ],
)
def test_a_span_that_is_too_long_is_halved(
    stub: Stub, chain: EvmChain, operator: Operator, error: tuple[int, str]
) -> None:
    chain.most_blocks, chain.too_wide = 4, error
    for number, block in enumerate(chain.blocks, 1):
        block.transactions = [buy(number)]
    assert sync(operator)["changed"] == 30
    assert len(stub.requests_of("eth_getLogs")) < 60


def test_a_node_that_refuses_single_blocks_fails_the_chain(chain: EvmChain, operator: Operator) -> None:
    chain.most_blocks = 0
    assert sync(operator)["failures"] == {"too_large": 1}


def test_a_span_that_is_refused_by_its_status_does_not_end_batches(
    stub: Stub, chain: EvmChain, operator: Operator
) -> None:
    for number in range(1, 20):
        chain.blocks[number].transactions = [buy(number)]
    refusals = iter([faults.status(400)() for _ in range(4)])
    stub.scenarios["eth_getLogs"] = lambda: next(refusals, None)
    done = sync(operator)
    assert done["changed"] == 19
    # The calls alone would be 184 requests.
    assert done["requests"] < 50


def test_a_node_that_allows_few_topics_gets_fewer(chain: EvmChain, operator: Operator) -> None:
    chain.most_topics = 20
    operator.track(*((CHAIN, f"0x{number:040x}") for number in range(1, 90)))
    chain.add(now(), buy(1))
    assert (sync(operator)["synced"], len(trades(operator))) == (90, 1)


def test_a_node_without_block_receipts_gets_batches(stub: Stub, chain: EvmChain, operator: Operator) -> None:
    chain.has_block_receipts = False
    chain.add(now(), *(buy(number) for number in range(1, 9)))
    sync(operator)
    assert len(stub.requests_of("eth_getTransactionReceipt")) == 8
    # With several transactions of the wallet in a block, none is valued by its balance.
    assert len(trades(operator)) == 8


# One that lies of its newest block returns no logs of it.
@pytest.mark.parametrize(("behind", "lies"), [(3, False), (3, True), (1, True)])
def test_a_node_that_is_behind_counts_for_nothing(
    chain: EvmChain, operator: Operator, behind: int, lies: bool
) -> None:
    assert sync(operator)["synced"] == 1
    chain.add(now(), buy(1))
    chain.behind, chain.lies = behind, lies
    done = sync(operator, HOLDINGS_BACKOFF_SECONDS="0.001")
    assert (done["synced"], done["failures"]) == (0, {"server_error": 1})
    chain.behind = 0
    assert sync(operator)["changed"] == 1


def test_a_balance_of_a_node_that_is_behind_is_no_missing_state(
    stub: Stub, chain: EvmChain, operator: Operator
) -> None:
    chain.add(now(), buy(1))
    stub.scenarios["eth_getBalance"] = faults.rpc_error(-32000, "header not found")
    assert sync(operator)["failures"] == {"server_error": 1}
    stub.scenarios.clear()
    done = sync(operator)
    assert (done["changed"], done["from_logs"]) == (1, 0)


def test_a_node_that_returns_other_logs_than_requested_counts_for_nothing(
    chain: EvmChain, operator: Operator
) -> None:
    chain.add(now(), buy(1))
    chain.add(now(), buy(2, wallet=FRIEND))
    chain.ignores_filters = True
    done = sync(operator, HOLDINGS_BACKOFF_SECONDS="0.001")
    assert (done["synced"], done["failures"]) == (0, {"malformed": 1})
    chain.ignores_filters = False
    assert sync(operator)["changed"] == 1


def test_a_node_of_another_chain_is_refused(stub: Stub, chain: EvmChain, operator: Operator) -> None:
    stub.nodes.chain_ids[CHAIN] = 56
    done = sync(operator)
    assert (done["synced"], done["failures"]) == (0, {"not_configured": 1})


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_what_a_reorganisation_removed_is_removed(chain: EvmChain, operator: Operator, depth: int) -> None:
    for number in range(1, 7):
        chain.add(now() - timedelta(seconds=60 - number), buy(number))
    assert sync(operator)["changed"] == 6
    old = chain.blocks[-depth:]
    # The first one is lost, the second comes earlier, another one is new.
    moved = [one for block in old for one in block.transactions][1:]
    chain.reorganise(
        depth, [Block(old[0].created_at, [*moved, buy(9)]), *(Block(b.created_at) for b in old[1:])]
    )
    done = sync(operator)
    assert done["reorganised"] == depth
    lost = signature(7 - depth)
    assert {key[0] for key in trades(operator)} == {signature(n) for n in (1, 2, 3, 4, 5, 6, 9)} - {lost}
    moments = {key[2]: trade[3] for key, trade in operator.ledger().items()}
    assert all(moments[one.hash] == old[0].created_at for one in moved)
    assert sync(operator)["changed"] == 0


def test_a_reorganisation_deeper_than_what_is_kept_is_warned_of(chain: EvmChain, operator: Operator) -> None:
    for number in range(1, 4):
        chain.add(now() - timedelta(seconds=60 - number), buy(number))
    operator.sync("trades", "--chain", CHAIN)

    def reorganise(depth: int) -> str:
        chain.reorganise(depth, [Block(block.created_at) for block in chain.blocks[-depth:]])
        return operator.sync("trades", "--chain", CHAIN).text

    assert "deeper than" not in reorganise(1)
    # The stub replaces no block before its first one; how many of those are kept depends on the time.
    operator.fetch("DELETE FROM sync_blocks WHERE number < %s RETURNING 1", chain.start)
    kept = len(operator.fetch("SELECT FROM sync_blocks"))
    assert f"deeper than the {kept} blocks that are kept" in reorganise(len(chain.blocks))


def test_a_block_that_is_replaced_while_it_is_read_counts_for_nothing(
    stub: Stub, chain: EvmChain, operator: Operator
) -> None:
    block = chain.add(now(), buy(1))

    def replace() -> None:
        # Between its receipts and the whole block.
        if b"true" in request.get_data() and chain.blocks[-1] is block:
            chain.reorganise(1, [Block(block.created_at, block.transactions)])

    stub.scenarios["rpc"] = replace
    assert sync(operator)["failures"] == {"server_error": 1}
    assert (sync(operator)["changed"], len(trades(operator))) == (1, 1)


def test_the_last_blocks_are_read_again_as_deep_as_is_set(chain: EvmChain, operator: Operator) -> None:
    assert sync(operator, ETH_CONFIRM_SECONDS="70")["changed"] == 0
    # As if the node had returned too little for its newest blocks.
    chain.blocks[-3].transactions = [buy(1)]
    assert sync(operator, ETH_CONFIRM_SECONDS="1")["changed"] == 0
    assert sync(operator, ETH_CONFIRM_SECONDS="130")["changed"] == 1


def test_a_node_that_fails_after_some_requests_is_read_in_smaller_parts(
    stub: Stub, chain: EvmChain, operator: Operator, start: Start
) -> None:
    for number in range(60):
        chain.add(AT + timedelta(minutes=30, seconds=number), buy(number + 1))
    # Of each round; 50 blocks together need more.
    allowed = iter(range(24))

    def fault() -> Response | None:
        nonlocal allowed
        if b'"latest"' in request.get_data():
            allowed = iter(range(24))
        return None if next(allowed, None) is not None else faults.status(400)()

    stub.scenarios["rpc"] = fault
    running = start("trades", "--chain", CHAIN, "--every", "1", "--since", AT.isoformat())
    changed = 0
    while changed < 60:
        changed += running.next_round()["changed"]
    assert len(operator.ledger()) == 60
