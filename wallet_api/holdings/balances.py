"""What a wallet holds, as values: exact amounts and harmless texts."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from wallet_api.chains import Chain

NATIVE = "native"
MAX_TEXT = 128
MAX_DECIMALS = 255

# uint256 has at most 78 digits.
_AMOUNT = re.compile(r"[0-9]{1,78}")
_DECIMALS = re.compile(r"[0-9]{1,3}")
# Invisible, but part of how some scripts and emoji are written.
_JOINERS = "\u200c\u200d"


class BadRow(ValueError):
    """A provider's row that cannot be understood; the others still can."""


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


def read_amount(value: Any) -> int:
    """The count of smallest units in `value`, decimal digits or a whole number. Raises BadRow."""
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or _AMOUNT.fullmatch(text) is None:
        raise BadRow("an amount is not a whole number")
    return int(text)


def read_decimals(value: Any) -> int:
    """The decimals of a token, 0 to 255, sent as a number or a string. Raises BadRow, also if unknown."""
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or _DECIMALS.fullmatch(text) is None or int(text) > MAX_DECIMALS:
        raise BadRow("the decimals are not a whole number from 0 to 255")
    return int(text)


def read_address(chain: Chain, value: Any) -> str:
    """A token's address in the form in which it is stored and answered. Raises BadRow."""
    if not isinstance(value, str) or not chain.is_address(value):
        raise BadRow(f"a token's address is not {chain.address_form}")
    return chain.canonical(value)


def read_flag(value: Any) -> bool:
    """Whether `value` is true; some endpoints send the word."""
    return value is True or (isinstance(value, str) and value.lower() == "true")


def clean(value: Any) -> str:
    """Text that anybody may have written onto a chain, made harmless: one line, all visible, at most 128.

    Control and format characters go (NUL, which PostgreSQL refuses, and those that turn the direction of
    text), and whatever is not text becomes empty.
    """
    if not isinstance(value, str):
        return ""
    text = value[: 4 * MAX_TEXT]
    if not text.isprintable():
        text = "".join(letter for letter in text if letter in _JOINERS or _is_visible(letter))
    return text.strip()[:MAX_TEXT].strip()


def _is_visible(letter: str) -> bool:
    return unicodedata.category(letter)[0] != "C" and unicodedata.category(letter) not in ("Zl", "Zp")


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
