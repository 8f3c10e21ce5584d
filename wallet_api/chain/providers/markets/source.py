"""The interface of all sources of market prices, and how their numbers are read."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any, NamedTuple

from wallet_api.base.chains import Chain
from wallet_api.base.forms import MAX_DECIMALS, MAX_WHOLE_DIGITS
from wallet_api.chain.decoding.amounts import UnusableRow
from wallet_api.chain.providers.fetch import Fetch, Fetcher

_NUMBER = re.compile(r"[0-9]{1,120}(?:\.[0-9]{0,120})?(?:[eE][+-]?[0-9]{1,4})?")


class MarketPrice(NamedTuple):
    """The price of a token in USD, and what its market holds in USD, if that is stated."""

    usd: Decimal
    liquidity_usd: Decimal | None


@dataclass(frozen=True, slots=True)
class MarketSource:
    """A provider of prices of tokens. A request is of at most `most_mints` tokens of one of its `chains`.

    `read` requests the prices of tokens from its `url`, and returns them by mint.
    """

    name: str
    chains: Sequence[str]
    most_mints: int
    fetcher: Fetcher
    url: str
    read: Callable[[Fetch, str, Chain, Sequence[str]], Mapping[str, MarketPrice]]

    def prices(self, chain: Chain, mints: Sequence[str]) -> Mapping[str, MarketPrice]:
        """Return the prices of these tokens by mint, without those it lacks. Raise ProviderFault."""
        with self.fetcher.begin(chain.name) as fetch:
            return self.read(fetch, self.url, chain, mints)


def read_price(value: Any) -> Decimal:
    """Return a price above 0, sent as a number or a string. Raise UnusableRow."""
    price = _number(value)
    if not price:
        raise UnusableRow("a price is not above 0")
    return price


def read_liquidity(value: Any) -> Decimal | None:
    """Return what a market holds; None where it is not stated, or is no amount."""
    try:
        return _number(value)
    except UnusableRow:
        return None


def read_object(value: Any) -> Mapping[str, Any]:
    """Return an object of a row; an empty one in place of anything else."""
    return value if isinstance(value, dict) else {}


def _number(value: Any) -> Decimal:
    """Return an amount, rounded to as many decimals as the ledger has. Raise UnusableRow."""
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or _NUMBER.fullmatch(text) is None:
        raise UnusableRow("not a decimal number of at least 0")
    number = Decimal(text)
    if number and number.adjusted() >= MAX_WHOLE_DIGITS:
        raise UnusableRow("a number out of range")
    with localcontext(prec=MAX_WHOLE_DIGITS + MAX_DECIMALS):
        return round(number, MAX_DECIMALS)
