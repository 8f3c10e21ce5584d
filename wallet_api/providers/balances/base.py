"""What every provider of balances is asked, and the answer it gives."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import msgspec

from wallet_api.chains import Chain
from wallet_api.providers.faults import Malformed, TooLarge
from wallet_api.providers.fetch import Fetch, Fetcher
from wallet_api.providers.parsing import UnusableRow, read_amount, read_row

NATIVE = "native"
MAX_PAGES = 100


@dataclass(frozen=True, slots=True)
class Wallet:
    """The wallet to read. `known_tokens` asks our own ledger which tokens it has traded."""

    chain: Chain
    address: str
    known_tokens: Callable[[], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Token:
    """The balance of one token: `amount` in its smallest unit, `10 ** decimals` of which make a whole one."""

    address: str
    name: str
    symbol: str
    amount: int
    decimals: int
    verified: bool = False
    spam: bool = False


@dataclass(frozen=True, slots=True)
class Balances:
    """All that a provider knows of one wallet; `native` in its smallest unit."""

    native: int
    tokens: list[Token]


class Provider(Protocol):
    """One outside service, for one chain."""

    fetcher: Fetcher

    def balances(self, wallet: Wallet, fetch: Fetch) -> Balances:
        """Everything the wallet holds now, or a ProviderFault: never a part of it."""


# What a provider's module makes of one row: a token, or nothing to show.
ReadRow = Callable[[dict[str, Any]], Token | None]


def read_native(value: Any) -> int:
    """The native balance, without which there is no answer at all. Raises Malformed."""
    try:
        return read_amount(value)
    except UnusableRow as error:
        raise Malformed("the native balance is not a whole number") from error


class Pages:
    """Guards a paged read: every cursor once, and not without end."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def turn(self, cursor: str | None) -> bool:
        """Whether there is a next page, under `cursor`. Raises Malformed for one seen before, or TooLarge."""
        if not cursor:
            return False
        if cursor in self._seen:
            raise Malformed("a cursor came twice")
        self._seen.add(cursor)
        if len(self._seen) >= MAX_PAGES:
            raise TooLarge(f"over {MAX_PAGES} pages")
        return True


def understand(rows: Iterable[msgspec.Raw], read: ReadRow, fetch: Fetch) -> list[Token]:
    """The tokens of those rows that `read` understands; the others are counted in the fetch's log line."""
    tokens = []
    for row in rows:
        try:
            token = read(read_row(row))
        except UnusableRow:
            fetch.skipped += 1
        else:
            if token is not None:
                tokens.append(token)
    return tokens


def sum_by_address(tokens: Iterable[Token]) -> list[Token]:
    """One row a token, of wallets that hold some tokens in several accounts."""
    sums: dict[str, Token] = {}
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
