"""The faults of a row's fields: of another form than the row's, or unknown."""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Literal, get_args, get_origin, get_type_hints

import msgspec

from wallet_api.forms import TIME_FORM, BadRow, must_be, one_of, shown

Warn = Callable[[str], None]

# The end of msgspec's messages: "Expected `str`, got `int` - at `$.mint`".
_AT_FIELD = re.compile(r"(.*) - at `\$\.(\w+).*`", re.DOTALL)
# Limits the warnings about a file with many unknown names.
_MAX_WARNINGS = 20


def row_fault(
    error: msgspec.ValidationError, row_type: type[msgspec.Struct], given: Mapping[str, object]
) -> BadRow:
    """Return the fault that msgspec found in the given values: the field, what is allowed, and the value."""
    found = _AT_FIELD.fullmatch(str(error))
    if found is None:
        return BadRow(str(error))
    rule, field = found.groups()
    kind = get_type_hints(row_type)[field]
    # msgspec does not name what is allowed for these two.
    if get_origin(kind) is Literal:
        return must_be(field, one_of(get_args(kind)), given[field])
    if kind is datetime:
        return must_be(field, TIME_FORM, given[field])
    return BadRow(f"{field}: {rule}", f" ({shown(given[field])})")


def unknown_names(row_type: type[msgspec.Struct], kind: str, warn: Warn) -> Callable[[Iterable[str]], None]:
    """Return a function that warns once of each name that is not a field of the row."""
    known = set(row_type.__struct_fields__)
    most = len(known) + _MAX_WARNINGS

    def check(names: Iterable[str]) -> None:
        for name in names:
            if name not in known and len(known) < most:
                known.add(name)
                warn(f"the {kind} {shown(name)} is unknown and ignored")

    return check
