"""A trade on Solana needs that what the wallet gave left it by its own authority."""

from typing import Any

from tests.decoding.drafts import shown
from tests.decoding.solana import AT, decode_for, read
from tests.decoding.test_solana_rules import LIMIT_ORDERS, SOLD, UNITS, Expected, inner, made, of_program
from tests.stub.swaps import Row
from tests.stub.transactions import RENT, WRAPPED, Move
from tests.sync.solana import BONK, FART, SOL, WALLET, buy, own, pool
from wallet_api.chain.decoding.swaps import NO_TRADE, UNSIGNED
from wallet_api.chain.decoding.trades import Decoded

STRANGER = "stranger"
GOT = (own(None, SOL), pool(None, -SOL))


def read_of(decoded: Decoded) -> Expected:
    """Return the trades, or why there is none."""
    return shown(decoded.drafts) or str(decoded.why)


def check(result: Row, expected: Expected) -> None:
    decoded = decode_for(read(result))
    assert read_of(decoded) == expected
    assert decoded.is_signed == (expected != UNSIGNED and expected != NO_TRADE)


def by(result: Row, mint: str = FART, **authority: Any) -> Row:
    """Return it with these authorities of the transfers from the wallet, or without any."""
    for row in inner(result):
        info = row["parsed"]["info"]
        if info["mint"] == mint and info.get("source", info.get("account", "")).endswith(WALLET):
            info.pop("authority", None)
            info |= authority
    return result


def sold() -> Row:
    """Return a sale that somebody else signed."""
    return made(own(FART, -UNITS), pool(FART, UNITS), *GOT, payer=STRANGER)


def bought_for(*moves: Move) -> Row:
    """Return what a stranger signed: the wallet has tokens, and these moves beside."""
    return made(own(FART, UNITS), *moves, payer=STRANGER)


def with_step(result: Row, mint: str, kind: str, **info: str) -> Row:
    """Return it with the transfers of this token alone, and one more step inside the exchange."""
    rows = inner(result)
    rows[:] = [row for row in rows if row["parsed"]["info"]["mint"] == mint]
    rows.append(rows[0] | {"parsed": {"type": kind, "info": info}})
    return result


def test_what_the_wallet_gave_by_its_own_authority_is_sold() -> None:
    check(sold(), SOLD)
    # A vault, by the signature of its program.
    check(by(sold(), multisigAuthority=WALLET, signers=["a", "b"]), SOLD)
    # A delegate of one that signed.
    check(by(made(own(FART, -UNITS), pool(FART, UNITS), *GOT), authority="the exchange"), SOLD)
    # A vault that pays with a system transfer of its own.
    result = bought_for(own(None, -SOL), pool(None, SOL), pool(FART, -UNITS))
    paid = {"source": WALLET, "destination": "pool", "lamports": SOL}
    system = {"programId": "1" * 32, "parsed": {"type": "transfer", "info": paid}, "stackHeight": 2}
    inner(result).append(system)
    check(result, [(FART, "buy", "1", "1")])


def test_what_a_delegate_takes_is_no_trade() -> None:
    check(by(sold(), authority=STRANGER), UNSIGNED)
    check(by(sold(), multisigAuthority=STRANGER, signers=[WALLET]), UNSIGNED)
    # A node that does not say by whom.
    check(by(sold()), UNSIGNED)
    # One transfer, and a system transfer of the stranger: dust.
    dust = SOL // 1000
    paid = (own(None, dust), Move(STRANGER, None, -dust))
    result = made(own(FART, -UNITS), Move(STRANGER, FART, UNITS), *paid, payer=STRANGER)
    check(by(result, authority=STRANGER), UNSIGNED)
    # A permanent delegate of both tokens; 1,000 SOL go from one account of the stranger to another one.
    swapped = (own(BONK, -UNITS), Move(STRANGER, BONK, UNITS), Move(STRANGER, FART, -UNITS))
    moved = (Move(STRANGER, WRAPPED, -1000 * SOL), Move("his other", WRAPPED, 1000 * SOL))
    check(by(bought_for(*swapped, *moved), BONK, authority=STRANGER), UNSIGNED)
    # He burns it, and pays.
    burned = made(own(FART, -UNITS), own(None, SOL), Move(STRANGER, None, -SOL), payer=STRANGER)
    check(by(burned, authority=STRANGER), NO_TRADE)


def test_coin_that_the_wallet_did_not_give_buys_nothing() -> None:
    result = bought_for(own(WRAPPED, -SOL), pool(WRAPPED, SOL), pool(FART, -UNITS))
    check(by(result, WRAPPED, authority=STRANGER), UNSIGNED)
    # A close authority takes its wrapped coin.
    gave = Move(STRANGER, FART, -UNITS)
    result = bought_for(own(WRAPPED, -SOL, closed=True), Move(STRANGER, None, SOL + RENT), gave)
    closed = {"account": f"account 1 of {WALLET}", "destination": STRANGER, "owner": STRANGER}
    check(with_step(result, FART, "closeAccount", **closed), UNSIGNED)
    # The stranger closes an account to the wallet, of which an instruction that no node parses took the coin.
    hoard = Move(STRANGER, WRAPPED, -SOL, closed=True)
    result = bought_for(gave, hoard, own(None, RENT), Move("his other", None, SOL))
    closed = {"account": f"account 2 of {STRANGER}", "destination": WALLET, "owner": STRANGER}
    outer = result["transaction"]["message"]["instructions"]
    outer[1]["accounts"] = [WALLET, "his other"]
    outer.append(inner(with_step(result, FART, "closeAccount", **closed)).pop())
    check(result, UNSIGNED)


def test_an_order_is_no_order_of_who_is_only_named_and_what_only_comes_is_no_trade() -> None:
    paid = (Move("order", WRAPPED, -SOL), pool(WRAPPED, SOL), own(FART, UNITS), pool(FART, -UNITS))
    for accounts in (("taker", "maker", "order", WALLET), ("taker", WALLET, "taker", "order")):
        check(of_program(made(*paid, payer="taker"), LIMIT_ORDERS, *accounts), NO_TRADE)
    gave = Move(STRANGER, FART, -UNITS)
    check(bought_for(gave), NO_TRADE)
    check(bought_for(gave, own(None, 1), Move(STRANGER, None, -1)), NO_TRADE)


def test_a_reason_that_is_kept_says_whether_the_wallet_signed() -> None:
    for payer in (WALLET, STRANGER):
        result = buy(AT, wallet=WALLET)
        result["transaction"]["message"]["accountKeys"][0]["signer"] = payer == WALLET
        result["meta"]["fee"] = -1
        decoded = decode_for(read(result))
        assert (str(decoded.why), decoded.is_signed) == ("unreadable", payer == WALLET)
    # The pool moved another amount than the vault.
    unclear = made(
        *(own(FART, -UNITS), Move("bot", FART, -UNITS), pool(FART, 2 * UNITS)), *GOT, payer=STRANGER
    )
    decoded = decode_for(read(unclear))
    assert (str(decoded.why), decoded.is_signed) == ("unclear", True)
