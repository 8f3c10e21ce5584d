"""What known routers keep and return of native coin, by their logs and by the input of the transaction."""

import random

import pytest

from tests.decoding.evm import BARE, Given
from tests.stub import evm
from tests.stub.evm import Row, log, transfer, word
from tests.sync.evm_trades import CAT, ETH, FRIEND, POOL, ROUTER, SWAP, WALLET, WETH, receipt
from tests.sync.operator import plain

UNITS, FEE = 10**6, ETH // 100
UNIVERSAL = "0x3fc91a3afd70395cd496c647d5a6cc9d4b2b7fad"
UNISWAP_3 = "0xe592427a0aece92de3edee1f18e0157c05861564"
METAMASK = "0x881d40237659c251811cec9c364ef91dc08d300c"
KYBER = "0x6131b5fae19ea4f9d964eac0408e4408b66337b5"
BANANA = "0x3328f7f4a1d1c57c35df56bbf0c9dcafca309c49"
SWAPPED = "0xd6d4f5681c246c9f42c203e287975af1601f8df8035a9251f79aab5c8f09e2f8"
KEPT = "0x72015ace03712f361249380657b3d40777dd8f8a686664cab48afd9dbbe4499f"
COIN = f"0x{'ee' * 20}"
CALLER, ITSELF, NOBODY = f"0x{1:040x}", f"0x{2:040x}", f"0x{0:040x}"
WRAP, SWEEP, PORTION, UNWRAP, BUY = 0x0B, 0x04, 0x06, 0x0C, 0x09


def words(*values: int | str) -> bytes:
    """Return values as words."""
    return b"".join((int(value, 16) if isinstance(value, str) else value).to_bytes(32) for value in values)


def packed(data: bytes) -> bytes:
    """Return bytes with their length, filled up to whole words."""
    return words(len(data)) + data + bytes(-len(data) % 32)


def array(*elements: bytes) -> bytes:
    """Return an array of bytes."""
    places, rows = [], b""
    for element in elements:
        places.append(32 * len(elements) + len(rows))
        rows += packed(element)
    return words(len(elements), *places) + rows


def execute(*commands: tuple[int, bytes]) -> bytes:
    """Return the call of a universal router."""
    kinds = packed(bytes(kind for kind, _ in commands))
    given = array(*(inputs for _, inputs in commands))
    return bytes.fromhex("3593564c") + words(96, 96 + len(kinds), 2**32) + kinds + given


def multicall(*calls: str) -> bytes:
    """Return several calls of a router."""
    return bytes.fromhex("ac9650d8") + words(32) + array(*map(bytes.fromhex, calls))


def adapted(fee: int, is_of_proceeds: bool = True, gained: str = NOBODY) -> bytes:
    """Return a call of MetaMask's router."""
    data = words(CAT, gained, UNITS, 0, 288, fee, FRIEND, int(is_of_proceeds)) + packed(b"swap")
    return bytes.fromhex("5f575529") + words(128, CAT, UNITS, 192) + packed(b"adapter") + packed(data)


def sold(router: str, *logs: Row) -> tuple[Row, ...]:
    """Return the logs of a sale for one ether that the router unwraps."""
    return (
        transfer(CAT, WALLET, POOL, UNITS),
        transfer(WETH, POOL, router, ETH),
        log(POOL, (SWAP,), UNITS, 0, 0, ETH),
        log(WETH, (evm.WITHDRAWAL, word(router)), ETH),
        *logs,
    )


def bought(router: str, wrapped: int, unwrapped: int = 0) -> tuple[Row, ...]:
    """Return the logs of a purchase with what the router wraps, less what it unwraps."""
    left = [log(WETH, (evm.WITHDRAWAL, word(router)), unwrapped)] if unwrapped else []
    return (
        log(WETH, (evm.DEPOSIT, word(router)), wrapped),
        transfer(WETH, router, POOL, wrapped - unwrapped),
        transfer(CAT, POOL, WALLET, UNITS),
        log(POOL, (SWAP,), 0, wrapped - unwrapped, UNITS, 0),
        *left,
    )


def read(to: str, *logs: Row, value: int = 0, given: bytes = b"") -> str:
    """Return side and value that a node without state shows, or why there is no trade."""
    row = Given("eth", receipt(1, *logs, to=to), value, {}, {CAT: 6} | _DOLLARS, input=given)
    decoded = row.decode(WALLET, BARE)
    if not decoded.drafts:
        return str(decoded.why)
    (draft,) = decoded.drafts
    return f"{'sell' if draft.is_sell else 'buy'} {plain(draft.native)}"


_DOLLARS = dict.fromkeys(
    ("0xdac17f958d2ee523a2206206994597c13d831ec7", "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"), 6
) | {"0x6b175474e89094c44da98b954eedeac495271d0f": 18}


def swapped(caller: str = WALLET, receiver: str = WALLET, gave: int = UNITS, emitter: str = KYBER) -> Row:
    """Return what KyberSwap states of a sale."""
    return log(emitter, (SWAPPED,), *(int(one, 16) for one in (caller, CAT, COIN, receiver)), gave, ETH - FEE)


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        (swapped(), "sell 0.99"),
        # Of another one, for another one, of other units, or of a contract that is not known.
        (swapped(caller=FRIEND), "sell 1"),
        (swapped(receiver=FRIEND), "sell 1"),
        (swapped(gave=UNITS - 1), "sell 1"),
        (swapped(emitter=ROUTER), "sell 1"),
    ],
)
def test_a_known_router_states_what_it_paid_its_caller(stated: Row, expected: str) -> None:
    assert read(KYBER, *sold(KYBER, stated)) == expected


def test_what_it_states_twice_or_beside_a_payment_is_not_what_the_wallet_has_more() -> None:
    assert read(KYBER, *sold(KYBER, swapped(), swapped())) == "sell 1"
    assert read(KYBER, *sold(KYBER, swapped()), value=FEE) == "sell 1"


@pytest.mark.parametrize(
    ("emitter", "of", "expected"),
    [(BANANA, WALLET, "sell 0.99"), (BANANA, FRIEND, "sell 1"), (ROUTER, WALLET, "sell 1")],
)
def test_a_known_bot_states_what_it_kept_of_the_wallets_sale(emitter: str, of: str, expected: str) -> None:
    kept = log(emitter, (KEPT,), FEE, int(of, 16), 51)
    assert read(BANANA, *sold(BANANA, kept)) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (adapted(FEE), "sell 0.99"),
        # Of what the wallet gave, of another token, in a form that is not known, or more than there is.
        (adapted(FEE, is_of_proceeds=False), "sell 1"),
        (adapted(FEE, gained=POOL), "sell 1"),
        (adapted(FEE)[:200], "sell 1"),
        (adapted(2 * ETH), "no_value"),
    ],
)
def test_metamask_keeps_the_fee_that_the_input_names(given: bytes, expected: str) -> None:
    assert read(METAMASK, *sold(METAMASK), given=given) == expected
    assert read(ROUTER, *sold(ROUTER), given=given) == "sell 1"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (execute((BUY, b""), (UNWRAP, words(CALLER, 0))), "buy 0.99"),
        (execute((BUY, b""), (UNWRAP, words(WALLET, 0))), "buy 0.99"),
        (execute((BUY, b""), (UNWRAP, words(ITSELF, 0)), (SWEEP, words(NOBODY, CALLER, 0))), "buy 0.99"),
        # It stays with the router, goes to somebody else, or a part of it does: the wallet has paid it.
        (execute((BUY, b""), (UNWRAP, words(ITSELF, 0))), "buy 1"),
        (execute((BUY, b""), (UNWRAP, words(FRIEND, 0))), "buy 1"),
        (
            execute(
                (UNWRAP, words(ITSELF, 0)),
                (PORTION, words(NOBODY, FRIEND, 25)),
                (SWEEP, words(NOBODY, CALLER, 0)),
            ),
            "buy 1",
        ),
        (b"", "buy 1"),
    ],
)
def test_what_a_universal_router_unwraps_comes_back_as_the_input_says(given: bytes, expected: str) -> None:
    assert read(UNIVERSAL, *bought(UNIVERSAL, ETH, FEE), value=ETH, given=given) == expected
    assert read(ROUTER, *bought(ROUTER, ETH, FEE), value=ETH, given=given) == "buy 1"


@pytest.mark.parametrize(("calls", "expected"), [(("12210e8a",), "buy 0.99"), (("49404b7c",), "buy 1")])
def test_a_router_returns_what_it_did_not_wrap_if_it_was_asked_to(
    calls: tuple[str, ...], expected: str
) -> None:
    given = multicall("db3e2198", *calls)
    assert read(UNISWAP_3, *bought(UNISWAP_3, ETH - FEE), value=ETH, given=given) == expected
    # What somebody else unwraps in between says nothing.
    others = log(WETH, (evm.WITHDRAWAL, word(FRIEND)), FEE // 2)
    assert read(UNISWAP_3, *bought(UNISWAP_3, ETH - FEE), others, value=ETH, given=given) == "buy 1"


@pytest.mark.parametrize(
    ("router", "given"),
    [
        (UNIVERSAL, execute((UNWRAP, words(FRIEND, 0)))),
        (UNIVERSAL, execute((UNWRAP, words(ITSELF, 0)), (SWEEP, words(NOBODY, FRIEND, 0)))),
        (UNISWAP_3, multicall("49404b7c" + words(0, FRIEND).hex())),
    ],
)
def test_tokens_that_a_router_sells_for_somebody_else_are_no_sale(router: str, given: bytes) -> None:
    assert read(router, *sold(router), given=given) == "no_trade"
    assert read(router, *sold(router), given=given.replace(words(FRIEND), words(WALLET))) == "sell 1"


def test_no_input_is_too_strange() -> None:
    chance = random.Random(7)
    inputs = [
        adapted(FEE),
        execute((WRAP, words(ITSELF, ETH)), (UNWRAP, words(CALLER, 0))),
        multicall("12210e8a"),
    ]
    for _ in range(1000):
        given = bytearray(chance.choice(inputs))
        for _ in range(chance.randrange(1, 6)):
            place = chance.randrange(len(given))
            given[place : place + 32] = words(chance.choice([0, 32, 2**255, 2**256 - 1, len(given)]))
        to = chance.choice([UNIVERSAL, UNISWAP_3, METAMASK])
        assert read(to, *bought(to, ETH, FEE), value=ETH, given=bytes(given)) in ("buy 1", "buy 0.99")
