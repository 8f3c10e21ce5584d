"""The swaps of a Solana transaction, from the balances of all its accounts before and after it.

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

# USDC and USDT: their amount is the dollar value of a swap.
_STABLE = frozenset(
    ("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB")
)

NO_EXCHANGE = "no other account exchanged the token"
UNCLEAR = "several tokens whose separate prices are unclear"

# Balance changes in the smallest unit by token; None is the native coin.
_Changes = Counter[str | None]


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
    """The parts of a getTransaction result, encoded as `jsonParsed`, that contain balances."""

    meta: _Meta
    transaction: _Body
    block_time: int | None = None


@dataclass(frozen=True, slots=True)
class _Moves:
    """`exchangers` are all other owners, except those with only plain native coin or a single token."""

    own: _Changes
    exchangers: list[_Changes]
    decimals: Mapping[str, int]


def read_swaps(
    wallet: TrackedWallet, signature: str, created_at: datetime, transaction: Transaction
) -> list[Swap]:
    """Return the swaps of `wallet`; none for a transfer, a wrap, or a failed transaction.

    The reasons are in docs/sync.md, "Solana from a node". Raise UnusableRow if it is unclear for what the
    tokens were exchanged.
    """
    if transaction.meta.err is not None:
        return []
    moves = _moves(wallet, transaction)
    swaps = []
    with localcontext(prec=DIGITS):
        for pair in _pairs(moves):
            bought, sold = (_leg(wallet, moves, side) for side in pair)
            swaps.append(Swap(signature, created_at, "", bought, sold, _usd(bought, sold)))
    return swaps


_Side = tuple[str | None, int]


def _pairs(moves: _Moves) -> list[tuple[_Side, _Side]]:
    """Return what was bought, and what was sold for it, both amounts above 0."""
    tokens = {mint: units for mint, units in moves.own.items() if mint is not None}
    coin = moves.own[None]
    gained = [side for side in tokens.items() if side[1] > 0]
    lost = [(mint, -units) for mint, units in tokens.items() if units < 0]
    if not tokens or not (lost or coin < 0) or not (gained or coin > 0):
        return []
    if len(tokens) == 1:
        # Everything that left the wallet is the price, with tips and a bot's fees.
        (mint,) = tokens
        if not any(other[mint] or other[None] * coin < 0 for other in moves.exchangers):
            raise UnusableRow(NO_EXCHANGE)
        return [(gained[0], (None, -coin))] if gained else [((None, coin), lost[0])]
    # By token: the native amount for which others exchanged exactly this token.
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
    """Return the native amount that others exchanged for exactly these units and no other token, or None."""
    parties = [other for other in moves.exchangers if other[mint]]
    coin = sum(party[None] for party in parties)
    clean = all(party.keys() == {mint, None} for party in parties)
    exact = sum(party[mint] for party in parties) == -units
    return abs(coin) if clean and exact and coin * units > 0 else None


def _moves(wallet: TrackedWallet, transaction: Transaction) -> _Moves:
    """Return the balance changes of each owner's accounts, without the network fee.

    The lamports of a token account count as its owner's. So the rent of a new or closed account is no
    price, and the wrapped coin counts as the native coin.
    """
    meta = transaction.meta
    keys = [key.pubkey for key in transaction.transaction.message.account_keys]
    if not len(keys) == len(meta.pre_balances) == len(meta.post_balances):
        raise UnusableRow("not as many balances as accounts")
    owners = list(keys)
    decimals: dict[str, int] = {}
    wrappers: set[str] = set()
    moved: defaultdict[str, _Changes] = defaultdict(Counter)
    for balances, sign in ((meta.pre_token_balances, -1), (meta.post_token_balances, 1)):
        for balance in balances or ():
            if not 0 <= balance.account_index < len(keys):
                raise UnusableRow("a balance of no account")
            owner = balance.owner or keys[balance.account_index]
            owners[balance.account_index] = owner
            if balance.mint == wallet.chain.wrapped_mint:
                # A pool may have a separate owner for each side. Tips are never in the wrapped coin.
                wrappers.add(owner)
            else:
                decimals[balance.mint] = read_decimals(balance.ui_token_amount.decimals)
                moved[owner][balance.mint] += sign * read_amount(balance.ui_token_amount.amount)
    for owner, before, after in zip(owners, meta.pre_balances, meta.post_balances, strict=True):
        moved[owner][None] += after - before
    moved[keys[0]][None] += meta.fee
    # The ledger has no NFTs.
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
