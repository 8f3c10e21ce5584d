"""The walk over the trades of one position with exact fractions, as a reference for tests.

Written from the definitions in docs/figures.md, without code of the service.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

Row = dict[str, Any]
Wallet = tuple[str, str]
Usd = Fraction | None


@dataclass(frozen=True)
class Trade:
    """One row of a trades file, and its stored USD value."""

    wallet: Wallet
    mint: str
    signature: str
    is_sell: bool
    index: int
    at: datetime
    name: str
    amount: Fraction
    value: Fraction
    given_usd: Usd
    usd: Usd
    exchanged: Fraction | None = None
    # Its place in the chain: a block, and the place of its transaction in that.
    block: int | None = None
    block_index: int | None = None

    @property
    def fees(self) -> Fraction | None:
        """What it cost beside what was exchanged; None if that is unknown, or makes no price."""
        if not self.exchanged:
            return None
        beside = self.exchanged - self.value if self.is_sell else self.value - self.exchanged
        return max(beside, Fraction(0))

    @property
    def identity(self) -> tuple[Any, ...]:
        """The identity: two rows with the same one are one trade."""
        return (self.wallet, self.signature, self.mint, self.is_sell, self.index)

    @property
    def order(self) -> tuple[Any, ...]:
        """The sort key among the trades of a wallet. Those without a place in the chain come first."""
        place = (
            -1 if self.block is None else self.block,
            -1 if self.block_index is None else self.block_index,
        )
        return (self.at, *place, self.is_sell, self.signature.encode(), self.index, self.mint.encode())

    @property
    def place(self) -> Row:
        """What rows show of its place in the chain, which no sync reads: all blocks are final."""
        shown = {"block": self.block, "block_index": self.block_index}
        return {name: number for name, number in shown.items() if number is not None} | {"final": True}

    @property
    def second(self) -> datetime:
        """The time as it is shown. The part of its second is of the place of a trade."""
        return self.at.replace(microsecond=0)

    @property
    def traded(self) -> Fraction:
        """The value that makes the price of the token."""
        return self.value if self.exchanged is None else self.exchanged

    def derives_the_same_as(self, other: "Trade") -> bool:
        """Return whether both have no given USD value, and the same value and second to derive one from."""
        facts = ((t.given_usd, t.value, t.second) for t in (self, other))
        return self.given_usd is None and next(facts) == next(facts)


@dataclass(frozen=True)
class Sale:
    """A covered sell: its realized profit in native currency and, if known, in USD."""

    trade: Trade
    realized: Fraction
    cost: Fraction
    held_seconds: Fraction
    realized_usd: Usd

    @property
    def at(self) -> datetime:
        return self.trade.at


@dataclass(frozen=True)
class Uncovered:
    """What a sell sold beyond what was held: its part of the value, and the tokens."""

    at: datetime
    value: Fraction
    amount: Fraction


@dataclass
class Position:
    """The position of a wallet in one token after all of its trades."""

    trades: list[Trade]
    sales: list[Sale]
    uncovered: list[Uncovered]
    # Quantity and peak after each of the trades.
    holdings: list[tuple[Fraction, Fraction]]
    quantity: Fraction
    peak: Fraction
    held_cost: Fraction
    held_cost_usd: Usd

    @property
    def realized(self) -> Fraction:
        return sum((sale.realized for sale in self.sales), Fraction(0))

    @property
    def cost(self) -> Fraction:
        return sum((sale.cost for sale in self.sales), Fraction(0))

    def sale_of(self, trade: Trade) -> Sale | None:
        """Return what one of the trades made, None if it is no covered sell."""
        return next((sale for sale in self.sales if sale.trade is trade), None)

    @property
    def still_holding(self) -> bool:
        return self.quantity > 0 and self.quantity >= self.peak / 100

    @property
    def closed(self) -> bool:
        return bool(self.sales) and not self.still_holding

    @property
    def name(self) -> str:
        return next((trade.name for trade in reversed(self.trades) if trade.name), "")

    def total(self, *, sells: bool) -> Fraction:
        return sum((trade.value for trade in self.trades if trade.is_sell is sells), Fraction(0))

    def count(self, *, sells: bool) -> int:
        return sum(trade.is_sell is sells for trade in self.trades)


def walk(trades: list[Trade]) -> Position:
    """Return the position after these trades, which are in order."""
    quantity = cost = acquired = peak = Fraction(0)
    cost_usd: Usd = Fraction(0)
    sales = []
    uncovered = []
    holdings = []
    for trade in trades:
        at = _seconds(trade.at)
        if not trade.is_sell:
            # A new entry after an exit begins a new bag.
            was_held = quantity > 0 and quantity >= peak / 100
            acquired = (acquired * quantity + at * trade.amount) / (quantity + trade.amount)
            quantity += trade.amount
            cost += trade.value
            cost_usd = None if cost_usd is None or trade.usd is None else cost_usd + trade.usd
            peak = max(peak, quantity) if was_held else quantity
            holdings.append((quantity, peak))
            continue
        beyond = max(trade.amount - quantity, Fraction(0))
        uncovered.append(Uncovered(trade.at, trade.value * beyond / trade.amount, beyond))
        if quantity == 0:
            holdings.append((quantity, peak))
            continue
        covered = min(trade.amount, quantity)
        part = covered / quantity
        profit_usd = None
        if cost_usd is not None and trade.usd is not None:
            profit_usd = trade.usd * covered / trade.amount - cost_usd * part
        share = covered / trade.amount
        sales.append(
            Sale(
                trade=trade,
                realized=trade.value * share - cost * part,
                cost=cost * part,
                held_seconds=at - acquired,
                realized_usd=profit_usd,
            )
        )
        cost -= cost * part
        quantity -= covered
        holdings.append((quantity, peak))
        cost_usd = Fraction(0) if quantity == 0 else None if cost_usd is None else cost_usd - cost_usd * part
    return Position(trades, sales, uncovered, holdings, quantity, peak, cost, cost_usd)


def trade_of(row: Row, earlier: Callable[[tuple[Any, ...]], Trade | None]) -> Trade:
    """Return the trade of a row, without a USD value. Absent fields are those of the `earlier` trade."""
    usd = row.get("value_usd")
    exchanged = row.get("exchanged_value")
    trade = Trade(
        wallet=(row["blockchain"], folded(row["blockchain"], row["wallet_address"])),
        mint=folded(row["blockchain"], row["mint"]),
        signature=row["tx_signature"],
        is_sell=row["transaction_type"] == "sell",
        index=int(row.get("event_index") or 0),
        at=time_of(row["created_at"]),
        name=row.get("token_name") or "",
        amount=Fraction(str(row["token_amount"])),
        value=Fraction(str(row["value"])),
        given_usd=None if usd in (None, "") else Fraction(str(usd)),
        exchanged=None if exchanged in (None, "") else Fraction(str(exchanged)),
        usd=None,
        block=whole(row.get("block")),
        block_index=whole(row.get("block_index")),
    )
    known = earlier(trade.identity)
    if known is not None and "token_name" not in row:
        trade = replace(trade, name=known.name)
    if known is not None and "value_usd" not in row:
        trade = replace(trade, given_usd=known.given_usd)
    if known is not None and "exchanged_value" not in row:
        trade = replace(trade, exchanged=known.exchanged)
    return trade if known is None else _placed(trade, known)


def _placed(trade: Trade, known: Trade) -> Trade:
    """Return a trade with what an earlier version of it stated of its place, and it does not."""
    if trade.at == trade.second == known.second:
        trade = replace(trade, at=known.at)
    if trade.block is None:
        trade = replace(trade, block=known.block)
    if trade.block == known.block and trade.block_index is None:
        trade = replace(trade, block_index=known.block_index)
    return trade


def whole(text: Any) -> int | None:
    """Return a whole number of a file, which may be written as 9.0; None for an empty one."""
    return None if text in (None, "") else int(Decimal(str(text)))


class File:
    """The rows of one file: the later of two with one identity that state different values is rejected."""

    def __init__(self) -> None:
        self._stated: dict[tuple[Any, ...], Row] = {}

    def accepts(self, identity: tuple[Any, ...], stated: Row) -> bool:
        """Return whether a row states nothing else than the accepted ones before it."""
        known = self._stated.setdefault(identity, {})
        if any(known.get(name, value) != value for name, value in stated.items()):
            return False
        known |= stated
        return True


def stated_of(trade: Trade, row: Row) -> Row:
    """Return what a row states of its trade, beside its identity."""
    optional = {"token_name": trade.name, "value_usd": trade.given_usd, "exchanged_value": trade.exchanged}
    given = {name: value for name, value in optional.items() if name in row}
    # What is empty states nothing of a place; nor does a whole second of its part.
    places = {name: whole(row.get(name)) for name in ("block", "block_index")}
    given |= {name: place for name, place in places.items() if place is not None}
    at = time_of(row["created_at"])
    if at.microsecond:
        given["part_of_second"] = at.microsecond
    return {"created_at": trade.second, "token_amount": trade.amount, "value": trade.value, **given}


def folded(blockchain: str, text: str) -> str:
    """Return an address or mint in the form for comparisons: lower case, except on Solana."""
    return text if blockchain == "solana" else text.lower()


def time_of(text: str) -> datetime:
    """Return the time of a text."""
    return datetime.fromisoformat(text)


def shown(figure: Fraction, places: int) -> Decimal:
    """Rounded half away from zero."""
    numerator, denominator = figure.as_integer_ratio()
    units = (2 * abs(numerator) * 10**places + denominator) // (2 * denominator)
    return Decimal(f"{'-' if figure < 0 else ''}{units}E-{places}")


def shown_price(price: Fraction) -> Decimal:
    """Return a price with at least 18 decimals and 12 significant digits, rounded half away from zero."""
    places = 18
    while price and price * 10 ** (places - 11) < 1:
        places += 1
    return shown(price, places)


def percentage(part: Fraction, whole: Fraction) -> Decimal:
    """Return a part in percent as it is shown; 0 of nothing."""
    return shown(100 * part / whole if whole else Fraction(0), 4)


def shown_time(at: datetime) -> str:
    """Return a time as it is shown."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def total(values: list[Usd]) -> Usd:
    """Return the sum of the known values; None if there are values, but none is known."""
    known = [value for value in values if value is not None]
    return None if values and not known else sum(known, Fraction(0))


def _seconds(at: datetime) -> Fraction:
    return Fraction((at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1), 1_000_000)
