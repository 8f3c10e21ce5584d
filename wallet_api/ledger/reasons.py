"""The reasons why a row is rejected: the field, its value, and what is allowed.

msgspec stops at the first fault and describes it for a programmer, so a row that it rejects is parsed again.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NoReturn

import msgspec
from msgspec import inspect

from wallet_api.ledger.fields import TIME_FORM, BadRow, must_be, one_of, shown
from wallet_api.ledger.names import missing, required_names

# Longer than any amount. msgspec rejects whole numbers that are much longer.
_MAX_NUMBER = 100


class _Number(str):
    """A JSON number as it is written."""


def line_fault(line: bytes, row_type: type[msgspec.Struct]) -> BadRow:
    """Return the fault of a line of NDJSON that is no row."""
    try:
        document = json.loads(
            line.decode(), parse_int=_Number, parse_float=_Number, parse_constant=_refuse_constant
        )
    except UnicodeDecodeError as error:
        return not_utf8(error)
    except RecursionError:
        return BadRow(f"the line is nested too deeply; {_form(row_type)}")
    except json.JSONDecodeError as error:
        return BadRow(
            f"the line is not valid JSON; {_form(row_type)}",
            f" ({error.msg[0].lower()}{error.msg[1:]}, at character {error.pos + 1})",
        )
    except BadRow as fault:
        return fault
    if not isinstance(document, dict):
        return BadRow(_form(row_type), f", not {_shown(document)}")
    return row_fault(document, row_type)


def row_fault(given: Mapping[str, Any], row_type: type[msgspec.Struct]) -> BadRow:
    """Return the fault of values that are no row: what is missing, else the first field that is wrong."""
    lacking = missing(row_type, given)
    if lacking:
        return BadRow(f"the row lacks {lacking}")
    info = inspect.type_info(row_type)
    assert isinstance(info, inspect.StructType)
    for field in info.fields:
        if field.encode_name in given:
            fault = _field_fault(field.encode_name, field.type, given[field.encode_name])
            if fault is not None:
                return fault
    # Only Python's parser accepts half of a surrogate pair.
    return BadRow("the line is not valid JSON: an escape such as \\ud800 is not a character")


def not_utf8(error: UnicodeDecodeError) -> BadRow:
    """Return the fault of a line in another encoding."""
    return BadRow("the line is not UTF-8; save the file as UTF-8", f" (byte {error.start + 1} of the line)")


def _field_fault(name: str, field: inspect.Type, value: object) -> BadRow | None:
    kinds = field.types if isinstance(field, inspect.UnionType) else (field,)
    if value is None and any(isinstance(kind, inspect.NoneType) for kind in kinds):
        return None
    faults = [_kind_fault(name, kind, value) for kind in kinds if not isinstance(kind, inspect.NoneType)]
    return None if None in faults else faults[0]


def _kind_fault(name: str, kind: inspect.Type, value: object) -> BadRow | None:
    is_text = isinstance(value, str) and not isinstance(value, _Number)
    match kind:
        case inspect.LiteralType():
            good, form = is_text and value in kind.values, one_of(map(str, kind.values))
        case inspect.StrType():
            good, form = is_text, "a text in double quotes"
        case inspect.DateTimeType():
            good, form = is_text and _is_time(value), TIME_FORM
        case _:
            good, form = not isinstance(value, _Number) or len(value) <= _MAX_NUMBER, "a shorter number"
    return None if good else BadRow(must_be(name, form, value).rule, _found(value))


def _is_time(value: object) -> bool:
    try:
        msgspec.convert(value, datetime)
    except msgspec.ValidationError:
        return False
    return True


def _found(value: object) -> str:
    return "" if value is None or value == "" else f", not {_shown(value)}"


def _shown(value: object) -> str:
    # A number without the quotes of a text.
    return shown(value)[1:-1] if isinstance(value, _Number) else shown(value)


def _form(row_type: type[msgspec.Struct]) -> str:
    return f"each line must be one JSON object with {', '.join(required_names(row_type))}"


def _refuse_constant(name: str) -> NoReturn:
    raise BadRow(f"the line is not valid JSON: {name} is no JSON number")
