"""Who exchanged with whom on Solana is a matter of the call: made cases of the kinds that are recorded."""

from decimal import Decimal

from tests.decoding.solana import decode_for, read, trades_of
from tests.decoding.test_solana_rules import BOUGHT, SOLD, UNITS, Cases, by_system, check, inner, made
from tests.stub.swaps import Row
from tests.stub.transactions import RENT, WRAPPED, Move
from tests.sync.solana import BONK, FART, SOL, USDC, WALLET, own, pool

TOKENS = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"


def outer(result: Row) -> list[Row]:
    rows: list[Row] = result["transaction"]["message"]["instructions"]
    return rows


def nested(result: Row) -> Row:
    """Return it with each transfer in a call of its own, by which the exchange moves one of its vaults."""
    vault = {"programId": "vaults", "accounts": [], "stackHeight": 2}
    rows = inner(result)
    rows[:] = [each for row in rows for each in (vault, row | {"stackHeight": 3})]
    return result


def called_before(result: Row, *transfers: tuple[str, str, str, str, int]) -> Row:
    """Return it after a call of another program that made these transfers of a token.

    Each has the source, the destination, the owner of the source, the token and the units.
    """
    rows = []
    keys = [key["pubkey"] for key in result["transaction"]["message"]["accountKeys"]]
    for source, destination, owner, mint, units in transfers:
        info = {"source": source, "destination": destination, "authority": owner, "mint": mint}
        parsed = {"type": "transfer", "info": info | {"amount": str(units)}}
        rows.append({"programId": TOKENS, "parsed": parsed, "stackHeight": 2})
        for balance in result["meta"]["preTokenBalances"]:
            account, amount = keys[balance["accountIndex"]], balance["uiTokenAmount"]
            change = units * ((account == source) - (account == destination))
            amount["amount"] = str(int(amount["amount"]) + change)
            if mint == WRAPPED:
                result["meta"]["preBalances"][balance["accountIndex"]] += change
    outer(result).insert(0, {"programId": "the migration", "accounts": [], "stackHeight": 1})
    for group in result["meta"]["innerInstructions"]:
        group["index"] += 1
    result["meta"]["innerInstructions"].insert(0, {"index": 0, "instructions": rows})
    return result


def paid_by_the_wallet(result: Row, to: str, lamports: int) -> Row:
    """Return it with a transfer of coin at its end, by an instruction of the message itself."""
    keys = [key["pubkey"] for key in result["transaction"]["message"]["accountKeys"]]
    result["meta"]["postBalances"][keys.index(WALLET)] -= lamports
    result["transaction"]["message"]["accountKeys"].append({"pubkey": to, "signer": False})
    result["meta"]["preBalances"].append(0)
    result["meta"]["postBalances"].append(lamports)
    info = {"source": WALLET, "destination": to, "lamports": lamports}
    outer(result).append({"programId": "1" * 32, "parsed": {"type": "transfer", "info": info}})
    return result


def test_vaults_in_two_calls_are_one_pool() -> None:
    bought = (own(None, -SOL), own(FART, UNITS), Move("vault a", WRAPPED, SOL), Move("vault b", FART, -UNITS))
    sold = (own(None, SOL), own(FART, -UNITS), Move("vault a", WRAPPED, -SOL), Move("vault b", FART, UNITS))
    fee = Move("fees", FART, UNITS // 100)
    taxed = (*sold[:1], own(FART, -UNITS), *sold[2:3], Move("vault b", FART, UNITS - UNITS // 100), fee)
    cases: Cases = {
        "bought": (nested(made(*bought)), BOUGHT),
        "sold": (nested(made(*sold)), SOLD),
        "with a fee": (nested(made(*taxed)), SOLD),
    }
    check(cases)


def test_who_owns_a_vault_may_take_the_fee() -> None:
    curve = (Move("curve", FART, -UNITS), Move("curve", WRAPPED, 9), Move("its vault", WRAPPED, SOL))
    bought = made(Move(WALLET, WRAPPED, -SOL - 9), own(FART, UNITS), *curve)
    assert trades_of(decode_for(read(bought))) == [[FART, "buy", "1", "1.000000009", None, None]]
    curve = (Move("curve", FART, UNITS), Move("curve", WRAPPED, 9), Move("its vault", WRAPPED, -SOL))
    sold = made(Move(WALLET, WRAPPED, SOL - 9), own(FART, -UNITS), *curve)
    assert trades_of(decode_for(read(sold))) == [[FART, "sell", "1", "0.999999991", None, None]]


def test_a_pool_that_is_funded_in_the_same_transaction_sells() -> None:
    moves = (
        own(None, -SOL),
        own(FART, UNITS),
        pool(WRAPPED, SOL),
        pool(FART, -UNITS),
        Move("curve", FART, 0),
    )
    result = made(*moves, Move("curve", WRAPPED, 0))
    funded = called_before(
        result,
        ("account 4 of curve", "account 3 of pool", "curve", FART, 5 * UNITS),
        ("account 5 of curve", "account 2 of pool", "curve", WRAPPED, 4 * SOL),
    )
    check({"bought": (funded, BOUGHT)})


def test_other_buyers_are_no_other_side() -> None:
    # Each pays a hundredth as a fee.
    part = SOL // 100
    mine = (Move(WALLET, WRAPPED, -SOL - part), own(FART, UNITS))
    other = (Move("other", WRAPPED, -3 * (SOL + part)), Move("other", FART, 3 * UNITS))
    result = made(
        *mine, *other, pool(WRAPPED, 4 * SOL), pool(FART, -4 * UNITS), Move("fees", WRAPPED, 4 * part)
    )
    (draft,) = decode_for(read(result)).drafts
    assert (draft.native, draft.native - draft.extra) == (Decimal("1.01"), 1)


def test_a_remainder_of_a_route_is_none() -> None:
    def route(left: int) -> Row:
        """Return a swap of USDC for FART by way of so many BONK of a million that are left over."""
        first = (own(USDC, -32 * UNITS), pool(USDC, 32 * UNITS), pool(BONK, -UNITS))
        second = (pool(BONK, UNITS - left, "second"), own(FART, UNITS), pool(FART, -UNITS, "second"))
        return made(*first, *second, own(BONK, left))

    pair = [(USDC, "sell", "32", "0.2"), (FART, "buy", "1", "0.2")]
    check({"crumb": (route(999), pair), "more": (route(20_000), "unclear")})


def test_coin_that_is_sent_on_is_no_part_of_the_value() -> None:
    sale = (own(None, SOL), own(FART, -UNITS), pool(WRAPPED, -SOL), pool(FART, UNITS))
    cases: Cases = {
        "sent on": (paid_by_the_wallet(made(*sale), "friend", SOL * 95 // 100), SOLD),
        "a fee": (
            paid_by_the_wallet(made(*sale), "fees", SOL // 100),
            [(FART, "sell", "1", "0.99")],
        ),
        "a large tip": (
            paid_by_the_wallet(made(*sale), "96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5", SOL // 2),
            [(FART, "sell", "1", "0.5")],
        ),
    }
    check(cases)


def test_what_others_moved_makes_no_price_beyond_half_or_twice_of_the_value() -> None:
    jito = "96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5"
    bought = (own(None, -SOL), own(FART, UNITS), pool(WRAPPED, SOL), pool(FART, -UNITS))
    sold = (own(None, SOL), own(FART, -UNITS), pool(WRAPPED, -SOL), pool(FART, UNITS))
    cases = (
        (bought, SOL, ["2", "1"]),
        (bought, SOL + 1, ["2.000000001", None]),
        (sold, SOL // 2, ["0.5", "1"]),
        (sold, SOL // 2 + 1, ["0.499999999", None]),
        (sold, SOL, ["0", None]),
    )
    for moves, tip, expected in cases:
        result = paid_by_the_wallet(made(*moves), jito, tip)
        ((_, _, _, value, _, exchanged),) = trades_of(decode_for(read(result)))
        assert [value, exchanged] == expected


def test_a_sale_of_which_tips_leave_nothing_has_no_value() -> None:
    sale = (own(None, 1000), own(FART, -UNITS), pool(WRAPPED, -1000), pool(FART, UNITS))
    for tip, value in ((400, "0.0000006"), (1000, "0"), (30_000, "0")):
        result = paid_by_the_wallet(made(*sale), "tips", tip)
        check({"tipped": (result, [(FART, "sell", "1", value)])})


def test_a_new_account_that_is_topped_up_is_rent() -> None:
    moves = (own(None, -SOL - RENT - 500), own(FART, UNITS), pool(WRAPPED, SOL), pool(FART, -UNITS))
    created = ("createAccount", {"newAccount": "new", "lamports": RENT})
    topped_up = ("transfer", {"destination": "new", "lamports": 500})
    result = by_system(made(*moves), created, topped_up, after=RENT + 500)
    check({"topped up": (result, BOUGHT)})


def test_who_ends_with_what_it_began_has_no_trade() -> None:
    # USDC for FART in one pool, and FART for USDC in another one, with a gain that is paid as a tip.
    there = (pool(USDC, 100 * UNITS), pool(FART, -UNITS))
    back = (pool(USDC, -101 * UNITS, "second"), pool(FART, UNITS, "second"))
    check({"arbitrage": (made(*there, *back, own(USDC, UNITS), own(FART, 0), own(None, -5000)), [])})


def test_a_whole_unit_that_nobody_keeps_a_rest_of_is_an_nft() -> None:
    def bought(rest: int) -> Row:
        sold = Move("artist", BONK, -(10**9), closed=not rest, decimals=9)
        result = made(
            *(own(None, -SOL), Move(WALLET, BONK, 10**9, opened=True, decimals=9), sold),
            *(Move("artist", None, SOL), own(None, -RENT)),
        )
        if rest:
            for balance in result["meta"]["preTokenBalances"]:
                balance["uiTokenAmount"]["amount"] = str(10**9 + rest)
            for balance in result["meta"]["postTokenBalances"]:
                if balance["owner"] == "artist":
                    balance["uiTokenAmount"]["amount"] = str(rest)
        return result

    check({"nft": (bought(0), []), "token": (bought(5), [(BONK, "buy", "1", "1")])})
