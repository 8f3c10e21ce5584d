"""What a copier of a wallet would have got, naively: each token walked by itself, by the copier's own prices.

Written from the definitions in docs/figures.md. Shares no code with the service.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from typing import NamedTuple

from tests.naive.prices import DAY, Priced
from tests.naive.walk import Position, Row, Trade, shown, shown_price, shown_time

# How long a buy waits for a price.
PATIENCE = timedelta(seconds=600)
NOTHING = Fraction(0)

# The first price of a token in a span of others than the wallet, and the price of a token now.
FirstPrice = Callable[[str, datetime, datetime], Priced | None]
PriceNow = Callable[[str], Priced | None]


class Terms(NamedTuple):
    """How long after the wallet, for which fee in percent, for how much a buy, by default the wallet's."""

    delay: timedelta = timedelta(seconds=5)
    fee: Fraction = Fraction(1)
    size: Fraction | None = None


AS_THE_WALLET = Terms(timedelta(0), NOTHING)


@dataclass
class Step:
    """What the copier did at a trade of the wallet; `realized` of what it sold, or could not."""

    trade: Trade
    priced: Priced | None = None
    value: Fraction = NOTHING
    tokens: Fraction = NOTHING
    fee: Fraction = NOTHING
    realized: Fraction | None = None
    is_stuck: bool = False


@dataclass
class Copy:
    """The steps of the copier in one token, and what is left, waiting sells among it."""

    mint: str
    steps: list[Step] = field(default_factory=list)
    tokens: Fraction = NOTHING
    cost: Fraction = NOTHING


class Copier:
    """Copies what a wallet did in (`since`, `until`]."""

    def __init__(self, now: datetime, since: datetime, until: datetime, first_price: FirstPrice) -> None:
        self.now, self.since, self.until = now, since, until
        self.first_price = first_price

    def copied(self, position: Position, terms: Terms, buys: Iterable[Trade] | None = None) -> Copy:
        """Return the copy of a position, of these buys alone or of all that can be followed."""
        copy = Copy(position.trades[0].mint)
        # Of the wallet, of the copier, and what the copier waits to sell.
        held = tokens = cost = NOTHING
        for trade, (after, _) in zip(position.trades, position.holdings, strict=True):
            before, held = held, after
            if not self.since < trade.at <= self.until:
                continue
            step = Step(trade)
            copy.steps.append(step)
            if not trade.is_sell:
                if buys is None or trade in buys:
                    self._buy(step, terms)
                tokens += step.tokens
                cost += step.value
                continue
            share = (before - after) / before if before else NOTHING
            sold, cost_of_sold = tokens * share, cost * share
            tokens, cost = tokens - sold, cost - cost_of_sold
            if sold or cost_of_sold:
                self._sell(step, terms, sold, cost_of_sold)
            if step.realized is None:
                copy.tokens += sold
                copy.cost += cost_of_sold
        copy.tokens += tokens
        copy.cost += cost
        return copy

    def _buy(self, step: Step, terms: Terms) -> None:
        trade, size = step.trade, terms.size
        priced = self._price(trade, terms, PATIENCE)
        is_own = not terms.delay and size is None
        if priced is None or not (priced.value or is_own):
            return
        step.priced = priced
        step.value = trade.value if size is None else size
        step.fee = step.value * terms.fee / 100
        kept = 1 - terms.fee / 100
        step.tokens = trade.amount * kept if is_own else step.value * kept / priced.value

    def _sell(self, step: Step, terms: Terms, sold: Fraction, cost: Fraction) -> None:
        step.priced = self._price(step.trade, terms, DAY)
        step.is_stuck = step.priced is None and step.trade.at + terms.delay + DAY <= self.now
        if step.priced is None and not step.is_stuck:
            return
        proceeds = NOTHING if step.priced is None else sold * step.priced.value
        step.tokens, step.fee = sold, proceeds * terms.fee / 100
        step.value = proceeds - step.fee
        step.realized = step.value - cost

    def _price(self, trade: Trade, terms: Terms, patience: timedelta) -> Priced | None:
        if not terms.delay:
            return Priced(trade.value / trade.amount, trade.at)
        start = trade.at + terms.delay
        return self.first_price(trade.mint, start, min(start + patience, self.now))


def copy_of(copier: Copier, positions: Iterable[Position], terms: Terms, price_now: PriceNow) -> Row:
    """Return the figures of a copy of these positions, and its steps."""
    every = [position for position in positions if position.trades]
    copies = [copier.copied(position, terms) for position in every]
    steps = sorted((step for copy in copies for step in copy.steps), key=lambda step: step.trade.order)
    buys = [step for step in steps if not step.trade.is_sell]
    followed = [step.trade for step in buys if step.priced]
    of_wallet = [copier.copied(position, AS_THE_WALLET, followed) for position in every]
    of_all = [copier.copied(position, AS_THE_WALLET) for position in every]
    missed = [step.trade.value for step in buys if not step.priced]
    gain, unpriced = _left(copies, price_now)
    return {
        "invested": shown(sum((step.value for step in buys), NOTHING), 9),
        "realized_pnl": shown(sum((step.realized or NOTHING for step in steps), NOTHING), 9),
        "fees": shown(sum((step.fee for step in steps), NOTHING), 9),
        "unrealized_pnl": shown(gain, 9),
        "unpriced_cost": shown(unpriced, 9),
        "return_percent": _return(copies, price_now),
        "wallet_return_percent": _return(of_wallet, price_now),
        "wallet_return_percent_all": _return(of_all, price_now),
        "followed": sum(step.priced is not None for step in steps),
        "not_followed": len(missed),
        "not_followed_value": shown(sum(missed, NOTHING), 9),
        "stuck": sum(step.is_stuck for step in steps),
        "steps": [_shown(step) for step in steps],
    }


def _left(copies: list[Copy], price_now: PriceNow) -> tuple[Fraction, Fraction]:
    """Return what is gained on what is left, and the cost of what has no price."""
    gain = unpriced = NOTHING
    for copy in copies:
        priced = price_now(copy.mint) if copy.tokens or copy.cost else None
        if priced is None:
            unpriced += copy.cost
        else:
            gain += copy.tokens * priced.value - copy.cost
    return gain, unpriced


def _return(copies: list[Copy], price_now: PriceNow) -> object:
    invested = sum((step.value for copy in copies for step in copy.steps if not step.trade.is_sell), NOTHING)
    if not invested:
        return None
    realized = sum((step.realized or NOTHING for copy in copies for step in copy.steps), NOTHING)
    return shown(100 * (realized + _left(copies, price_now)[0]) / invested, 4)


def _shown(step: Step) -> Row:
    trade, priced = step.trade, step.priced
    return {
        "created_at": shown_time(trade.at),
        "mint": trade.mint,
        "transaction_type": "sell" if trade.is_sell else "buy",
        "tx_signature": trade.signature,
        "event_index": trade.index,
        "followed": priced is not None,
        "price": None if priced is None else shown_price(priced.value),
        "price_at": None if priced is None else shown_time(priced.at),
        "source": None if priced is None else priced.source,
        "value": shown(step.value, 9),
        "token_amount": shown(step.tokens, 18),
        "fee": shown(step.fee, 9),
        **({} if step.realized is None else {"realized_pnl": shown(step.realized, 9)}),
    }
