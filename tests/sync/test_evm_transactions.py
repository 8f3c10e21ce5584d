"""What a transaction of an EVM chain is for a wallet: a trade and its value, none, or unclear."""

from typing import Any

import pytest

from tests.stub import evm
from tests.stub.evm import EvmChain, Row, Transaction, log, now, transfer, word
from tests.stub.server import Stub
from tests.sync.evm_trades import (
    CAT,
    DOG,
    ETH,
    FRIEND,
    GAS,
    POOL,
    ROUTER,
    SWAP,
    USDC,
    WALLET,
    WETH,
    buy,
    receipt,
    sell,
    signature,
)
from tests.sync.operator import Operator

APPROVAL = "0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925"
COW_TRADE = "0xa07a543ab8a018198e99ca0184c93fe9050a79400a0a723441f84de1d972cc17"
CURVE = "0x8b3e96f2b889fa771c53c981b40daf005f63f637f1869f707052d15a3dd97140"
ONE_INCH = "0x76af224a143865a50b41496e1a73622698692c565c1214bc862f18e22d829c5e"
UNISWAP_4 = "0x40e9cecb9f5f1f1c5b9c97dec2917b7ee92e57ba5563708daca94dd84ad7112f"
COW, COW_ETH = "0x9008d19f58aabd9ed0d60971565aa8510560ab41", "0xba3cb449bd2b4adddbc894d8697f5170800eadec"
MORPHO = "0xbbbbbbbbbb9cc5e90e3b3af64bdaf62c37eeffcb"
ENTRY, VAULT, MANAGER = f"0x{'e4' * 20}", f"0x{'fa' * 20}", f"0x{'4a' * 20}"
CENTS = ETH // 100
UNITS = 10**6
SOMETHING = log(ROUTER, (signature(1),))

# The trades of a transaction: token, side, amount and native value; or why it is left out.
Expected = list[tuple[str, str, str, str]] | str
Cases = list[tuple[Transaction, Expected]]
BOUGHT = [(CAT, "buy", "5", "1")]
SOLD = [(CAT, "sell", "1", "1")]


@pytest.fixture
def chain(stub: Stub, operator: Operator) -> EvmChain:
    """A chain of Ethereum with a tracked wallet, and dollars for each ether."""
    operator.environment |= stub.evm_environment("eth")
    operator.track(("eth", WALLET))
    stub.prices.hourly = lambda currency, moment: 160.0
    chain = stub.nodes.blocks["eth"] = EvmChain(decimals={CAT: 6, DOG: 18, USDC: 6})
    chain.add(now())
    return chain


def check(operator: Operator, chain: EvmChain, cases: Cases, from_logs: int = 0) -> None:
    """Read each transaction in a block of its own, and compare."""
    wanted: dict[str, Expected] = {}
    for number, (transaction, expected) in enumerate(cases, 1):
        transaction.receipt["transactionHash"] = signature(number)
        wanted[signature(number)] = sorted(expected) if isinstance(expected, list) else expected
        chain.add(now(), transaction)
    done = operator.sync("trades", "--chain", "eth", "--since", chain.blocks[0].created_at.isoformat()).only
    assert read(operator, wanted) == wanted
    assert (done["failed"], done["from_logs"]) == (0, from_logs)


def read(operator: Operator, signatures: Any) -> dict[str, Expected]:
    """Return what was read of each transaction."""
    found: dict[str, Any] = {each: [] for each in signatures}
    for (_, _, each, mint, side), (amount, value, *_) in operator.ledger().items():
        found[each].append((mint, side, amount, value))
    found = {each: sorted(trades) for each, trades in found.items()}
    rows = operator.fetch("SELECT tx_signature, reason FROM sync_left_out")
    return found | {row["tx_signature"]: row["reason"] for row in rows}


def own(*logs: Row, coin: int = 0, value: int = 0, to: str = ROUTER, **coins: int) -> Transaction:
    """Return a transaction that the wallet sends, and that changes its coin so, without the fee."""
    return Transaction(receipt(1, *logs, to=to), value, {WALLET: coin - GAS, **coins})


def sent(*logs: Row, coin: int = 0, value: int = 0, **coins: int) -> Transaction:
    """Return a transaction that somebody else sends."""
    return Transaction(receipt(1, *logs, sender=FRIEND), value, {WALLET: coin, **coins})


def paid(units: int, *logs: Row) -> Transaction:
    """Return a buy of so much, for one ether that a router wraps."""
    return Transaction(
        receipt(
            1,
            log(WETH, (evm.DEPOSIT, word(ROUTER)), ETH),
            transfer(WETH, ROUTER, POOL, ETH),
            transfer(CAT, POOL, WALLET, units),
            log(POOL, (SWAP,)),
            *logs,
        ),
        ETH,
        {WALLET: -ETH - GAS},
    )


def shouted(transaction: Transaction) -> Transaction:
    """Return it as a node that writes addresses in mixed case."""

    def shout(text: str) -> str:
        return text if text.startswith("0x0000") else f"0x{text[2:].upper()}"

    told = transaction.receipt
    for each in told["logs"]:
        each["address"] = shout(each["address"])
    told |= {"from": shout(told["from"]), "to": shout(told["to"])}
    return transaction


def order(placed_by: str, sold: str, bought: str, gave: int, got: int) -> Row:
    """Return the log of an order that was filled."""
    return log(COW, (COW_TRADE, word(placed_by)), int(sold, 16), int(bought, 16), gave, got, 0, 6, 0)


def operation(account: str, paymaster: str, cost: int) -> Row:
    """Return the log of an operation of ERC-4337."""
    return log(ENTRY, (evm.USER_OPERATION, signature(5), word(account), word(paymaster)), 1, 1, cost, 9)


def by_account(transaction: Transaction, *logs: Row) -> Transaction:
    """Return it as an operation of the wallet that somebody else sends."""
    told = transaction.receipt
    told |= {"from": FRIEND, "to": ENTRY, "logs": [*told["logs"], *logs]}
    transaction.value = 0
    transaction.coins[WALLET] += GAS
    return transaction


def beside_wraps(topic: str, change: int) -> Transaction:
    """Return a buy by an account that also wraps or unwraps three ether, and lets others take some."""
    bought = by_account(buy(1), log(WETH, (topic, word(WALLET)), 3 * ETH))
    bought.receipt["logs"].append(log(WETH, (APPROVAL, word(WALLET), word(POOL)), 7 * ETH))
    bought.receipt["logs"].append(log(WALLET, (SWAP,)))
    bought.coins[WALLET] += change
    return bought


def through_router(*logs: Row) -> tuple[Row, ...]:
    """Return the logs of a buy from a pool that holds native coin and logs nothing that is known."""
    return transfer(CAT, POOL, ROUTER, 5 * UNITS), transfer(CAT, ROUTER, WALLET, 5 * UNITS), *logs


def to_pool(*logs: Row) -> tuple[Row, ...]:
    """Return the logs of a sell to such a pool."""
    return transfer(CAT, WALLET, ROUTER, UNITS), transfer(CAT, ROUTER, POOL, UNITS), *logs


def test_what_the_balance_and_the_logs_say(chain: EvmChain, operator: Operator) -> None:
    blobs = buy(1, blobGasUsed=hex(131_072), blobGasPrice=hex(10**9))
    blobs.coins[WALLET] -= 131_072 * 10**9
    created = buy(1)
    created.receipt["to"] = None
    other = log(ENTRY, (signature(7), signature(5), word(WALLET), word(evm.ZERO)), 1, 1, CENTS, 9)
    direct = (transfer(CAT, POOL, WALLET, 5 * UNITS), log(POOL, (SWAP,)))
    forged = [log(POOL, (topic,), 1) for topic in (COW_TRADE, evm.USER_OPERATION, UNISWAP_4)]
    forged.append(log(POOL, (CURVE,), 1, 2, 3))
    cut = log(POOL, (CURVE,), 1, 9 * ETH, 0, 9)
    cut["data"] = cut["data"][:-1]
    forged.append(cut)
    forged.append(log(DOG, (evm.TRANSFER, word(FRIEND), word(WALLET))))
    cases: Cases = [
        (shouted(buy(1)), BOUGHT),
        (shouted(own(*direct, coin=-ETH, value=ETH, to=POOL)), BOUGHT),
        (created, BOUGHT),
        (blobs, BOUGHT),
        (beside_wraps(evm.DEPOSIT, -3 * ETH), BOUGHT),
        (beside_wraps(evm.WITHDRAWAL, 3 * ETH), BOUGHT),
        (by_account(buy(1), operation(FRIEND, evm.ZERO, CENTS), operation(WALLET, FRIEND, CENTS)), BOUGHT),
        (by_account(buy(1), other), BOUGHT),
        # Logs that have only the topic of known ones.
        (paid(5 * UNITS, *forged), BOUGHT),
        # A fee of a fifth in the token, and more.
        (paid(4 * UNITS, transfer(CAT, POOL, VAULT, UNITS)), [(CAT, "buy", "4", "1")]),
        (paid(4 * UNITS - 1, transfer(CAT, POOL, VAULT, UNITS + 1)), "no_value"),
        # A twentieth of the coin, and more.
        (buy(1, fee=5 * CENTS), BOUGHT),
        (buy(1, fee=5 * CENTS + 1), "no_value"),
        (sell(1, fee=5 * CENTS), [(CAT, "sell", "1", "0.95")]),
        (sell(1, coin=95 * CENTS, fee=-5 * CENTS), SOLD),
        # Only logs agree with the pool.
        (sell(1, fee=6 * CENTS), SOLD),
        # Wrapped coin, and a tip in coin.
        (
            own(
                transfer(WETH, WALLET, POOL, ETH),
                transfer(CAT, POOL, WALLET, 5 * UNITS),
                log(POOL, (SWAP,)),
                coin=-CENTS,
                value=CENTS,
            ),
            [(CAT, "buy", "5", "1.01")],
        ),
        # Somebody else pays for it.
        (Transaction(buy(1).receipt | {"from": FRIEND}, ETH, {FRIEND: -ETH - GAS}), []),
        # Sent over a bridge, for a fee.
        (
            own(
                *(transfer(CAT, *ends, UNITS) for ends in ((WALLET, ROUTER), (ROUTER, VAULT))),
                SOMETHING,
                coin=-CENTS,
                value=CENTS,
            ),
            [],
        ),
        # Lent, not exchanged.
        (own(transfer(CAT, WALLET, MORPHO, 9), transfer(USDC, MORPHO, WALLET, 9), SOMETHING), []),
    ]
    check(operator, chain, cases, from_logs=1)


def test_two_tokens(chain: EvmChain, operator: Operator) -> None:
    dollars = [(USDC, "sell", "32", "0.2")]
    cases: Cases = [
        # With a market maker, who logs nothing.
        (
            sent(transfer(USDC, WALLET, FRIEND, 32 * UNITS), transfer(CAT, FRIEND, WALLET, 5 * UNITS)),
            [(CAT, "buy", "5", "0.2"), *dollars],
        ),
        # What a vault issues for what a pool gave was exchanged by nobody.
        (
            own(
                transfer(USDC, WALLET, POOL, 32 * UNITS),
                transfer(DOG, POOL, VAULT, ETH),
                transfer(CAT, evm.ZERO, ROUTER, 5 * UNITS),
                transfer(CAT, ROUTER, WALLET, 5 * UNITS),
                SOMETHING,
            ),
            "unclear",
        ),
        # Both for a share of the pool.
        (
            own(
                *(transfer(CAT, *ends, UNITS) for ends in ((WALLET, ROUTER), (ROUTER, POOL))),
                *(transfer(DOG, *ends, ETH) for ends in ((WALLET, ROUTER), (ROUTER, POOL))),
                transfer(POOL, evm.ZERO, WALLET, 9),
                SOMETHING,
            ),
            [],
        ),
        # Over a pool with wrapped coin and one with native coin.
        (
            own(
                transfer(CAT, WALLET, POOL, UNITS),
                transfer(WETH, POOL, ROUTER, ETH),
                log(WETH, (evm.WITHDRAWAL, word(ROUTER)), ETH),
                log(MANAGER, (UNISWAP_4,), -ETH, 9 * ETH),
                transfer(DOG, MANAGER, WALLET, 9 * ETH),
                # Others have their tokens back.
                *(transfer(USDC, *ends, 9) for ends in ((FRIEND, POOL), (POOL, MANAGER), (MANAGER, FRIEND))),
            ),
            [*SOLD, (DOG, "buy", "9", "1")],
        ),
        # Over two pools of one manager, side by side, and one after the other.
        (
            shouted(
                own(
                    transfer(USDC, WALLET, MANAGER, 32 * UNITS),
                    log(MANAGER, (UNISWAP_4,), -12 * UNITS, 4 * ETH),
                    log(MANAGER, (UNISWAP_4,), -20 * UNITS, 5 * ETH),
                    transfer(DOG, MANAGER, WALLET, 9 * ETH),
                ),
            ),
            [*dollars, (DOG, "buy", "9", "0.2")],
        ),
        (
            own(
                transfer(USDC, WALLET, MANAGER, 32 * UNITS),
                log(MANAGER, (UNISWAP_4,), -32 * UNITS, ETH),
                log(MANAGER, (UNISWAP_4,), -ETH, 9 * ETH),
                transfer(DOG, MANAGER, WALLET, 9 * ETH),
            ),
            [*dollars, (DOG, "buy", "9", "0.2")],
        ),
    ]
    check(operator, chain, cases)


def test_orders_that_are_filled_together(chain: EvmChain, operator: Operator) -> None:
    pool = (transfer(WETH, COW, POOL, 3 * ETH), transfer(CAT, POOL, COW, 14 * UNITS))
    filled = (transfer(CAT, COW, WALLET, 5 * UNITS), transfer(CAT, COW, FRIEND, 9 * UNITS))
    both = [(ETH, 5 * UNITS), (2 * ETH, 9 * UNITS)]
    cases: Cases = [
        # In the native coin, of which an earlier transaction took care.
        (
            shouted(
                sent(
                    transfer(WETH, COW_ETH, COW, 3 * ETH),
                    *(order(COW_ETH, WETH, CAT, *each) for each in both),
                    *(*pool, *filled),
                )
            ),
            BOUGHT,
        ),
        (
            sent(
                *(transfer(WETH, WALLET, COW, ETH), transfer(WETH, FRIEND, COW, 2 * ETH)),
                *(order(owner, WETH, CAT, *each) for owner, each in zip((WALLET, FRIEND), both, strict=True)),
                *(*pool, *filled),
            ),
            BOUGHT,
        ),
    ]
    check(operator, chain, cases)


def test_a_router_says_what_an_unknown_pool_exchanged(chain: EvmChain, operator: Operator) -> None:
    def said(units: int, *coins: int) -> Row:
        return log(ROUTER, (ONE_INCH,), units, *coins)

    passed = (transfer(DOG, FRIEND, WALLET, 9), transfer(DOG, WALLET, FRIEND, 9))
    tip = transfer(WETH, WALLET, FRIEND, CENTS)
    anonymous = log(POOL, ())
    cases: Cases = [
        (own(*through_router(said(5 * UNITS, 99 * CENTS, ETH)), coin=-ETH, value=ETH), BOUGHT),
        (
            own(*through_router(said(5 * UNITS, ETH), *passed, tip), coin=-ETH, value=ETH),
            [(CAT, "buy", "5", "1.01")],
        ),
        (own(*through_router(said(6 * UNITS, ETH)), coin=-ETH, value=ETH), "no_value"),
        (own(*through_router(said(5 * UNITS, 2 * ETH)), coin=-ETH, value=ETH), "no_value"),
        (own(*through_router(SOMETHING), coin=-ETH, value=ETH), "no_value"),
        # Without the router as owner.
        (
            own(transfer(CAT, POOL, WALLET, 5 * UNITS), said(5 * UNITS, ETH), coin=-ETH, value=ETH),
            BOUGHT,
        ),
        (own(transfer(CAT, WALLET, POOL, UNITS), said(UNITS, ETH), coin=ETH), SOLD),
        (own(transfer(CAT, POOL, WALLET, 5 * UNITS), SOMETHING, coin=-ETH, value=ETH), "no_value"),
        (own(transfer(CAT, WALLET, POOL, UNITS), anonymous, coin=ETH), "no_value"),
        (own(transfer(CAT, WALLET, POOL, UNITS), said(UNITS, 0)), []),
        # A known pool needs no router.
        (
            shouted(
                own(
                    transfer(CAT, WALLET, POOL, UNITS),
                    log(POOL, (CURVE, word(WALLET)), 1, UNITS, 0, ETH),
                    coin=ETH,
                ),
            ),
            SOLD,
        ),
    ]
    check(operator, chain, cases)
    rows = operator.fetch("SELECT exchanged_value FROM trades WHERE exchanged_value IS NOT NULL")
    assert [row["exchanged_value"] for row in rows] == [1]


def test_what_logs_alone_say(chain: EvmChain, operator: Operator) -> None:
    chain.state_blocks = 0
    itself = buy(1)
    itself.receipt |= {"to": WALLET}
    itself.value = 0
    cases: Cases = [
        (shouted(by_account(buy(1), log(WALLET, (SWAP,)))), BOUGHT),
        (by_account(buy(1), operation(WALLET, FRIEND, CENTS)), BOUGHT),
        # An account by EIP-7702 that calls itself.
        (itself, BOUGHT),
        (beside_wraps(evm.DEPOSIT, -3 * ETH), BOUGHT),
        (beside_wraps(evm.WITHDRAWAL, 3 * ETH), BOUGHT),
        # Not the wallet's coin.
        (by_account(buy(1)), "no_value"),
    ]
    check(operator, chain, cases, from_logs=5)


def test_the_balance_says_nothing_if_more_changed_it(chain: EvmChain, operator: Operator) -> None:
    approval = own(log(CAT, (APPROVAL, word(WALLET), word(ROUTER)), 9))
    approval.receipt["transactionHash"] = signature(9)
    chain.add(now(), buy(1), shouted(approval))
    gift = receipt(7, sender=FRIEND, to=WALLET)
    chain.add(now(), buy(5), shouted(Transaction(gift, CENTS, {WALLET: CENTS})))
    small = sell(3, coin=CENTS)
    for each in (sold := sell(2), small):
        each.receipt["from"] = FRIEND
        each.coins[WALLET] += GAS
    chain.add(now(), sold, small)
    deployment = receipt(8, sender=FRIEND) | {"to": None}
    direct = (transfer(CAT, POOL, WALLET, 5 * UNITS), log(POOL, (SWAP,)))
    paid_to_pool = own(*direct, coin=-ETH, value=ETH, to=POOL)
    paid_to_pool.receipt["transactionHash"] = signature(4)
    # Its balance says something, although the block has more of others.
    chain.add(now(), Transaction(deployment, 7 * ETH, {}), paid_to_pool)
    done = operator.sync("trades", "--chain", "eth", "--since", chain.blocks[0].created_at.isoformat()).only
    assert done["from_logs"] == 4
    assert read(operator, map(signature, (1, 2, 3, 4, 5))) == {
        signature(1): BOUGHT,
        signature(2): SOLD,
        signature(3): [(CAT, "sell", "1", "0.01")],
        signature(4): BOUGHT,
        signature(5): BOUGHT,
    }


def test_a_trace_says_who_moved_native_coin(chain: EvmChain, operator: Operator) -> None:
    chain.state_blocks, chain.has_traces, chain.new = 0, True, {POOL}
    wrapped = log(WETH, (evm.DEPOSIT, word(POOL)), ETH)
    unwrapped = log(WETH, (evm.WITHDRAWAL, word(POOL)), ETH)
    maker = sent(transfer(CAT, WALLET, ROUTER, UNITS), transfer(CAT, ROUTER, FRIEND, UNITS), SOMETHING)
    maker.coins = {WALLET: ETH, FRIEND: -ETH - GAS}
    cases: Cases = [
        (own(*through_router(SOMETHING), coin=-ETH, value=ETH, **{POOL: ETH}), BOUGHT),
        (own(*to_pool(SOMETHING), coin=ETH, **{POOL: -ETH}), SOLD),
        (own(transfer(CAT, WALLET, POOL, UNITS), SOMETHING, coin=ETH, **{POOL: -ETH}), SOLD),
        # The pool wraps what it gets, and unwraps what it gives.
        (own(*through_router(wrapped), coin=-ETH, value=ETH), BOUGHT),
        (own(*to_pool(unwrapped), coin=ETH), SOLD),
        # A market maker sends it, and pays its fee.
        (maker, SOLD),
    ]
    check(operator, chain, cases)
    rows = operator.fetch("SELECT count(*) FROM trades WHERE exchanged_value IS NOT NULL")
    assert rows == [{"count": 0}]
