"""Rows whose times are Unix times, in seconds or milliseconds."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Literal, cast, get_type_hints

import msgspec

from wallet_api.base.forms import BadRow, must_be
from wallet_api.base.times import EPOCH
from wallet_api.ledger.files.lines import Record
from wallet_api.ledger.files.rows import RowType

Timestamps = Literal["iso", "epoch", "epoch_ms"]

# No time of the ledger has more digits, and none is before the start.
_NUMBER = re.compile(r"[0-9]{1,14}(?:\.[0-9]{1,9})?", re.ASCII)
_MICROSECONDS = {"epoch": 1_000_000, "epoch_ms": 1_000}
_FORMS = {"epoch": "a Unix time in seconds such as 1769777476", "epoch_ms": "a Unix time in milliseconds"}


def with_unread_time(row_type: type[RowType]) -> type[RowType]:
    """Return a type of the same rows whose time is as in the file."""
    name = _time_of(row_type)
    made = msgspec.defstruct(row_type.__name__, [(name, Any)], bases=(row_type,), kw_only=True)
    return cast(type[RowType], made)


def with_times(
    records: Iterator[Record[RowType]], row_type: type[RowType], timestamps: Timestamps
) -> Iterator[Record[RowType]]:
    """Yield the rows of with_unread_time() with their times."""
    name = _time_of(row_type)
    for number, line, row in records:
        if not isinstance(row, BadRow):
            try:
                setattr(row, name, _moment(name, getattr(row, name), timestamps))
            except BadRow as fault:
                yield number, line, fault
                continue
        yield number, line, row


def _time_of(row_type: type[msgspec.Struct]) -> str:
    return next(name for name, kind in get_type_hints(row_type).items() if kind is datetime)


def _moment(field: str, value: Any, timestamps: str) -> datetime:
    text = str(value) if type(value) is int else value
    if not isinstance(text, str) or not _NUMBER.fullmatch(text):
        raise must_be(field, _FORMS[timestamps], value)
    try:
        return EPOCH + timedelta(microseconds=int(Decimal(text) * _MICROSECONDS[timestamps]))
    except OverflowError:
        raise must_be(field, _FORMS[timestamps], value) from None
