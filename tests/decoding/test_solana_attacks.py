"""What a stranger writes to have a wallet that signs nothing buy, and honest trades of the same shape."""

from collections.abc import Callable
from itertools import product

from tests.decoding.drafts import shown
from tests.decoding.solana import decode_for, read
from tests.decoding.solana_machine import Machine
from tests.decoding.test_solana_consent import read_of
from tests.stub.transactions import WRAPPED
from tests.sync.operator import plain
from tests.sync.solana import FART, SOL, USDC, WALLET
from wallet_api.chain.decoding.swaps import LIQUIDITY, NO_TRADE, UNSIGNED, Reason

STRANGER, POOL = "stranger", "pool"
UNITS = 10**6
DCA = "DCA265Vj8a9CEuX1eb1LWRnDT7uK6q1xMipnNyatn23M"
JUPITER = "JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4"


def _opens_for_the_wallet(pay: Callable[[Machine], None], *, closed: bool = False) -> Machine:
    """Return a transaction in which an account pays, and becomes one of the wallet afterwards."""
    machine = Machine((STRANGER, "hoard"))
    pay(machine)
    machine.assign("hoard")
    machine.open("hoard", FART, WALLET)
    machine.send(machine.tokens(POOL, FART), "hoard", UNITS, POOL)
    if closed:
        machine.send("hoard", machine.tokens(WALLET, FART), UNITS, STRANGER)
        machine.close("hoard", STRANGER, STRANGER)
    return machine


def test_who_pays_before_its_account_is_the_wallets_has_not_paid_for_it() -> None:
    ways: dict[str, Callable[[Machine], None]] = {
        "transfer": lambda machine: machine.pay("hoard", POOL, 1000 * SOL),
        "with a seed": lambda machine: machine.pay("hoard", POOL, 1000 * SOL, "transferWithSeed"),
        "created": lambda machine: machine.create("hoard", "new", 1000 * SOL),
        "by no instruction": lambda machine: machine.take("hoard", POOL, 1000 * SOL),
    }
    for name, pay in ways.items():
        for closed in (False, True):
            decoded = decode_for(read(_opens_for_the_wallet(pay, closed=closed).result()))
            assert (name, closed, decoded.drafts, decoded.is_signed) == (name, closed, (), False)
            assert decoded.why in (NO_TRADE, UNSIGNED)


def test_an_account_that_was_another_ones_has_paid_for_that_one() -> None:
    for mint, is_signer in product((USDC, WRAPPED), (False, True)):
        machine = Machine((WALLET, STRANGER) if is_signer else (STRANGER,))
        machine.call("exchange")
        hoard = machine.tokens("first", mint)
        machine.send(hoard, machine.tokens(POOL, mint), UNITS, "first")
        machine.reassign(hoard, WALLET)
        machine.send(machine.tokens(POOL, FART), machine.tokens(WALLET, FART), UNITS, POOL)
        if is_signer:
            machine.pay(WALLET, POOL, SOL)
        decoded = decode_for(read(machine.result()))
        assert decoded.is_signed == is_signer
        # Nor is it so if the wallet signs.
        assert not decoded.drafts if not is_signer else read_of(decoded) == [(FART, "buy", "1", "1")]


def test_an_owner_that_changed_by_no_step_is_unreadable() -> None:
    result = _bought().result()
    meta = result["meta"]
    changes = [
        (name, place, {"owner": "another"})
        for name in ("postTokenBalances", "preTokenBalances")
        for place in range(len(meta[name]))
    ]
    for name, place, change in (*changes, ("postTokenBalances", 0, {"mint": USDC})):
        rows = [*meta[name]]
        rows[place] = rows[place] | change
        decoded = decode_for(read(result | {"meta": meta | {name: rows}}))
        assert (decoded.why, decoded.is_signed) == (Reason.UNREADABLE, True)


def _bought() -> Machine:
    machine = Machine((WALLET,))
    machine.call("exchange")
    machine.pay(WALLET, POOL, SOL)
    machine.send(machine.tokens(POOL, FART), machine.tokens(WALLET, FART), UNITS, POOL)
    return machine


def test_an_account_that_is_opened_for_a_purchase_lets_it_land() -> None:
    machine = Machine((WALLET,))
    machine.create(WALLET, "new fart")
    machine.open("new fart", FART, WALLET)
    machine.create(WALLET, "new coin", 2_039_280 + SOL)
    machine.open("new coin", WRAPPED, WALLET)
    machine.call("exchange")
    machine.send("new coin", machine.tokens(POOL, WRAPPED), SOL, WALLET)
    machine.send(machine.tokens(POOL, FART), "new fart", UNITS, POOL)
    machine.top()
    machine.close("new coin", WALLET)
    assert read_of(decode_for(read(machine.result()))) == [(FART, "buy", "1", "1")]


def test_an_address_at_the_place_of_an_escrow_pays_for_nobody() -> None:
    def forged(*, invoked: bool = False, pays: bool = False) -> Machine:
        machine = Machine((STRANGER,))
        machine.call(DCA, STRANGER, "escrow", WALLET)
        if pays:
            # The program pays the maker, but out of the stranger's own.
            machine.pay(STRANGER, WALLET, 1)
        if not invoked:
            machine.call("the stranger's program", "escrow")
        machine.pay("escrow", POOL, 1000 * SOL)
        machine.send(machine.tokens(POOL, FART), machine.tokens(WALLET, FART), UNITS, POOL)
        return machine

    for machine in (forged(), forged(pays=True)):
        decoded = decode_for(read(machine.result()))
        assert (decoded.drafts, decoded.why, decoded.is_signed) == ((), NO_TRADE, False)
    # The program itself lets the escrow pay.
    assert read_of(decode_for(read(forged(invoked=True).result()))) == [(FART, "buy", "1", "1000")]


def test_an_order_is_filled_for_its_maker_beside_what_a_stranger_adds() -> None:
    machine = Machine((STRANGER,))
    machine.call(DCA, STRANGER, "escrow", USDC)
    machine.send(machine.tokens("escrow", USDC), machine.tokens(STRANGER, USDC), 100 * UNITS, "escrow")
    machine.call(DCA, STRANGER, "escrow", WALLET)
    machine.send(machine.tokens(STRANGER, FART), machine.tokens(WALLET, FART), UNITS, STRANGER)
    machine.call("the stranger's program", "escrow")
    # What the escrow gives elsewhere, and what else comes, is no part of it.
    machine.pay("escrow", STRANGER, SOL)
    machine.send(machine.tokens(STRANGER, "dust"), machine.tokens(WALLET, "dust"), UNITS, STRANGER)
    decoded = decode_for(read(machine.result()))
    trades = sorted((draft.mint, draft.is_sell, plain(draft.token_amount)) for draft in decoded.drafts)
    assert (trades, decoded.is_signed) == ([(FART, False, "1"), (USDC, True, "100")], True)


def test_a_sale_by_a_delegate_names_the_trades_that_it_would_be() -> None:
    machine = Machine((STRANGER,))
    machine.call("exchange")
    machine.send(machine.tokens(WALLET, FART), machine.tokens(POOL, FART), UNITS, STRANGER)
    machine.pay(POOL, WALLET, SOL)
    decoded = decode_for(read(machine.result()))
    assert (decoded.why, decoded.drafts, decoded.is_signed) == (UNSIGNED, (), False)
    assert shown(decoded.unproven) == [(FART, "sell", "1", "1")]
    assert not decode_for(read(_bought().result())).unproven


def test_a_position_that_is_moved_in_a_pool_is_no_trade() -> None:
    def moved(withdrawn: dict[str, int], deposited: dict[str, int], *, apart: bool) -> Machine:
        machine = Machine((WALLET,))
        machine.call("the pool's program")
        for mint, units in withdrawn.items():
            machine.send(machine.tokens(POOL, mint), machine.tokens(WALLET, mint), units, POOL)
        if apart:
            machine.call("the pool's program")
        for mint, units in deposited.items():
            machine.send(machine.tokens(WALLET, mint), machine.tokens(POOL, mint), units, WALLET)
        return machine

    for withdrawn, deposited in (
        ({USDC: 100 * UNITS, FART: 500 * UNITS}, {FART: 600 * UNITS}),
        ({WRAPPED: SOL, FART: 500 * UNITS}, {FART: 501 * UNITS}),
    ):
        for apart in (False, True):
            decoded = decode_for(read(moved(withdrawn, deposited, apart=apart).result()))
            assert (decoded.drafts, decoded.why, decoded.is_signed) == ((), LIQUIDITY, True)
    # A crumb that comes back is change.
    decoded = decode_for(read(moved({WRAPPED: SOL, FART: UNITS}, {FART: 100 * UNITS}, apart=False).result()))
    assert read_of(decoded) == [(FART, "sell", "99", "1")]
    # Only one token.
    decoded = decode_for(read(moved({USDC: 1, FART: 2}, {FART: 1}, apart=True).result()))
    assert decoded.why == NO_TRADE


def test_what_an_order_book_settles_pays_for_no_new_orders() -> None:
    def settled(*signers: str) -> Machine:
        machine = Machine((WALLET, *signers))
        machine.call("the order book")
        machine.send(machine.tokens(WALLET, USDC), machine.tokens("market", USDC), UNITS, WALLET)
        machine.call("the order book")
        machine.send(machine.tokens("market", WRAPPED), machine.tokens(WALLET, WRAPPED), SOL, "market")
        return machine

    decoded = decode_for(read(settled().result()))
    assert (decoded.drafts, decoded.why) == ((), LIQUIDITY)
    # Somebody who signs that he sells for it.
    assert len(decode_for(read(settled("market").result())).drafts) == 1


def test_what_was_bought_and_sold_makes_no_price() -> None:
    machine = Machine((WALLET,))
    for sign in (1, -1):
        machine.call("exchange")
        coin, tokens = (machine.tokens(WALLET, mint) for mint in (WRAPPED, FART))
        vaults = [machine.tokens(POOL, mint) for mint in (WRAPPED, FART)]
        if sign > 0:
            machine.send(coin, vaults[0], 3 * SOL, WALLET)
            machine.send(vaults[1], tokens, 3 * UNITS, POOL)
        else:
            machine.send(tokens, vaults[1], 2 * UNITS, WALLET)
            machine.send(vaults[0], coin, SOL, POOL)
    machine.top()
    machine.pay(WALLET, "fees", SOL // 100)
    (draft,) = decode_for(read(machine.result())).drafts
    assert (plain(draft.token_amount), plain(draft.native)) == ("1", "2.01")
    assert draft.exchanged(draft.native) == 0


def test_a_router_over_a_venue_that_mints_or_burns_is_read() -> None:
    def over(program: str, kind: str) -> Machine:
        machine = Machine((WALLET,))
        staked = machine.tokens(WALLET, FART)
        machine.call(program)
        machine.call("the stake pool", depth=2)
        sign = 1 if kind == "mintTo" else -1
        machine.issue(staked, sign * UNITS, WALLET if sign < 0 else "the stake pool")
        if sign > 0:
            machine.pay(WALLET, "reserve", SOL)
        else:
            machine.pay("reserve", WALLET, SOL)
        return machine

    bought, sold = (decode_for(read(over(JUPITER, kind).result())) for kind in ("mintTo", "burn"))
    assert read_of(bought) == [(FART, "buy", "1", "1")]
    assert read_of(sold) == [(FART, "sell", "1", "1")]
    # Without a router it is a deposit or withdrawal.
    for kind in ("mintTo", "burn"):
        assert decode_for(read(over("wallet", kind).result())).why == NO_TRADE
