"""Read the rows of a provider's response: exact amounts, canonical addresses and harmless texts."""

import json
import re
import unicodedata
from typing import Any

import msgspec

from wallet_api.chains import Chain

MAX_TEXT = 128
MAX_DECIMALS = 255

# uint256 has at most 78 digits.
_AMOUNT = re.compile(r"[0-9]{1,78}")
_DECIMALS = re.compile(r"[0-9]{1,3}")
# Invisible, but part of how some scripts and emoji are written.
_JOINERS = "\u200c\u200d"


class UnusableRow(ValueError):
    """A row of a provider's response that cannot be used. It does not affect the other rows."""


def read_row(raw: msgspec.Raw) -> dict[str, Any]:
    """Return one object of a list, its fractions as text. Raise UnusableRow."""
    try:
        row = json.loads(bytes(raw).decode("utf-8", "replace"), parse_float=str)
    except (ValueError, RecursionError) as error:
        raise UnusableRow("a row is not JSON") from error
    if not isinstance(row, dict):
        raise UnusableRow("a row is not an object")
    return row


def read_amount(value: Any) -> int:
    """Return the count of smallest units in `value`, digits or a whole number. Raise UnusableRow."""
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or _AMOUNT.fullmatch(text) is None:
        raise UnusableRow("an amount is not a whole number")
    return int(text)


def read_decimals(value: Any) -> int:
    """Return the decimals of a token, sent as a number or a string. Raise UnusableRow, also if unknown."""
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or _DECIMALS.fullmatch(text) is None or int(text) > MAX_DECIMALS:
        raise UnusableRow("the decimals are not a whole number from 0 to 255")
    return int(text)


def read_address(chain: Chain, value: Any) -> str:
    """Return a token's address in its stored form. Raise UnusableRow."""
    if not isinstance(value, str) or not chain.is_address(value):
        raise UnusableRow(f"a token's address is not {chain.address_form}")
    return chain.canonical(value)


def read_flag(value: Any) -> bool:
    """Return whether `value` is true or the text "true", which some endpoints send."""
    return value is True or (isinstance(value, str) and value.lower() == "true")


def clean(value: Any) -> str:
    """Return an untrusted text as one line of at most 128 visible characters; "" if `value` is not a text.

    Control and format characters are removed, such as NUL, which PostgreSQL refuses, and those that change
    the direction of text.
    """
    if not isinstance(value, str):
        return ""
    text = value[: 4 * MAX_TEXT]
    if not text.isprintable():
        text = "".join(letter for letter in text if letter in _JOINERS or _is_visible(letter))
    return text.strip()[:MAX_TEXT].strip()


def _is_visible(letter: str) -> bool:
    return unicodedata.category(letter)[0] != "C" and unicodedata.category(letter) not in ("Zl", "Zp")
