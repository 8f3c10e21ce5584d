"""Two own transactions in one block: what failed, and an approval, cost their fee, and the balance is exact.

`beside.ndjson.gz` in tests/data/evm has recorded trades with what their wallets sent beside them in the
block, in the form of its other files; `change` is how each changed the wallet's balance, with its fee.
"""

import gzip
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.stub.evm import EvmChain, Transaction, log, now, word
from tests.stub.server import Stub
from tests.sync.evm_trades import CAT, ETH, FRIEND, GAS, POOL, ROUTER, WALLET, buy, receipt, sell, signature
from tests.sync.operator import Operator, plain, values

_DATA = Path(__file__).parent.parent / "data" / "evm" / "beside.ndjson.gz"
AT = now() - timedelta(minutes=30)
APPROVAL = "0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925"
# Kept by a router, so that no log shows it.
FEE = ETH // 50


@pytest.fixture
def chain(stub: Stub, operator: Operator) -> EvmChain:
    """A chain of Ethereum whose node has all states, and a tracked wallet."""
    operator.environment |= stub.evm_environment("eth")
    operator.track(("eth", WALLET))
    chain = stub.nodes.blocks["eth"] = EvmChain(decimals={CAT: 6})
    chain.add(AT)
    return chain


def sync(operator: Operator) -> Any:
    since = (AT - timedelta(minutes=1)).isoformat()
    return operator.sync("trades", "--chain", "eth", "--since", since).only


def failed(number: int) -> Transaction:
    """A purchase that was reverted."""
    return Transaction(receipt(number, status="0x0"), ETH, {WALLET: -GAS})


def approved(number: int, token: str = CAT, owner: str = WALLET, coin: int = 0) -> Transaction:
    """A call of a token that says that an owner allows the router to spend it, and pays the wallet."""
    event = log(CAT, (APPROVAL, word(owner), word(ROUTER)), 10**30)
    return Transaction(receipt(number, event, to=token), 0, {WALLET: coin - GAS})


def test_what_failed_and_approvals_in_the_block_cost_their_fee(chain: EvmChain, operator: Operator) -> None:
    chain.add(AT + timedelta(minutes=1), failed(1), buy(2, coin=ETH, fee=FEE), failed(3), approved(4))
    chain.add(AT + timedelta(minutes=2), approved(5), sell(6, coin=ETH, fee=FEE))
    done = sync(operator)
    assert values(operator.ledger()) == {
        (signature(2), CAT, "buy"): ("5", "1", None),
        (signature(6), CAT, "sell"): ("1", "0.98", None),
    }
    assert (done["from_logs"], done["left_out"]) == (0, 0)


def test_what_others_sent_in_the_block_is_no_part_of_it(chain: EvmChain, operator: Operator) -> None:
    # So many of its own that all receipts of the block are requested.
    own = [failed(number) for number in range(10, 16)]
    chain.add(AT + timedelta(minutes=1), buy(1, wallet=FRIEND), buy(2, coin=ETH, fee=FEE), *own)
    assert sync(operator)["failures"] == {}
    assert values(operator.ledger()) == {(signature(2), CAT, "buy"): ("5", "1", None)}


def test_what_may_have_moved_coin_is_not_taken_for_a_fee(chain: EvmChain, operator: Operator) -> None:
    # What moved coin, or may have: a payment, a call without a log, what another one approved or a token
    # that the wallet did not call says, and an approval with a payment.
    beside = (
        Transaction(receipt(11, to=FRIEND), ETH, {WALLET: -ETH - GAS}),
        Transaction(receipt(12, to=POOL), 0, {WALLET: ETH - GAS}),
        *(approved(13, owner=FRIEND, coin=ETH), approved(14, token=POOL, coin=ETH)),
        Transaction(approved(15).receipt, ETH, {WALLET: -ETH - GAS}),
    )
    for number, one in enumerate(beside, 1):
        chain.add(AT + timedelta(minutes=number), buy(number, coin=ETH, fee=0), one)
    done = sync(operator)
    # By the logs: by the balance, it would be another value.
    bought = {(signature(number), CAT, "buy"): ("5", "1", None) for number in range(1, 6)}
    assert values(operator.ledger()) == bought
    assert done["from_logs"] == 5


def test_recorded_trades_beside_own_approvals_are_exact(stub: Stub, operator: Operator) -> None:
    with gzip.open(_DATA, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    tokens = {one["mint"] for one in rows}
    operator.environment |= stub.evm_environment("eth")
    operator.track(*(("eth", row["wallet"]) for row in rows))
    chain = stub.nodes.blocks["eth"] = EvmChain(decimals=dict.fromkeys(tokens, 18))
    chain.add(AT)
    for minute, row in enumerate(rows, 1):
        transactions = [
            Transaction(one["receipt"], int(one["value"]), {row["wallet"]: int(one["change"])})
            for one in row["transactions"]
        ]
        chain.add(AT + timedelta(minutes=minute), *transactions)
    done = sync(operator)
    found = {(key[1], key[3], key[4]): trade[:2] for key, trade in operator.ledger().items()}
    assert found == {
        (row["wallet"], row["mint"], row["side"]): (plain(row["amount"]), plain(row["coin"])) for row in rows
    }
    assert (len(rows), done["from_logs"]) == (3, 0)
