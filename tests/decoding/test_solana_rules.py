"""What a transaction of Solana is for a wallet: a trade and its value, none, or unclear."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import msgspec

from tests.decoding.drafts import shown
from tests.decoding.solana import AT, decode_for, read
from tests.stub.swaps import Row
from tests.stub.transactions import RENT, WRAPPED, Move, transaction
from tests.sync.solana import BONK, FART, SOL, USDC, WALLET, buy, own, pool
from wallet_api.chain.decoding.swaps import NO_TRADE

SYSTEM = "11111111111111111111111111111111"
KAMINO = "KLend2g3cP87fffoy8q1mQqGKjrxjC8boSyAYavgmjD"
LIMIT_ORDERS = "j1o2qRpjcyUwEvwtcfhEQefh773ZgjxcVRry7LDqg5X"
UNITS = 10**6

# The trades of a transaction: token, side, amount and native value; or why it is left out.
Expected = list[tuple[str, str, str, str]] | str
Cases = dict[str, tuple[Row, Expected]]
BOUGHT = [(FART, "buy", "1", "1")]
SOLD = [(FART, "sell", "1", "1")]


def check(cases: Cases) -> None:
    """Decode the transactions, and compare."""
    found: dict[str, Any] = {}
    for name, (result, _) in cases.items():
        try:
            decoded = decode_for(read(result))
        except msgspec.ValidationError:
            found[name] = "unreadable"
            continue
        found[name] = str(decoded.why) if decoded.why not in (None, NO_TRADE) else shown(decoded.drafts)
    assert found == {name: sorted(one) if isinstance(one, list) else one for name, (_, one) in cases.items()}


def made(*moves: Move, payer: str = WALLET) -> Row:
    """Return a transaction of these moves."""
    return transaction(AT, payer, *moves)


def inner(result: Row) -> list[Row]:
    """Return the instructions that the exchange invoked."""
    rows: list[Row] = result["meta"]["innerInstructions"][0]["instructions"]
    return rows


def renamed(result: Row, old: str, new: str) -> Row:
    """Return it with instructions of another kind."""
    for row in inner(result):
        if row["parsed"]["type"] == old:
            row["parsed"] = row["parsed"] | {"type": new}
    return result


def of_program(result: Row, program: str, *accounts: str) -> Row:
    """Return it as what another program did with these accounts."""
    result["transaction"]["message"]["instructions"][1] |= {"programId": program, "accounts": list(accounts)}
    return result


def by_system(result: Row, *run: tuple[str, Row], before: int = 0, after: int = 0) -> Row:
    """Return it with instructions of the system program for the account `new`, and its balances."""
    meta = result["meta"]
    for kind, info in run:
        parsed = {"type": kind, "info": {"source": WALLET} | info}
        inner(result).append({"program": "system", "programId": SYSTEM, "parsed": parsed, "stackHeight": 2})
    result["transaction"]["message"]["accountKeys"].append({"pubkey": "new", "signer": False})
    meta["preBalances"].append(before)
    meta["postBalances"].append(after)
    return result


def over(result: Row, *transfers: tuple[str, str, int]) -> Row:
    """Return it with these transfers of FART between accounts instead of its own."""
    rows = inner(result)
    rows[:] = [row for row in rows if row["parsed"]["info"]["mint"] != FART]
    for source, destination, units in transfers:
        info = {"source": source, "destination": destination, "mint": FART, "amount": str(units)}
        rows.append({"programId": "tokens", "parsed": {"type": "transfer", "info": info}, "stackHeight": 2})
    return result


def on_the_way(result: Row, mint: str, opening: str) -> Row:
    """Return it with a token account of the wallet, which is opened, used and closed on the way of `mint`."""
    opened = {"account": "on the way", "mint": mint, "owner": WALLET}
    rows = inner(result)
    place = next(number for number, row in enumerate(rows) if row["parsed"]["info"]["mint"] == mint)
    kind, info = rows[place]["parsed"].values()
    last = {"source": "on the way", "destination": info.get("destination", info.get("account")), "mint": mint}
    last["amount"] = info["amount"] if "amount" in info else info["tokenAmount"]["amount"]
    first = info | {"account" if "account" in info else "destination": "on the way"}
    closed = {"account": "on the way", "destination": WALLET, "owner": WALLET}
    run: Iterable[tuple[str, Row]] = (
        *((opening, opened), (kind, first), ("transfer", last), ("closeAccount", closed)),
    )
    rows[place : place + 1] = [rows[place] | {"parsed": {"type": kind, "info": info}} for kind, info in run]
    return result


def test_a_token_account_that_exists_only_on_the_way_is_its_owners() -> None:
    # Bought into such an account, and given away from it, with coin.
    moves = (pool(WRAPPED, SOL), pool(FART, -UNITS), Move("friend", FART, UNITS), Move("friend", None, SOL))
    openings = ("initializeAccount", "initializeAccount2", "initializeAccount3")
    cases: Cases = {
        opening: (on_the_way(made(own(None, -2 * SOL), *moves), FART, opening), BOUGHT)
        for opening in openings
    }
    # Its owner is known from nothing else in old transactions.
    old = made(own(None, -SOL - RENT), own(FART, UNITS, opened=True), pool(WRAPPED, SOL), pool(FART, -UNITS))
    (balance,) = (row for row in old["meta"]["postTokenBalances"] if row["owner"] == WALLET)
    del balance["owner"]
    info = {"account": f"account 1 of {WALLET}", "mint": FART, "owner": WALLET}
    inner(old).insert(0, inner(old)[0] | {"parsed": {"type": "initializeAccount3", "info": info}})
    cases["old"] = (old, BOUGHT)
    check(cases)


def test_fees_in_the_token_and_help_of_others() -> None:
    paid, fifth = (own(None, -SOL), pool(WRAPPED, SOL)), UNITS // 5
    got = (own(None, SOL), pool(WRAPPED, -SOL))
    mine, its, half = f"account 0 of {WALLET}", "account 1 of bot", UNITS // 2
    vault = "account 2 of pool"
    helped = made(own(FART, -UNITS), Move("bot", FART, -half), pool(FART, UNITS + half), *got)
    kept = made(own(FART, half), Move("bot", FART, half), pool(FART, -UNITS), *paid)
    shared = made(own(FART, 3 * half), Move("bot", FART, 2 * half), pool(FART, -5 * half), *paid)
    cases: Cases = {
        "buy": (
            made(*paid, own(FART, 4 * fifth), Move("fees", FART, fifth), pool(FART, -UNITS)),
            [(FART, "buy", "0.8", "1")],
        ),
        "too much": (
            made(*paid, own(FART, 4 * fifth - 1), Move("fees", FART, fifth + 1), pool(FART, -UNITS)),
            "unclear",
        ),
        "sell": (made(*got, own(FART, -UNITS), Move("fees", FART, fifth), pool(FART, 4 * fifth)), SOLD),
        "friend": (
            made(*got, own(FART, -4 * fifth), Move("friend", FART, -fifth), pool(FART, UNITS)),
            [(FART, "sell", "0.8", "1")],
        ),
        # A bot adds its own to what the wallet sends to it, or keeps a part.
        "helped": (over(helped, (mine, its, UNITS), (its, vault, UNITS + half)), "unclear"),
        "kept": (over(kept, (vault, its, UNITS), (its, mine, half)), "unclear"),
        # Only a half of what it has is from the wallet.
        "shared": (
            over(shared, (vault, mine, 4 * half), (vault, its, half), (mine, its, half)),
            [(FART, "buy", "2", "1")],
        ),
        # In wrapped coin, to somebody who exchanges nothing.
        "tip": (
            made(
                own(None, -2 * SOL),
                pool(WRAPPED, SOL),
                Move("tips", WRAPPED, SOL),
                own(FART, 9),
                pool(FART, -9),
            ),
            [(FART, "buy", "0.000009", "2")],
        ),
        # No NFT, although it has no decimals.
        "whole": (
            made(*paid, Move(WALLET, BONK, 2, decimals=0), Move("pool", BONK, -2, decimals=0)),
            [(BONK, "buy", "2", "1")],
        ),
        "whole sold": (
            made(*got, Move(WALLET, BONK, -2, decimals=0), Move("pool", BONK, 2, decimals=0)),
            [(BONK, "sell", "2", "1")],
        ),
    }
    check(cases)


def test_several_tokens_and_those_of_others() -> None:
    def route(left: int) -> Row:
        """Return a sell and a buy of which so many of 101 lamports are left over."""
        first = (own(FART, -UNITS), pool(FART, UNITS), pool(WRAPPED, -101))
        second = (own(BONK, UNITS), pool(BONK, -UNITS, "second"), pool(WRAPPED, 101 - left, "second"))
        return made(*first, *second, own(None, left))

    gift = (Move("friend", USDC, -9), pool(USDC, 9), pool(FART, -UNITS), own(FART, UNITS))
    sold = (Move("order", FART, -UNITS), own(FART, 0), pool(FART, UNITS), pool(WRAPPED, -SOL))
    filled = made(*sold, Move("friend", None, SOL), own(None, -9))
    accounts = ("account 0 of order", f"account 1 of {WALLET}", "account 2 of pool")
    over(filled, *((*ends, UNITS) for ends in pairwise(accounts)))
    cases: Cases = {
        "bought together": (
            made(
                *(own(None, -3 * SOL), own(FART, UNITS), own(BONK, UNITS)),
                *(pool(WRAPPED, SOL), pool(FART, -UNITS)),
                *(pool(WRAPPED, 2 * SOL, "second"), pool(BONK, -UNITS, "second")),
            ),
            [(BONK, "buy", "1", "2"), (FART, "buy", "1", "1")],
        ),
        # Of one value, or of two if more is left over.
        "route": (route(2), [(BONK, "buy", "1", "0.000000101"), (FART, "sell", "1", "0.000000101")]),
        "parts": (route(3), [(BONK, "buy", "1", "0.000000098"), (FART, "sell", "1", "0.000000101")]),
        "gift": (made(*gift, payer="friend"), []),
        # A friend paid the most of it, or got it.
        "helped": (
            made(own(USDC, -32), Move("friend", USDC, -288), pool(USDC, 320), own(BONK, 10), pool(BONK, -10)),
            "unclear",
        ),
        "given on": (
            made(own(USDC, -32), pool(USDC, 32), own(BONK, 10), Move("friend", BONK, 90), pool(BONK, -100)),
            "unclear",
        ),
        # The pool gave coin as well.
        "both": (
            made(
                *(own(FART, 7), Move("third", None, SOL), Move("friend", BONK, -9)),
                *(pool(FART, -7), pool(WRAPPED, -SOL), pool(BONK, 9)),
            ),
            [],
        ),
        "filled for others": (filled, []),
    }
    check(cases)


def test_rent_is_no_part_of_a_price() -> None:
    funded = ("transfer", {"destination": "new", "lamports": RENT - 1})
    assigned = (("allocate", {"account": "new"}), ("assign", {"account": "new"}))

    def bought(*more: Move, rent: int = 0) -> Row:
        exchanged = (Move("vault a", WRAPPED, SOL), Move("vault b", FART, -UNITS))
        return made(own(None, -SOL - rent), own(FART, UNITS), *exchanged, *more)

    # Rent goes to a friend, and nothing to one who gets a tip elsewhere.
    closed = bought(Move("closed", None, -RENT - 9), Move("friend", None, RENT), Move("tips", None, 9))
    for kind, info in (
        ("closeAccount", {"account": "closed", "destination": "friend", "owner": "friend"}),
        ("transfer", {"source": "closed", "destination": "tips", "amount": "0"}),
    ):
        inner(closed).append(inner(closed)[0] | {"parsed": {"type": kind, "info": info}})
    cases: Cases = {
        "closed for a friend": (closed, BOUGHT),
        "with a seed": (
            by_system(
                bought(rent=RENT),
                ("createAccountWithSeed", {"newAccount": "new", "lamports": RENT}),
                after=RENT,
            ),
            BOUGHT,
        ),
        # It had a lamport before.
        "funded": (by_system(bought(rent=RENT - 1), funded, *assigned, before=1, after=RENT), BOUGHT),
        # Paid back.
        "closed": (
            by_system(
                bought(), ("createAccount", {"newAccount": "new", "lamports": RENT}), funded, *assigned
            ),
            BOUGHT,
        ),
    }
    check(cases)
    extra = [draft.extra for result, _ in cases.values() for draft in decode_for(read(result)).drafts]
    assert extra == [0] * len(cases)


def test_a_pool_with_an_owner_for_each_vault() -> None:
    def bought() -> Row:
        return made(
            *(
                own(None, -SOL),
                own(FART, UNITS),
                Move("vault a", WRAPPED, SOL),
                Move("vault b", FART, -UNITS),
            ),
        )

    flat = bought()
    for row in inner(flat):
        del row["stackHeight"]
    # Sent to one, and received from another one.
    apart = made(own(FART, -UNITS), Move("a", FART, UNITS), own(USDC, 9), Move("b", USDC, -9))
    apart["transaction"]["message"]["instructions"] += inner(apart)
    apart["meta"]["innerInstructions"] = []
    funded = made(
        *(own(None, -SOL), own(FART, UNITS), Move("friend", FART, UNITS // 4)),
        *(pool(WRAPPED, SOL), pool(FART, -UNITS - UNITS // 4)),
    )
    # Lamports for a token account are no tokens; they are a part of the cost.
    rent = {"source": WALLET, "destination": "account 2 of friend", "lamports": UNITS}
    keys = [key["pubkey"] for key in funded["transaction"]["message"]["accountKeys"]]
    funded["meta"]["postBalances"][keys.index("account 2 of friend")] += UNITS
    funded["meta"]["postBalances"][keys.index(WALLET)] -= UNITS
    inner(funded).append(
        {"program": "system", "programId": SYSTEM, "parsed": {"type": "transfer", "info": rent}}
    )
    cases: Cases = {
        "with a fee": (renamed(bought(), "transferChecked", "transferCheckedWithFee"), BOUGHT),
        "of an old node": (flat, BOUGHT),
        "apart": (apart, []),
        "funded": (funded, [(FART, "buy", "1", "1.001")]),
    }
    check(cases)


def test_a_token_gone_and_coin_come_in_no_exchange_is_unclear() -> None:
    def apart(sign: int, coin: int) -> Row:
        result = made(
            *(own(FART, -sign * UNITS), Move("a", FART, sign * UNITS)),
            *(own(None, sign * coin), Move("b", None, -sign * coin)),
        )
        paid = {"source": "b", "destination": WALLET, "lamports": coin}
        if sign < 0:
            paid |= {"source": WALLET, "destination": "b"}
        outer = result["transaction"]["message"]["instructions"]
        outer += [*inner(result), {"programId": SYSTEM, "parsed": {"type": "transfer", "info": paid}}]
        result["meta"]["innerInstructions"] = []
        return result

    cases: Cases = {
        "gone": (apart(1, 9), "unclear"),
        "come": (apart(-1, SOL), "unclear"),
        "gone elsewhere": (
            made(own(FART, -UNITS), pool(FART, UNITS), pool(WRAPPED, -SOL), Move("friend", WRAPPED, SOL)),
            "unclear",
        ),
        # A claim, and a tip.
        "with a tip": (apart(-1, SOL // 50), []),
    }
    check(cases)


def test_staking_and_lending_are_no_trades() -> None:
    def staked(sign: int) -> Row:
        return made(own(None, -sign * SOL), own(BONK, sign * UNITS), Move("reserve", None, sign * SOL))

    def lent(collateral: str, liquidity: str) -> Row:
        paid = (own(BONK, -UNITS), Move(collateral, BONK, UNITS))
        return of_program(made(*paid, own(USDC, 9), Move(liquidity, USDC, -9)), KAMINO)

    cases: Cases = {
        "staked": (staked(1), []),
        "staked, checked": (renamed(staked(1), "mintTo", "mintToChecked"), []),
        "staked on the way": (on_the_way(staked(1), BONK, "initializeAccount3"), []),
        "unstaked": (staked(-1), []),
        "unstaked, checked": (renamed(staked(-1), "burn", "burnChecked"), []),
        "lent": (lent("market", "market"), []),
        "lent by several": (lent("collateral", "liquidity"), []),
    }
    check(cases)


def test_orders_that_others_fill() -> None:
    # With a fee, which is a part of the cost.
    paid = (Move("order", WRAPPED, -SOL - 9), Move("fees", WRAPPED, 9), own(FART, UNITS))
    by_taker = made(*paid, Move("taker", None, SOL), Move("taker", FART, -UNITS), payer="taker")
    by_pool = made(*paid, pool(WRAPPED, SOL), pool(FART, -UNITS), payer="taker")
    filled = [(FART, "buy", "1", "1.000000009")]
    relayed = made(own(FART, -UNITS), own(None, SOL), pool(FART, UNITS), pool(None, -SOL), payer="taker")
    vaults = ("account 3 of pool", "account 4 of pool")
    cases: Cases = {
        "by the taker": (of_program(by_taker, LIMIT_ORDERS, "taker", WALLET, "order"), filled),
        "by a pool": (of_program(by_pool, LIMIT_ORDERS, "taker", WALLET, "order", *vaults), filled),
        # No order.
        "relayed": (of_program(relayed, "the relayer", WALLET, "pool"), SOLD),
    }
    check(cases)


def test_what_has_no_known_form_is_unreadable() -> None:
    cases: Cases = {}
    for place in (-1, len(buy(AT)["meta"]["preBalances"])):
        result = buy(AT)
        result["meta"]["preTokenBalances"][0]["accountIndex"] = place
        cases[f"balance of account {place}"] = (result, "unreadable")
    for parsed in ({"type": 1, "info": {}}, {"type": "transfer", "info": 1}):
        result = buy(AT)
        inner(result)[0]["parsed"] = parsed
        cases[f"{parsed}"] = (result, "unreadable")
    short, empty, plain = buy(AT), buy(AT), made(own(None, -SOL), Move("friend", None, SOL))
    short["meta"]["postBalances"].pop()
    empty["transaction"]["message"]["accountKeys"] = []
    empty["meta"] |= {"preBalances": [], "postBalances": []}
    # Nothing that a token program did.
    plain["meta"] |= {"preTokenBalances": None, "postTokenBalances": None, "innerInstructions": None}
    cases |= {"short": (short, "unreadable"), "empty": (empty, "unreadable"), "plain": (plain, [])}
    check(cases)
