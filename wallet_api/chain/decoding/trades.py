"""Convert swaps to trades: one for each transaction, token and side, valued in the native coin.

The reasons are in docs/sync.md, "What a trade is".
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Self

from wallet_api.base.chains import Chain
from wallet_api.base.forms import MAX_BLOCK, MAX_EVENT_INDEX
from wallet_api.chain.decoding.swaps import DIGITS, NO_TRADE, LeftOut, Leg, Reason, Swap, TrackedWallet

_ZERO = Decimal(0)

_Rates = dict[str, tuple[Decimal, Decimal]]

NO_VALUE = "a swap of two tokens of unknown value"


@dataclass(slots=True)
class Draft:
    """A trade whose value is `native`, plus `usd_to_convert` at a native price that is not known yet.

    `extra` is the part of the value that the other side of the exchange did not move: tips and fees, negative
    if they were taken off the proceeds. It is 0 if the other side moved less than half of the value of a
    purchase, or more than all of it, and likewise of a sale less than its value, or more than twice of it:
    fees are no such part, and what others moved makes no price then. `makes_price` is whether it makes one at
    all: not if the transaction both bought and sold the token. `block` (a slot) and `block_index` are its
    place in the chain, where the source states it.
    """

    wallet: TrackedWallet
    tx_signature: str
    mint: str
    is_sell: bool
    created_at: datetime
    name: str | None = None
    token_amount: Decimal = _ZERO
    native: Decimal = _ZERO
    extra: Decimal = _ZERO
    usd_to_convert: Decimal = _ZERO
    value_usd: Decimal | None = _ZERO
    makes_price: bool = True
    block: int | None = None
    block_index: int | None = None

    @property
    def place(self) -> dict[str, int]:
        """Return its place in the chain as rows of a file state it; what the ledger does not take is none."""
        place: dict[str, int] = {}
        stated = (("block", self.block, MAX_BLOCK), ("block_index", self.block_index, MAX_EVENT_INDEX))
        for name, number, most in stated:
            if number is None or not 0 <= number <= most:
                break
            place[name] = number
        return place

    @property
    def is_unvalued(self) -> bool:
        """Return whether nothing is known of its value."""
        return self.native == 0 and self.usd_to_convert == 0 and self.value_usd is None

    @property
    def is_of_dollars(self) -> bool:
        """Return whether the whole value is converted from its dollars."""
        return self.native == 0 and self.usd_to_convert > 0 and self.value_usd == self.usd_to_convert

    def exchanged(self, value: Decimal) -> Decimal | None:
        """Return what the other side exchanged for this value: 0 if it makes no price, None for the value."""
        if not self.makes_price:
            return _ZERO
        return value - self.extra if self.extra else None

    def value(self, price: Decimal) -> Decimal:
        """Return the whole value in the native coin at `price` dollars, rounded to its smallest unit."""
        with localcontext(prec=DIGITS):
            return self.native + _to_unit(self.wallet.chain, self.usd_to_convert / price)


@dataclass(frozen=True, slots=True)
class Decoded:
    """The trades of a wallet in a transaction, or `why` there is none.

    `why` is NO_TRADE, LIQUIDITY or UNSIGNED, which are counted, or a Reason for which the transaction is
    kept, with a `detail`, a fixed text. `is_signed` is whether the wallet consented to it or to a part of it.
    `from_logs` is true if the native value comes from logs. `swaps` is how many swaps the trades are made of.
    `unproven`, of UNSIGNED alone, are the trades that it would be if the wallet had agreed to what moved.
    """

    drafts: Sequence[Draft] = ()
    why: str | None = None
    detail: str = ""
    is_signed: bool = True
    from_logs: bool = False
    swaps: int = 0
    unproven: Sequence[Draft] = ()

    @property
    def is_kept(self) -> bool:
        """Return whether the transaction is kept, to be read again."""
        return isinstance(self.why, Reason)

    @classmethod
    def from_swaps(cls, swaps: Sequence[Swap], *, from_logs: bool = False) -> Self:
        """Return the trades of the swaps; NO_VALUE if one of two tokens has no value, NO_TRADE for none."""
        drafted = draft_trades(swaps)
        if drafted.left_out:
            return cls(why=Reason.NO_VALUE, detail=NO_VALUE)
        if not drafted.drafts:
            return cls(why=NO_TRADE)
        return cls(drafted.drafts, from_logs=from_logs, swaps=len(swaps))


NONE = Decoded(why=NO_TRADE)


def unclear(detail: str) -> Decoded:
    """Return that it cannot be determined who exchanged what for what."""
    return Decoded(why=Reason.UNCLEAR, detail=detail)


@dataclass(slots=True)
class Drafted:
    """The trades of some swaps, the number of wraps, and the swaps without a value."""

    drafts: list[Draft] = field(default_factory=list)
    wraps: int = 0
    left_out: list[LeftOut] = field(default_factory=list)


def draft_trades(swaps: Iterable[Swap]) -> Drafted:
    """Return the trades of the swaps. Their order does not matter, nor whether some are repeated."""
    transactions: dict[tuple[TrackedWallet, str], dict[Swap, None]] = {}
    for swap in swaps:
        transactions.setdefault((swap.wallet, swap.tx_signature), {})[swap] = None
    drafted = Drafted()
    with localcontext(prec=DIGITS):
        for swaps_of_one in transactions.values():
            _draft_transaction(swaps_of_one, drafted)
    return drafted


def _draft_transaction(swaps: Iterable[Swap], drafted: Drafted) -> None:
    drafts: dict[tuple[str, bool], Draft] = {}
    # The rates within this transaction: an amount of the token, and its value in the native coin.
    rates: _Rates = {}
    between_tokens = []
    for swap in swaps:
        if swap.bought.mint is None and swap.sold.mint is None:
            drafted.wraps += 1
        elif swap.bought.mint is None or swap.sold.mint is None:
            native, token = (swap.bought, swap.sold) if swap.bought.mint is None else (swap.sold, swap.bought)
            _add_rate(rates, token, native.amount)
            _add(drafts, swap, native.amount)
        else:
            between_tokens.append(swap)
    for swap, value in _valued(between_tokens, rates):
        if value is not None or swap.usd is not None:
            _add(drafts, swap, value)
        else:
            drafted.left_out.append(
                LeftOut(swap.wallet, swap.tx_signature, Reason.NO_VALUE, NO_VALUE, swap.created_at)
            )
    for (mint, is_sell), draft in drafts.items():
        draft.makes_price &= (mint, not is_sell) not in drafts
        fees = -draft.extra if draft.is_sell else draft.extra
        if not 0 <= fees <= draft.native / (1 if draft.is_sell else 2):
            draft.extra = _ZERO
    drafted.drafts += drafts.values()


def _valued(swaps: list[Swap], rates: _Rates) -> list[tuple[Swap, Decimal | None]]:
    """Return the swaps of two tokens with their native values, None if no hops lead to a known rate."""
    valued: list[tuple[Swap, Decimal | None]] = []
    while found := [(swap, value) for swap in swaps if (value := _value(swap, rates)) is not None]:
        # All swaps with a rate from before are found already.
        rates = {}
        for swap, value in found:
            for leg in (swap.bought, swap.sold):
                _add_rate(rates, leg, value)
        valued += found
        swaps = [swap for swap in swaps if swap not in {swap for swap, _ in found}]
    return valued + [(swap, None) for swap in swaps]


def _value(swap: Swap, rates: _Rates) -> Decimal | None:
    for leg in (swap.sold, swap.bought):
        if leg.mint in rates:
            amount, native = rates[leg.mint]
            return _to_unit(swap.wallet.chain, leg.amount * native / amount)
    return None


def _add_rate(rates: _Rates, token: Leg, native: Decimal) -> None:
    assert token.mint is not None
    amounts = rates.get(token.mint, (_ZERO, _ZERO))
    rates[token.mint] = (amounts[0] + token.amount, amounts[1] + native)


def _add(drafts: dict[tuple[str, bool], Draft], swap: Swap, native: Decimal | None) -> None:
    for leg, is_sell in ((swap.sold, True), (swap.bought, False)):
        if leg.mint is None:
            continue
        new = Draft(swap.wallet, swap.tx_signature, leg.mint, is_sell, swap.created_at)
        draft = drafts.setdefault((leg.mint, is_sell), new)
        draft.created_at = min(draft.created_at, swap.created_at)
        draft.block, draft.block_index = swap.block, swap.block_index
        draft.name = draft.name or leg.name
        draft.token_amount += leg.amount
        draft.makes_price &= swap.makes_price
        if native is not None:
            draft.native += native
            draft.extra += native - (native if swap.exchanged is None else swap.exchanged)
        elif swap.usd is not None:
            draft.usd_to_convert += swap.usd
        if draft.value_usd is not None:
            # A sum without a part of the trade would be too small.
            draft.value_usd = None if swap.usd is None else draft.value_usd + swap.usd


def _to_unit(chain: Chain, amount: Decimal) -> Decimal:
    return amount.quantize(Decimal(1).scaleb(-chain.native_decimals), ROUND_HALF_UP)
