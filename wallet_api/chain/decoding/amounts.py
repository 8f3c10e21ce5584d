"""The amounts, addresses and times of a chain or a provider, as exact values."""

import re
from datetime import UTC, datetime
from typing import Any

from wallet_api.base.chains import Chain

MAX_DECIMALS = 255

# Of uint256, and of decimals.
_AMOUNT_DIGITS, _DECIMALS_DIGITS = 78, 3
_QUANTITY = re.compile(r"0x[0-9a-fA-F]{1,64}")


class UnusableRow(ValueError):
    """A part of a response that cannot be used, such as a transaction. It does not affect the other parts."""


def whole_number_of(value: Any, most_digits: int) -> int | None:
    """Return a whole number of at most so many digits, also one in a text; None if it is none."""
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    is_whole = isinstance(text, str) and text.isascii() and text.isdecimal() and len(text) <= most_digits
    return int(text) if is_whole else None


def read_amount(value: Any) -> int:
    """Return the count of smallest units in `value`, digits or a whole number. Raise UnusableRow."""
    units = whole_number_of(value, _AMOUNT_DIGITS)
    if units is None:
        raise UnusableRow("an amount is not a whole number")
    return units


def read_decimals(value: Any) -> int:
    """Return the decimals of a token, sent as a number or a string. Raise UnusableRow, also if unknown."""
    decimals = whole_number_of(value, _DECIMALS_DIGITS)
    if decimals is None or decimals > MAX_DECIMALS:
        raise UnusableRow("the decimals are not a whole number from 0 to 255")
    return decimals


def read_address(chain: Chain, value: Any) -> str:
    """Return a token's address in its stored form. Raise UnusableRow."""
    if not isinstance(value, str) or not chain.is_address(value):
        raise UnusableRow(f"a token's address is not {chain.address_form}")
    return chain.canonical(value)


def is_quantity(value: Any) -> bool:
    """Return whether a value is a hexadecimal number of an EVM node."""
    return isinstance(value, str) and _QUANTITY.fullmatch(value) is not None


def quantity(text: str | None) -> int:
    """Return a hexadecimal number of an EVM node; 0 for None. Raise UnusableRow."""
    if text is None:
        return 0
    if not is_quantity(text):
        raise UnusableRow("not a hexadecimal value")
    return int(text, 16)


def time_of(seconds: float) -> datetime:
    """Return the time for Unix seconds. Raise UnusableRow if it is out of range."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError) as error:
        raise UnusableRow("a time out of range") from error
