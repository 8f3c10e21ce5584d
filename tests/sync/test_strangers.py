"""What a stranger does to a tracked wallet of an EVM chain stops no trade of anybody, and is counted."""

from collections.abc import Callable
from datetime import timedelta

import orjson
import pytest

from tests.lib.waiting import eventually
from tests.stub.evm import USER_OPERATION, ZERO, Block, EvmChain, Row, Transaction, log, now, transfer, word
from tests.stub.server import Stub
from tests.sync.evm_trades import CAT, ETH, FRIEND, POOL, SWAP, WALLET, WETH, begin, buy, receipt, signature
from tests.sync.operator import Operator, Start
from tests.sync.test_status import status

AT = now() - timedelta(minutes=10)
STRANGER, WORTHLESS, ENTRY = f"0x{'5a' * 20}", f"0x{'bd' * 20}", f"0x{'e4' * 20}"
ENTRY_POINT = "0x0000000071727de22e5e9d8baf0edac6f37da032"
# A body with so much of it is over the bound of a response.
TOO_MUCH = 34_000_000


@pytest.fixture
def chain(stub: Stub, operator: Operator) -> EvmChain:
    """A chain of Ethereum with an empty block, and two tracked wallets."""
    chain = begin(stub, operator, "eth", WALLET, FRIEND)
    chain.decimals[WORTHLESS] = 18
    chain.add(AT)
    return chain


def send(number: int, *logs: Row, **more: str) -> Transaction:
    """Return a transaction of the stranger."""
    return Transaction(receipt(number, *logs, **{"sender": STRANGER, "to": WORTHLESS} | more))


def gift(units: int = 5) -> Row:
    """Return the transfer of a worthless token to the wallet."""
    return transfer(WORTHLESS, STRANGER, WALLET, units)


def filled(row: Row, size: int) -> Row:
    """Return an event with so many characters of data."""
    return row | {"data": row["data"] + "0" * size}


def numbered(transactions: list[Transaction], first: int) -> list[Transaction]:
    """Return the same transactions, with other hashes."""
    for number, one in enumerate(transactions, first):
        one.receipt["transactionHash"] = signature(number)
    return transactions


def deposit() -> list[Transaction]:
    event = log(ENTRY, (USER_OPERATION, signature(5), word(WALLET), word(ZERO)), 1, 1, 1, 1)
    return [send(9, gift(), event)]


def empty_deposit(stub: Stub, chain: EvmChain) -> list[Transaction]:
    stub.nodes.empty.add(ENTRY)
    return deposit()


def worded_deposit(stub: Stub, chain: EvmChain) -> list[Transaction]:
    stub.nodes.reasons[ENTRY] = "header not found"
    return deposit()


def worded_decimals(stub: Stub, chain: EvmChain) -> list[Transaction]:
    stub.nodes.reasons[WORTHLESS] = "no backend"
    return [send(9, gift(), log(POOL, (SWAP,), 5))]


def large_name(stub: Stub, chain: EvmChain) -> list[Transaction]:
    stub.nodes.names[WORTHLESS] = "x" * (TOO_MUCH // 2)
    return [send(9, gift(), log(POOL, (SWAP,), 5))]


def large_receipts(stub: Stub, chain: EvmChain) -> list[Transaction]:
    return [send(9 + n, gift(), filled(log(POOL, (SWAP,), 5), TOO_MUCH // 4)) for n in range(4)]


def large_receipt(stub: Stub, chain: EvmChain) -> list[Transaction]:
    return [send(9, gift(), filled(log(POOL, (SWAP,), 5), TOO_MUCH))]


def many_logs(stub: Stub, chain: EvmChain) -> list[Transaction]:
    chain.most_logs = 20
    return [send(9, *(gift() for _ in range(21)))]


def large_logs(stub: Stub, chain: EvmChain) -> list[Transaction]:
    return [send(9, *(filled(gift(), TOO_MUCH // 40) for _ in range(40)))]


def large_block(stub: Stub, chain: EvmChain) -> list[Transaction]:
    one = send(9, gift(), log(POOL, (SWAP,), 5))
    one.input = "0x" + "0" * TOO_MUCH
    return [one]


def contradictions(stub: Stub, chain: EvmChain) -> list[Transaction]:
    exchanged = log(POOL, (SWAP,), 5)
    return [
        *(send(9, gift(), exchanged | wrong) for wrong in ({"data": None}, {"removed": True})),
        send(9, *(gift() | {"logIndex": "0x7"} for _ in range(2))),
        send(9, gift(), status="0x0"),
    ]


# Receipts that cannot be read are below.
ATTACKS = (empty_deposit, worded_deposit, worded_decimals)


def test_one_transaction_of_a_stranger_stops_no_trade(
    stub: Stub, chain: EvmChain, operator: Operator, start: Start
) -> None:
    running = start("trades", "--follow", "--since", AT.isoformat(), FOLLOW_SECONDS="0.2")
    bought: set[str] = set()

    def arrive(*numbers: int) -> bool:
        bought.update(map(signature, numbers))
        return eventually(lambda: operator.signatures() == bought)

    for place, attack in enumerate((*ATTACKS, large_receipt, many_logs)):
        one = 1000 * place
        stub.nodes.empty.clear()
        stub.nodes.reasons.clear()
        chain.add(now(), buy(one + 1))
        assert arrive(one + 1), attack.__name__
        chain.add(now(), *numbered(attack(stub, chain), one + 100))
        again = numbered(attack(stub, chain), one + 200)
        chain.add(now(), *again, buy(one + 2, wallet=FRIEND), buy(one + 3))
        chain.add(now(), buy(one + 4, wallet=FRIEND), buy(one + 5))
        assert arrive(*range(one + 2, one + 6)), attack.__name__
        chain.add(now(), buy(one + 6))
        assert arrive(one + 6), attack.__name__
    running.end()
    assert "crashed" not in status(operator)


def one_round(operator: Operator) -> Row:
    """Run one round, and return its summary."""
    return operator.sync("trades", "--chain", "eth", "--since", AT.isoformat()).only


def kept(operator: Operator) -> dict[tuple[str, str], tuple[str, str]]:
    """Return reason and detail of what is kept, by wallet and signature."""
    rows = operator.fetch("SELECT * FROM sync_left_out JOIN wallets USING (wallet_id)")
    return {(row["address"], row["tx_signature"]): (row["reason"], row["detail"]) for row in rows}


@pytest.mark.parametrize("attack", [large_receipt, contradictions], ids=lambda one: one.__name__)
def test_a_receipt_that_cannot_be_read_is_left_out_alone(
    stub: Stub,
    chain: EvmChain,
    operator: Operator,
    attack: Callable[[Stub, EvmChain], list[Transaction]],
) -> None:
    bad = numbered(attack(stub, chain), 9)
    chain.add(now(), *bad, *(buy(number, wallet=FRIEND) for number in range(1, 6)))
    done = one_round(operator)
    assert (done["failed"], done["changed"]) == (0, 5)
    reason = ("unreadable", "its receipt is too large, or contradicts itself")
    assert kept(operator) == {(WALLET, signature(number)): reason for number in range(9, 9 + len(bad))}
    # It is read as soon as it can be.
    for one in bad:
        one.receipt |= {"logs": [gift()], "status": "0x1"}
    chain.add(now())
    one_round(operator)
    assert kept(operator) == {}


@pytest.mark.parametrize("attack", [many_logs, large_logs], ids=lambda one: one.__name__)
def test_of_a_block_with_too_many_transfers_the_wallets_own_transactions_are_read(
    stub: Stub,
    chain: EvmChain,
    operator: Operator,
    attack: Callable[[Stub, EvmChain], list[Transaction]],
) -> None:
    operation = buy(2)
    event = log(ENTRY_POINT, (USER_OPERATION, signature(5), word(WALLET), word(ZERO)), 1, 1, 10**12, 9)
    logs = [*operation.receipt["logs"], event]
    operation.receipt |= {"from": STRANGER, "to": ENTRY_POINT, "logs": logs}
    # That he sent it is not known of it, since the wallet is only named by its transfer.
    other = buy(3)
    other.receipt |= {"from": STRANGER}
    chain.add(now() - timedelta(seconds=9), *attack(stub, chain), buy(1), operation, other)
    chain.add(now(), buy(4), buy(5, wallet=FRIEND))
    stub.calls.clear()
    done = one_round(operator)
    assert done["failed"] == 0
    assert operator.signatures() >= {signature(number) for number in (1, 4, 5)}
    assert signature(2) in operator.signatures() | {key[1] for key in kept(operator)}
    number = chain.start + 1
    assert kept(operator)[WALLET, f"block {number}"][0] == "unreadable"
    assert not any(signature(3) in key for key in (*operator.ledger(), *kept(operator)))
    assert len(stub.requests_of("eth_getLogs")) < 40
    # When the node lists all of it, it is read.
    chain.most_logs = 10_000
    chain.blocks[1].transactions = chain.blocks[1].transactions[-3:]
    one_round(operator)
    assert (WALLET, f"block {number}") not in kept(operator)


def test_a_block_with_too_many_transfers_leaves_the_others_together(
    stub: Stub, chain: EvmChain, operator: Operator
) -> None:
    operator.track(*(("eth", f"0x{number:040x}") for number in range(1, 200)))
    chain.blocks[:] = [Block(AT + timedelta(seconds=number)) for number in range(400)]
    chain.blocks[200].transactions = [buy(1), *many_logs(stub, chain)]
    chain.add(now(), buy(2))
    assert one_round(operator)["changed"] == 2
    # Some for the block, some for the wallet in it, and the rest in long spans.
    assert len(stub.requests_of("eth_getLogs")) < 80
    stub.calls.clear()
    chain.add(now(), buy(3))
    assert one_round(operator)["changed"] == 1
    # A new process also reads once more what was left out.
    assert len(stub.requests_of("eth_getLogs")) <= 8


@pytest.mark.parametrize("seconds", [10**13, 10**11])
def test_a_block_with_an_impossible_time_is_left_out_alone(
    stub: Stub, chain: EvmChain, operator: Operator, seconds: int
) -> None:
    block = chain.add(now() - timedelta(seconds=5), buy(1))
    block.timestamp = seconds
    assert one_round(operator)["failed"] == 0
    assert kept(operator)[WALLET, signature(1)] == ("unreadable", "its block contradicts itself")
    chain.add(now(), buy(2))
    assert (one_round(operator)["changed"], one_round(operator)["failed"]) == (1, 0)
    assert operator.signatures() == {signature(2)}


def test_a_transaction_whose_value_is_no_number_is_left_out_alone(
    chain: EvmChain, operator: Operator
) -> None:
    unreadable = buy(9)
    unreadable.value_text = "1 ether"
    chain.add(now(), unreadable, *(buy(number, wallet=FRIEND) for number in range(1, 6)))
    done = one_round(operator)
    assert (done["failed"], done["changed"]) == (0, 5)
    assert kept(operator) == {(WALLET, signature(9)): ("unreadable", "its block contradicts itself")}


@pytest.mark.parametrize("attack", [large_block, large_name, large_receipts], ids=lambda one: one.__name__)
def test_a_response_that_is_too_large_costs_no_trade_in_its_block(
    stub: Stub,
    chain: EvmChain,
    operator: Operator,
    attack: Callable[[Stub, EvmChain], list[Transaction]],
) -> None:
    chain.add(now() - timedelta(seconds=9), *attack(stub, chain), buy(1))
    chain.add(now(), buy(2))
    done = one_round(operator)
    assert done["failed"] == 0
    assert operator.signatures() == {signature(1), signature(2)}


def test_what_others_did_is_bounded_expires_and_pushes_out_nothing(
    stub: Stub, chain: EvmChain, operator: Operator
) -> None:
    operator.environment["ETH_CONFIRM_SECONDS"] = "5"
    # So that each is none of the last blocks, which are read again anyhow, when the next ones are there.
    moments_of_blocks = (now() - timedelta(seconds=60 - 8 * place) for place in range(7))
    chain.add(next(moments_of_blocks), *many_logs(stub, chain))
    done = operator.sync("trades", "--chain", "eth", "--since", AT.isoformat())
    # No alarm.
    assert (done.status, done.only["unsigned"], done.only["new_left_out"]) == (0, 1, 0)
    assert any(line.split()[:3] == ["eth", "unsigned", "1"] for line in status(operator).splitlines())
    # It is tried again once.
    tried = "SELECT tried_at FROM sync_left_out WHERE tx_signature LIKE 'block 1%%'"
    moments = []
    for _ in range(3):
        moments += operator.fetch(tried)
        chain.add(next(moments_of_blocks))
        chain.add(next(moments_of_blocks))
        one_round(operator)
    assert moments[0] != moments[1] == moments[2]
    flood = (
        "INSERT INTO sync_left_out"
        " (wallet_id, tx_signature, reason, detail, first_seen_at, tried_at, is_signed)"
        " SELECT wallet_id, 'of ' || number, 'unclear', '', now() - number * interval '1 second', now(), %s"
        "   FROM wallets, generate_series(1, %s) AS number WHERE address = %s RETURNING 1"
    )
    operator.fetch(flood, False, 10_400, WALLET)
    operator.fetch(flood, True, 5, FRIEND)
    one_round(operator)
    counted = "SELECT is_signed, count(*) AS rows FROM sync_left_out GROUP BY 1 ORDER BY 1"
    assert operator.fetch(counted) == [{"is_signed": False, "rows": 10_000}, {"is_signed": True, "rows": 5}]
    operator.fetch("UPDATE sync_left_out SET first_seen_at = first_seen_at - interval '7 days' RETURNING 1")
    one_round(operator)
    assert operator.fetch(counted) == [{"is_signed": True, "rows": 5}]
    assert any(line.split()[1:2] == ["expired"] for line in status(operator).splitlines())


def nested(depth: int) -> orjson.Fragment:
    """Return the frame of a call that calls itself so many times."""
    frame = '{"type": "CALL", "from": "0x", "calls": ['
    return orjson.Fragment(frame * depth + frame + "]}" + "]}" * depth)


@pytest.mark.parametrize("depth", [0, 700])
def test_what_the_code_of_an_account_sold_counts_and_calls_that_nest_too_deeply_stop_nothing(
    chain: EvmChain, operator: Operator, depth: int
) -> None:
    sold = [transfer(CAT, WALLET, POOL, 10**6), transfer(WETH, POOL, WALLET, ETH), log(POOL, (SWAP,))]
    own = {"type": "CALL", "from": WALLET, "to": POOL, "logs": [one | {"position": "0x0"} for one in sold]}
    outer = {"type": "CALL", "from": STRANGER, "to": FRIEND, "calls": [own, nested(depth)]}
    chain.has_traces, chain.frames = True, {signature(9): outer}
    chain.add(now(), send(9, *sold, to=FRIEND), buy(1))
    done = operator.sync("trades", "--chain", "eth").only
    is_read = depth == 0
    assert (done["changed"], done["unsigned"], done["failed"]) == (1 + is_read, 1 - is_read, 0)
    assert ((signature(9), CAT, "sell") in {key[2:] for key in operator.ledger()}) == is_read
