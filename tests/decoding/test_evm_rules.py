"""What a transaction of an EVM chain is for a wallet: a trade and its value, none, or unclear."""

from tests.decoding.drafts import shown
from tests.decoding.evm import ARCHIVE, BARE, TRACES, Given
from tests.stub import evm
from tests.stub.evm import Row, Transaction, log, transfer, word
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
from wallet_api.base.chains import CHAINS
from wallet_api.chain.decoding.swaps import NO_TRADE

APPROVAL = "0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925"
COW_TRADE = "0xa07a543ab8a018198e99ca0184c93fe9050a79400a0a723441f84de1d972cc17"
CURVE = "0x8b3e96f2b889fa771c53c981b40daf005f63f637f1869f707052d15a3dd97140"
ONE_INCH = "0x76af224a143865a50b41496e1a73622698692c565c1214bc862f18e22d829c5e"
UNISWAP_4 = "0x40e9cecb9f5f1f1c5b9c97dec2917b7ee92e57ba5563708daca94dd84ad7112f"
COW, COW_ETH = "0x9008d19f58aabd9ed0d60971565aa8510560ab41", "0xba3cb449bd2b4adddbc894d8697f5170800eadec"
MORPHO = "0xbbbbbbbbbb9cc5e90e3b3af64bdaf62c37eeffcb"
ENTRY = "0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789"
STARTED = "0xbb47ee3e183a558b1a2ff0874b079f3fc5478b7454eacf2bfc5af2ff5878f972"
VAULT, MANAGER = f"0x{'fa' * 20}", f"0x{'4a' * 20}"
DECIMALS = {CAT: 6, DOG: 18, USDC: 6, POOL: 18} | dict.fromkeys(CHAINS["eth"].stable_mints - {USDC}, 18)
CENTS = ETH // 100
UNITS = 10**6
SOMETHING = log(ROUTER, (signature(1),))

# The trades of a transaction: token, side, amount and native value; or why it is left out.
Expected = list[tuple[str, str, str, str]] | str
Cases = list[tuple[Transaction, Expected]]
BOUGHT = [(CAT, "buy", "5", "1")]
SOLD = [(CAT, "sell", "1", "1")]


def check(cases: Cases, node: str = ARCHIVE, from_logs: int = 0, *, is_alone: bool = True) -> None:
    """Decode each transaction with a node of this kind, and compare."""
    counted = 0
    for number, (transaction, expected) in enumerate(cases):
        given = Given(
            *("eth", transaction.receipt, transaction.value, transaction.coins, DECIMALS),
            deposits=transaction.deposits,
            placed_by={f"0x{5 * UNITS:064x}": WALLET},
        )
        decoded = given.decode(WALLET, node, is_alone=is_alone)
        found: Expected = shown(decoded.drafts)
        if decoded.why not in (None, NO_TRADE):
            found = str(decoded.why)
        assert (number, found) == (number, sorted(expected) if isinstance(expected, list) else expected)
        counted += decoded.from_logs
    assert counted == from_logs


def own(*logs: Row, coin: int = 0, value: int = 0, to: str = ROUTER, **coins: int) -> Transaction:
    """Return a transaction that the wallet sends, and that changes its coin so, without the fee."""
    return Transaction(receipt(1, *logs, to=to), value, {WALLET: coin - GAS, **coins})


def sent(*logs: Row, coin: int = 0, value: int = 0, to: str = ROUTER, **coins: int) -> Transaction:
    """Return a transaction that somebody else sends."""
    return Transaction(receipt(1, *logs, sender=FRIEND, to=to), value, {WALLET: coin, **coins})


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

    row = transaction.receipt
    for each in row["logs"]:
        each["address"] = shout(each["address"])
    row |= {"from": shout(row["from"]), "to": shout(row["to"])}
    return transaction


def order(placed_by: str, sold: str, bought: str, gave: int, got: int) -> Row:
    """Return the log of an order that was filled."""
    return log(
        COW, (COW_TRADE, word(placed_by)), int(sold, 16), int(bought, 16), gave, got, 0, 192, 56, got, 0
    )


def operation(account: str, paymaster: str, cost: int) -> Row:
    """Return the log of an operation of ERC-4337."""
    return log(ENTRY, (evm.USER_OPERATION, signature(5), word(account), word(paymaster)), 1, 1, cost, 9)


def by_account(transaction: Transaction, *logs: Row) -> Transaction:
    """Return it as an operation of the wallet that somebody else sends."""
    row = transaction.receipt
    row |= {"from": FRIEND, "to": ENTRY, "logs": [log(ENTRY, (STARTED,)), *row["logs"], *logs]}
    transaction.value = 0
    transaction.coins[WALLET] += GAS
    return transaction


def beside_wraps(topic: str, change: int) -> Transaction:
    """Return a buy by an account that also wraps or unwraps three ether, and lets others take some."""
    bought = by_account(
        buy(1),
        log(WETH, (topic, word(WALLET)), 3 * ETH),
        log(WETH, (APPROVAL, word(WALLET), word(POOL)), 7 * ETH),
        operation(WALLET, FRIEND, CENTS),
    )
    bought.coins[WALLET] += change
    return bought


def managed(*amounts: int) -> Row:
    """Return the log of a pool of a manager, with the changes of its caller."""
    return log(MANAGER, (UNISWAP_4, signature(1), word(ROUTER)), *amounts)


def taxed_sale() -> Transaction:
    """Return a sale of a token whose contract sells a fifth as much in the same transaction."""
    logs = (
        *(transfer(CAT, WALLET, POOL, UNITS), transfer(CAT, CAT, POOL, UNITS // 5)),
        *(
            transfer(WETH, POOL, ROUTER, ETH),
            log(POOL, (SWAP,)),
            log(WETH, (evm.WITHDRAWAL, word(ROUTER)), ETH),
        ),
    )
    return own(*logs, coin=82 * CENTS)


def own_before(*logs: Row) -> Transaction:
    """Return an operation of the wallet, with logs before the entry point began."""
    *before, mine = logs
    row = receipt(1, *before, log(ENTRY, (STARTED,)), mine, sender=FRIEND, to=ENTRY)
    return Transaction(row, 0, {WALLET: 0})


def through_router(*logs: Row) -> tuple[Row, ...]:
    """Return the logs of a buy from a pool that holds native coin and logs nothing that is known."""
    return transfer(CAT, POOL, ROUTER, 5 * UNITS), transfer(CAT, ROUTER, WALLET, 5 * UNITS), *logs


def to_pool(*logs: Row) -> tuple[Row, ...]:
    """Return the logs of a sell to such a pool."""
    return transfer(CAT, WALLET, ROUTER, UNITS), transfer(CAT, ROUTER, POOL, UNITS), *logs


def test_what_the_balance_and_the_logs_say() -> None:
    blobs = buy(1, blobGasUsed=hex(131_072), blobGasPrice=hex(10**9))
    blobs.coins[WALLET] -= 131_072 * 10**9
    created = buy(1)
    created.receipt["to"] = None
    direct = (transfer(CAT, POOL, WALLET, 5 * UNITS), log(POOL, (SWAP,)))
    forged = [log(POOL, (topic,), 1) for topic in (COW_TRADE, evm.USER_OPERATION, UNISWAP_4)]
    forged.append(log(POOL, (CURVE,), 1, 2, 3))
    cut = log(POOL, (CURVE,), 1, 9 * ETH, 0, 9)
    cut["data"] = cut["data"][:-1]
    forged.append(cut)
    forged.append(log(DOG, (evm.TRANSFER, word(FRIEND), word(WALLET))))
    nft = transfer(DOG, POOL, WALLET, 0)
    nft |= {"topics": [*nft["topics"], signature(7)], "data": "0x"}
    # On a chain above another one, whose fee is no part of the price.
    above = sell(1)
    above.receipt |= {"l1Fee": hex(7 * GAS), "operatorFeeConstant": hex(GAS)}
    above.coins[WALLET] -= 8 * GAS
    cases: Cases = [
        (above, SOLD),
        (own(nft), []),
        (own(log(WETH, (evm.DEPOSIT, word(WALLET)), ETH), coin=-ETH, value=ETH), []),
        (shouted(buy(1)), BOUGHT),
        # A pool that holds native coin and is not known: what comes may be a claim for a fee.
        (shouted(own(*direct, coin=-ETH, value=ETH, to=POOL)), "unclear"),
        (created, BOUGHT),
        (blobs, BOUGHT),
        (beside_wraps(evm.DEPOSIT, -3 * ETH), BOUGHT),
        (beside_wraps(evm.WITHDRAWAL, 3 * ETH), BOUGHT),
        # Logs that have only the topic of known ones.
        (paid(5 * UNITS, *forged), BOUGHT),
        # A fee of a fifth in the token, and more.
        (paid(4 * UNITS, transfer(CAT, POOL, VAULT, UNITS)), [(CAT, "buy", "4", "1")]),
        (paid(4 * UNITS - 1, transfer(CAT, POOL, VAULT, UNITS + 1)), "unclear"),
        # A tax of any size that the token's own contract keeps.
        (paid(2 * UNITS, transfer(CAT, POOL, CAT, 3 * UNITS)), [(CAT, "buy", "2", "1")]),
        # The balance is the value, whatever routers and builders keep.
        (buy(1, fee=5 * CENTS), BOUGHT),
        (buy(1, fee=75 * CENTS), BOUGHT),
        (sell(1, fee=5 * CENTS), [(CAT, "sell", "1", "0.95")]),
        (sell(1, coin=95 * CENTS, fee=-5 * CENTS), SOLD),
        (sell(1, fee=60 * CENTS), [(CAT, "sell", "1", "0.4")]),
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
        (Transaction(buy(1).receipt | {"from": FRIEND}, ETH, {FRIEND: -ETH - GAS}), "unsigned"),
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
    check(cases)


def test_two_tokens() -> None:
    dollars = [(USDC, "sell", "32", "0.2")]
    cases: Cases = [
        # With a market maker, who logs nothing.
        (
            own(transfer(USDC, WALLET, FRIEND, 32 * UNITS), transfer(CAT, FRIEND, WALLET, 5 * UNITS)),
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
            [],
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
                managed(-ETH, 9 * ETH),
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
                    managed(-12 * UNITS, 4 * ETH),
                    managed(-20 * UNITS, 5 * ETH),
                    transfer(DOG, MANAGER, WALLET, 9 * ETH),
                ),
            ),
            [*dollars, (DOG, "buy", "9", "0.2")],
        ),
        (
            own(
                transfer(USDC, WALLET, MANAGER, 32 * UNITS),
                managed(-32 * UNITS, ETH),
                managed(-ETH, 9 * ETH),
                transfer(DOG, MANAGER, WALLET, 9 * ETH),
            ),
            [*dollars, (DOG, "buy", "9", "0.2")],
        ),
    ]
    check(cases)


def test_orders_that_are_filled_together() -> None:
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
    check(cases)


def test_a_router_says_what_an_unknown_pool_exchanged() -> None:
    def said(units: int, *coins: int, router: str = ROUTER) -> Row:
        return log(router, (ONE_INCH,), units, *coins)

    def known(units: int, coin: int) -> Row:
        return said(units, coin, router="0x111111125434b319222cdbf8c261674adb56f3ae")

    passed = (transfer(DOG, FRIEND, WALLET, 9), transfer(DOG, WALLET, FRIEND, 9))
    tip = transfer(WETH, WALLET, FRIEND, CENTS)
    anonymous = log(POOL, ())
    cases: Cases = [
        (own(*through_router(said(5 * UNITS, 99 * CENTS, ETH)), coin=-ETH, value=ETH), BOUGHT),
        (
            own(*through_router(said(5 * UNITS, ETH), *passed, tip), coin=-ETH, value=ETH),
            [(CAT, "buy", "5", "1.01")],
        ),
        # What comes with a payment may be a claim for a fee.
        (own(*through_router(said(6 * UNITS, ETH)), coin=-ETH, value=ETH), "unclear"),
        (own(*through_router(said(5 * UNITS, 2 * ETH)), coin=-ETH, value=ETH), "unclear"),
        (own(*through_router(SOMETHING), coin=-ETH, value=ETH), "unclear"),
        (own(transfer(CAT, POOL, WALLET, 5 * UNITS), SOMETHING, coin=-ETH, value=ETH), "unclear"),
        # A router that is not the known one, and through which nothing went.
        (
            own(transfer(CAT, POOL, WALLET, 5 * UNITS), said(5 * UNITS, ETH), coin=-ETH, value=ETH),
            "unclear",
        ),
        (
            own(transfer(CAT, POOL, WALLET, 5 * UNITS), known(5 * UNITS, ETH), coin=-ETH, value=ETH),
            BOUGHT,
        ),
        # Who sells is paid by whoever has the coin.
        (own(transfer(CAT, WALLET, POOL, UNITS), anonymous, coin=ETH), SOLD),
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
    check(cases)


def test_what_logs_alone_say() -> None:
    itself = buy(1)
    itself.receipt |= {"to": WALLET}
    itself.value = 0
    cases: Cases = [
        (shouted(by_account(buy(1), operation(WALLET, FRIEND, CENTS))), BOUGHT),
        # An account by EIP-7702 that calls itself.
        (itself, BOUGHT),
        (beside_wraps(evm.DEPOSIT, -3 * ETH), BOUGHT),
        (beside_wraps(evm.WITHDRAWAL, 3 * ETH), BOUGHT),
        # A fee of a fiftieth, and what came back.
        (buy(1, fee=2 * CENTS), BOUGHT),
        (buy(1, fee=3 * CENTS), [(CAT, "buy", "5", "0.97")]),
        # The token's contract sells too, and who got what of the coin is in no log.
        (taxed_sale(), "no_value"),
        # Nothing shows what came for it: a pool that is not known, or nothing at all.
        (own(transfer(CAT, WALLET, POOL, UNITS), SOMETHING, coin=ETH), "no_value"),
    ]
    check(cases, BARE, from_logs=6)


def test_beside_other_transactions_of_the_wallet_the_balance_says_nothing() -> None:
    cases: Cases = [(buy(1), BOUGHT), (sell(1), SOLD)]
    check(cases, ARCHIVE, from_logs=2, is_alone=False)
    check(cases, TRACES, is_alone=False)


def test_a_trace_says_who_moved_native_coin() -> None:
    wrapped = log(WETH, (evm.DEPOSIT, word(POOL)), ETH)
    unwrapped = log(WETH, (evm.WITHDRAWAL, word(POOL)), ETH)
    maker = own(transfer(CAT, WALLET, ROUTER, UNITS), transfer(CAT, ROUTER, FRIEND, UNITS), SOMETHING)
    maker.coins = {WALLET: ETH - GAS, FRIEND: -ETH}
    cases: Cases = [
        (own(*through_router(SOMETHING), coin=-ETH, value=ETH, **{POOL: ETH}), BOUGHT),
        (own(*through_router(SOMETHING), coin=-ETH, value=ETH, **{FRIEND: ETH}), "unclear"),
        (own(*to_pool(SOMETHING), coin=ETH, **{POOL: -ETH}), SOLD),
        (own(transfer(CAT, WALLET, POOL, UNITS), SOMETHING, coin=ETH, **{POOL: -ETH}), SOLD),
        # The pool wraps what it gets, and unwraps what it gives.
        (own(*through_router(wrapped), coin=-ETH, value=ETH), BOUGHT),
        (own(*to_pool(unwrapped), coin=ETH), SOLD),
        # A market maker pays for it.
        (maker, SOLD),
    ]
    check(cases, TRACES, is_alone=False)


def test_without_the_consent_of_the_wallet_nothing_is_a_trade() -> None:
    bought = (transfer(WETH, ROUTER, POOL, ETH), transfer(CAT, POOL, WALLET, 5 * UNITS), log(POOL, (SWAP,)))
    sold = (transfer(CAT, WALLET, POOL, UNITS), transfer(WETH, POOL, FRIEND, ETH), log(POOL, (SWAP,)))
    executed = "0x442e715f626346e8c54381002da614f62bee8d27386535b2521ec8540898556e"
    received = "0x3d0ce9bfc3ed7d6862dbb28b2dea94561fe714a1b4d019aa8af39730d1ad7c3d"
    forged = operation(WALLET, evm.ZERO, CENTS) | {"address": ROUTER}
    paid_in_dollars = (transfer(USDC, WALLET, POOL, 32 * UNITS), transfer(DOG, POOL, WALLET, 9 * ETH))
    cases: Cases = [
        # Whose coin is gone without its signature has code that sent it.
        (sent(*bought, log(WETH, (evm.DEPOSIT, word(ROUTER)), ETH), coin=-ETH), BOUGHT),
        # But not for much more than others exchanged, since anybody can send a token.
        (sent(*bought, log(WETH, (evm.DEPOSIT, word(ROUTER)), ETH), coin=-3 * ETH), "unsigned"),
        (sent(*bought, coin=-ETH), "unsigned"),
        (sent(*sold, coin=ETH), "unsigned"),
        (sent(*sold, log(WALLET, (received, word(FRIEND)), 1), coin=ETH), "unsigned"),
        (sent(*sold, log(FRIEND, (executed,), 1, 0), coin=ETH), "unsigned"),
        (sent(*sold, log(WALLET, (executed,), 1, 0), coin=ETH), "unsigned"),
        (sent(*sold, log(WALLET, (executed,), 1, 0), coin=ETH, to=WALLET), [(CAT, "sell", "1", "1")]),
        (sent(*bought, forged, coin=-ETH), "unsigned"),
        # Only plain transfers are no trade at all.
        (sent(transfer(CAT, FRIEND, WALLET, UNITS)), []),
        # Its money left it, for one token; and for nothing, or beside a token that left it.
        (sent(*paid_in_dollars, SOMETHING), "unsigned"),
        (sent(transfer(USDC, WALLET, POOL, 0), transfer(DOG, POOL, WALLET, 9 * ETH), SOMETHING), "unsigned"),
        (sent(*paid_in_dollars, transfer(CAT, WALLET, POOL, UNITS), SOMETHING), "unsigned"),
        # An order of somebody else who chose the wallet as receiver.
        (sent(order(FRIEND, WETH, CAT, ETH, 5 * UNITS), transfer(CAT, COW, WALLET, 5 * UNITS)), "unsigned"),
    ]
    check(cases)


def test_an_operation_is_what_stands_between_its_neighbours() -> None:
    pool = (transfer(WETH, FRIEND, POOL, ETH), log(POOL, (SWAP,)))
    mine, other = operation(WALLET, FRIEND, CENTS), operation(FRIEND, FRIEND, CENTS)
    taken = transfer(CAT, POOL, WALLET, 5 * UNITS)
    cases: Cases = [
        (by_account(buy(1), mine), BOUGHT),
        (by_account(buy(1), mine, other), BOUGHT),
        # But whose coin is gone has sent it.
        (by_account(buy(1), other, mine), BOUGHT),
        (by_account(sent(coin=-ETH - GAS), mine, *pool, taken, other), "unsigned"),
        # What is logged before the entry point begins is of nobody's operation.
        (own_before(taken, mine), "unsigned"),
    ]
    check(cases)
