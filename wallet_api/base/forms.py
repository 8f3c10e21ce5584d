"""What a text, an amount, an address and a time may be, and the faults of those that are not."""

import re
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from wallet_api.base.chains import CHAINS, OTHER_NAMES

AHEAD = timedelta(minutes=5)
EARLIEST = datetime(2009, 1, 3, tzinfo=UTC)
MAX_TEXT = 2048
MAX_SIGNATURE = 256
MAX_EVENT_INDEX = 2**31 - 1
MAX_BLOCK = 2**63 - 1
# Far beyond any real token, and narrow enough that every quotient keeps its 40 decimals.
MAX_WHOLE_DIGITS = 60
MAX_DECIMALS = 36

AMOUNT_FORM = "a decimal number such as 1000, 0.25 or 1.5e-7"
TIME_FORM = "an ISO 8601 time such as 2026-01-30T12:51:16Z (or any offset or UTC in place of Z)"
# What tools write into the cell of a number that is not there.
NO_NUMBER = frozenset(("null", "nan", "none"))

_WHOLE = re.compile(r"([0-9]{1,20})(?:\.0{1,20})?", re.ASCII)
# An exponent of more digits would be too large for a Decimal.
_AMOUNT = re.compile(r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,9})?")
# Not read, since "1,234" is a thousand to some and little more than one to others.
_FORMATTED = re.compile(r"-?[$€£]?-?[0-9][0-9,.'’_ \u00a0\u202f]*[$€£]?")
_SHOWN_CHARACTERS = 40
# Invisible, but part of how some scripts and emoji are written.
_JOINERS = "\u200c\u200d"


class BadRow(ValueError):
    """The row is rejected; the message is the reason."""

    def __init__(self, rule: str, found: str = "") -> None:
        super().__init__(rule + found)
        # The reason without the value of this row, by which equal faults can be counted.
        self.rule = rule


def shown(value: object, longest: int = _SHOWN_CHARACTERS) -> str:
    """Return the value as JSON, cut where it is long."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"
    text = msgspec.json.encode(value).decode("utf-8", "replace")
    return text if len(text) <= longest else f"{text[:longest]}…"


def must_be(field: str, allowed: str, value: object, hint: str = "") -> BadRow:
    """Return the fault of a field whose value is none of those allowed."""
    if value is None or value == "":
        return BadRow(f"{field} is empty; it must be {allowed}")
    return BadRow(f"{field} must be {allowed}", f", not {shown(value)}{hint}")


def one_of(names: Iterable[str]) -> str:
    """Return the names as a choice: a, b or c."""
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def listed_word(text: str, allowed: Iterable[str]) -> str | None:
    """Return the word of a list that the text is in another case, or by another name of a chain, or None."""
    folded = text.strip().casefold()
    words = {word.casefold(): word for word in allowed}
    return words.get(OTHER_NAMES.get(folded, folded))


# Cached, since many trades have the same wallet or mint, and decoding an address is slow.
@lru_cache(maxsize=50_000)
def check_address(blockchain: str, text: str, field: str = "wallet_address") -> str:
    """Return the stored form of the address of a wallet, or of a mint. Raises BadRow."""
    chain = CHAINS[blockchain]
    text = text.strip()
    if not chain.is_address(text):
        raise must_be(field, f"an address of {blockchain} ({chain.address_form})", text)
    return chain.canonical(text)


def check_text(field: str, text: str, longest: int, *, required: bool = False) -> str:
    """Return the text itself. Raises BadRow if it is too long, or contains what PostgreSQL cannot store."""
    if required and not text:
        raise BadRow(f"{field} is empty")
    if len(text) > longest:
        raise BadRow(f"{field} is longer than {longest} characters", f": {shown(text)}")
    if "\0" in text:
        raise BadRow(f"{field} contains a NUL character", f": {shown(text)}")
    return text


def visible(text: str) -> str:
    """Return the text without control and format characters, such as those that change its direction."""
    if text.isprintable():
        return text
    return "".join(letter for letter in text if letter in _JOINERS or _is_visible(letter))


def _is_visible(letter: str) -> bool:
    return unicodedata.category(letter)[0] != "C" and unicodedata.category(letter) not in ("Zl", "Zp")


def check_amount(field: str, amount: Any, *, above_zero: bool = False) -> str:
    """Return the amount as text: ASCII digits with an optional point and exponent.

    Raises BadRow if it is something else, negative (or zero), or has too many digits.
    """
    # Nearly all amounts are short and plain, which is fast to check. A Decimal is slower, and accepts more
    # than ASCII digits.
    if type(amount) is str and len(amount) <= MAX_DECIMALS and amount.isascii():
        digits = amount.replace(".", "", 1)
        if digits.isdecimal() and not (above_zero and not digits.strip("0")):
            return amount
    return _check_amount(field, amount, above_zero=above_zero)


def optional_amount(field: str, amount: Any, *, above_zero: bool = False) -> str | UnsetType | None:
    """Return the amount as check_amount() does; None for an empty one, UNSET for one that is not there.

    NULL, nan and none, in any case, are not there. Raises BadRow.
    """
    if amount is UNSET or amount is None:
        return amount
    # Nearly all begin with a digit.
    if type(amount) is str and not "0" <= amount[:1] <= "9":
        word = amount.strip().casefold()
        if not word or word in NO_NUMBER:
            return UNSET if word else None
    return check_amount(field, amount, above_zero=above_zero)


def without_zeros(text: str) -> str:
    """Return a decimal without zeros at its end."""
    return text.rstrip("0").rstrip(".") if "." in text else text


def check_event_index(index: Any) -> int:
    """Return the index as a number; one that is empty or not there is 0. Raises BadRow."""
    whole = whole_number("event_index", index, MAX_EVENT_INDEX)
    return 0 if whole is None or whole is UNSET else whole


def whole_number(field: str, number: Any, most: int) -> int | UnsetType | None:
    """Return the number, of which 9.0 is one too; None for an empty one, UNSET for one that is not there.

    NULL, nan and none, in any case, are not there. Raises BadRow.
    """
    if number is UNSET or number is None:
        return number
    found = number
    if type(number) is str:
        word = number.strip()
        if not word or word.casefold() in NO_NUMBER:
            return UNSET if word else None
        digits = _WHOLE.fullmatch(word)
        found = int(digits[1]) if digits else number
    if type(found) is not int or not 0 <= found <= most:
        raise must_be(field, f"a whole number from 0 to {most}", number)
    return found


def check_time(field: str, moment: datetime, now: datetime) -> datetime:
    """Return the time, aware; one without an offset is UTC. Raises BadRow if it is too early or too late."""
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if moment > now + AHEAD:
        raise BadRow(f"{field} is more than 5 minutes ahead of now", f": {moment.isoformat()}")
    if moment < EARLIEST:
        raise BadRow(
            f"{field} is before {EARLIEST:%Y-%m-%d}, when there was no blockchain", f": {moment.isoformat()}"
        )
    return moment


def _check_amount(field: str, amount: Any, *, above_zero: bool) -> str:
    text = str(amount) if type(amount) in (int, Decimal) else amount
    if isinstance(text, str):
        text = text.strip()
        amount = "" if text.casefold() in NO_NUMBER else amount
    if not isinstance(text, str) or not _AMOUNT.fullmatch(text):
        is_formatted = isinstance(text, str) and _FORMATTED.fullmatch(text.strip())
        hint = "; write it without separators of thousands, spaces or currency signs" if is_formatted else ""
        raise must_be(field, AMOUNT_FORM, amount, hint)
    number = Decimal(text)
    if number.is_signed() or (above_zero and not number):
        raise must_be(field, "above 0" if above_zero else "at least 0", amount)
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    if exponent < -MAX_DECIMALS or number.adjusted() >= MAX_WHOLE_DIGITS:
        allowed = f"a number of at most {MAX_WHOLE_DIGITS} digits before and {MAX_DECIMALS} after the point"
        raise must_be(field, allowed, amount)
    return text
