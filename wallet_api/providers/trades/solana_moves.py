"""What a Solana transaction moved, as swaps: from the balances of all its accounts before and after it.

https://solana.com/docs/rpc/json-structures#transactions
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, localcontext
from typing import Any

import msgspec

from wallet_api.ledger import fields
from wallet_api.providers.parsing import UnusableRow, read_address, read_amount, read_decimals
from wallet_api.providers.trades.swaps import DIGITS, Leg, Swap, TrackedWallet

# USDC and USDT: what moved of them is what the swap was worth in dollars.
_STABLE = frozenset(
    ("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB")
)

NO_EXCHANGE = "tokens for the coin, but nobody who exchanged them"
UNCLEAR = "several tokens, and not clear what was given for each"

# By token, None for the coin: how much more there was after the transaction, in the smallest unit.
_Moved = Counter[str | None]


class _Amount(msgspec.Struct):
    amount: str
    decimals: int


class _TokenBalance(msgspec.Struct, rename="camel"):
    account_index: int
    mint: str
    ui_token_amount: _Amount
    owner: str | None = None


class _Meta(msgspec.Struct, rename="camel"):
    fee: int
    pre_balances: list[int]
    post_balances: list[int]
    err: Any = None
    pre_token_balances: list[_TokenBalance] | None = None
    post_token_balances: list[_TokenBalance] | None = None


class _Key(msgspec.Struct):
    pubkey: str


class _Message(msgspec.Struct, rename="camel"):
    account_keys: list[_Key]


class _Body(msgspec.Struct):
    message: _Message


class Transaction(msgspec.Struct, rename="camel"):
    """The parts of a getTransaction result, encoded as `jsonParsed`, that say what was moved."""

    meta: _Meta
    transaction: _Body
    block_time: int | None = None


@dataclass(frozen=True, slots=True)
class _Moves:
    """`exchangers` are all others but those who only got or gave the plain coin, or a single token."""

    own: _Moved
    exchangers: list[_Moved]
    decimals: Mapping[str, int]


def read_swaps(wallet: TrackedWallet, signature: str, created_at: datetime, told: Transaction) -> list[Swap]:
    """The swaps that `wallet` made; none in a transfer, a wrap, or a transaction that failed.

    The reasons are in docs/sync.md, "Solana from a node". Raise UnusableRow if tokens were exchanged, but it is
    unclear for what.
    """
    if told.meta.err is not None:
        return []
    moves = _moves(wallet, told)
    swaps = []
    with localcontext(prec=DIGITS):
        for pair in _pairs(moves):
            bought, sold = (_leg(wallet, moves, side) for side in pair)
            swaps.append(Swap(signature, created_at, "", bought, sold, _usd(bought, sold)))
    return swaps


_Side = tuple[str | None, int]


def _pairs(moves: _Moves) -> list[tuple[_Side, _Side]]:
    """What was bought and what was sold for it, both amounts above 0."""
    tokens = {mint: units for mint, units in moves.own.items() if mint is not None}
    coin = moves.own[None]
    gained = [side for side in tokens.items() if side[1] > 0]
    lost = [(mint, -units) for mint, units in tokens.items() if units < 0]
    if not tokens or not (lost or coin < 0) or not (gained or coin > 0):
        return []
    if len(tokens) == 1:
        # All that left the wallet, tips and a bot's fees as well, is what it paid.
        (mint,) = tokens
        if not any(other[mint] or other[None] * coin < 0 for other in moves.exchangers):
            raise UnusableRow(NO_EXCHANGE)
        return [(gained[0], (None, -coin))] if gained else [((None, coin), lost[0])]
    # By token: the part of the coin for which others exchanged it, and nothing else.
    prices = {mint: price for mint, units in tokens.items() if (price := _price(moves, mint, units))}
    passed_on = not sum(other[None] for other in moves.exchangers)
    if len(gained) == len(lost) == 1 and passed_on:
        price = next(iter(prices.values()), None)
        if price is None:
            return [(gained[0], lost[0])]
        prices = dict.fromkeys(tokens, price)
    if prices.keys() != tokens.keys():
        raise UnusableRow(UNCLEAR)
    bought = [((mint, units), (None, prices[mint])) for mint, units in gained if mint is not None]
    sold = [((None, prices[mint]), (mint, units)) for mint, units in lost if mint is not None]
    return [*bought, *sold]


def _price(moves: _Moves, mint: str, units: int) -> int | None:
    """How much of the coin others gave or took for just these units; None if anything else was in it."""
    parties = [other for other in moves.exchangers if other[mint]]
    coin = sum(party[None] for party in parties)
    clean = all(party.keys() == {mint, None} for party in parties)
    exact = sum(party[mint] for party in parties) == -units
    return abs(coin) if clean and exact and coin * units > 0 else None


def _moves(wallet: TrackedWallet, told: Transaction) -> _Moves:
    """What each owner's accounts gained and lost together, the network's fee left out.

    A token account is its owner's with its lamports too: the rent for a new one, or that of a closed one,
    is then no price, and the wrapped coin is the coin.
    """
    meta = told.meta
    keys = [key.pubkey for key in told.transaction.message.account_keys]
    if not len(keys) == len(meta.pre_balances) == len(meta.post_balances):
        raise UnusableRow("not as many balances as accounts")
    owners = list(keys)
    decimals: dict[str, int] = {}
    wrappers: set[str] = set()
    moved: defaultdict[str, _Moved] = defaultdict(Counter)
    for balances, sign in ((meta.pre_token_balances, -1), (meta.post_token_balances, 1)):
        for balance in balances or ():
            if not 0 <= balance.account_index < len(keys):
                raise UnusableRow("a balance of no account")
            owner = balance.owner or keys[balance.account_index]
            owners[balance.account_index] = owner
            if balance.mint == wallet.chain.wrapped_mint:
                # A pool may keep each of its sides with an owner of its own; nobody tips in wrapped coins.
                wrappers.add(owner)
            else:
                decimals[balance.mint] = read_decimals(balance.ui_token_amount.decimals)
                moved[owner][balance.mint] += sign * read_amount(balance.ui_token_amount.amount)
    for owner, before, after in zip(owners, meta.pre_balances, meta.post_balances, strict=True):
        moved[owner][None] += after - before
    moved[keys[0]][None] += meta.fee
    # An NFT is nothing that the ledger counts.
    unique = {
        mint for mint, places in decimals.items() if not places and abs(moved[wallet.address][mint]) <= 1
    }
    for owner, assets in moved.items():
        moved[owner] = Counter({key: units for key, units in assets.items() if units and key not in unique})
    own = moved.pop(wallet.address, Counter())
    exchangers = [other for owner, other in moved.items() if len(other) > 1 or owner in wrappers]
    return _Moves(own, exchangers, decimals)


def _amount(wallet: TrackedWallet, moves: _Moves, side: _Side) -> Decimal:
    mint, units = side
    places = wallet.chain.native_decimals if mint is None else moves.decimals[mint]
    amount = Decimal(units).scaleb(-places)
    try:
        fields.check_amount("an amount", amount)
    except fields.BadRow as error:
        raise UnusableRow(error.rule) from error
    return amount


def _leg(wallet: TrackedWallet, moves: _Moves, side: _Side) -> Leg:
    mint = None if side[0] is None else read_address(wallet.chain, side[0])
    return Leg(mint, _amount(wallet, moves, side))


def _usd(bought: Leg, sold: Leg) -> Decimal | None:
    return next((leg.amount for leg in (sold, bought) if leg.mint in _STABLE), None)
