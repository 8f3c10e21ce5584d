"""The interface of all providers of balances, and helpers that several of them use."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from wallet_api.base.chains import Chain
from wallet_api.chain.decoding.amounts import UnusableRow, read_address, read_amount, read_decimals
from wallet_api.chain.providers.faults import Malformed
from wallet_api.chain.providers.fetch import Fetch, Fetcher
from wallet_api.chain.providers.parsing import clean, read_flag

NATIVE = "native"
MAX_PAGES = 100


KnownTokens = Callable[[], Sequence[str]]
"""Returns the tokens that a wallet has traded, from the ledger."""


@dataclass(frozen=True, slots=True)
class HeldToken:
    """The balance of a token: `amount` in its smallest unit, of which `10 ** decimals` make one token."""

    address: str
    name: str
    symbol: str
    amount: int
    decimals: int
    verified: bool = False
    spam: bool = False


@dataclass(frozen=True, slots=True)
class Balances:
    """All balances of a wallet; `native` in its smallest unit.

    `left_out` counts the rows of the provider that could not be read.
    """

    native: int
    tokens: list[HeldToken]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class BalanceProvider:
    """A provider of balances, for one chain.

    `balances` returns all current ones of the wallet of an address, never a part. Raises ProviderFault.
    """

    fetcher: Fetcher
    balances: Callable[[str, KnownTokens, Fetch], Balances]


def read_native(value: Any) -> int:
    """Return the native balance. Raise Malformed, since balances without it are incomplete."""
    try:
        return read_amount(value)
    except UnusableRow as error:
        raise Malformed("the native balance is not a whole number") from error


def read_held(chain: Chain, row: Mapping[str, Any], names: Sequence[str]) -> HeldToken | None:
    """Return the token of a row; None without a balance. Raise UnusableRow.

    `names` are those of its amount, its address, and its flags of a verified contract and of spam.
    """
    amount, address, verified, spam = map(row.get, names)
    units = read_amount(amount)
    # Without a balance, missing decimals hide nothing.
    if not units:
        return None
    return HeldToken(
        address=read_address(chain, address),
        name=clean(row.get("name")),
        symbol=clean(row.get("symbol")),
        amount=units,
        decimals=read_decimals(row.get("decimals")),
        verified=read_flag(verified),
        spam=read_flag(spam),
    )


def sum_by_address(tokens: Iterable[HeldToken]) -> list[HeldToken]:
    """Return one row for each token of a wallet that holds some tokens in several accounts."""
    sums: dict[str, HeldToken] = {}
    for token in tokens:
        known = sums.setdefault(token.address, token)
        if known is not token:
            sums[token.address] = replace(
                known,
                amount=known.amount + token.amount,
                name=known.name or token.name,
                symbol=known.symbol or token.symbol,
                verified=known.verified and token.verified,
                spam=known.spam or token.spam,
            )
    return list(sums.values())
