"""Compare the names of a file's columns or members with the fields of a row."""

from collections.abc import Callable, Collection, Iterable
from difflib import get_close_matches

import msgspec

from wallet_api.ledger.fields import shown

Warn = Callable[[str], None]

# Limits the warnings about a file with many unknown names.
_MAX_WARNINGS = 20


def all_names(row_type: type[msgspec.Struct]) -> tuple[str, ...]:
    """Return the names that a row may have."""
    return tuple(field.encode_name for field in msgspec.structs.fields(row_type))


def required_names(row_type: type[msgspec.Struct]) -> tuple[str, ...]:
    """Return the names that a row must have."""
    return tuple(field.encode_name for field in msgspec.structs.fields(row_type) if field.required)


def closest(name: str, known: Collection[str]) -> str | None:
    """Return the known name that is closest to this one, if any is close."""
    plain = "_".join(name.strip().lower().replace("-", " ").split())
    return next(iter(get_close_matches(plain, known, 1)), None)


def missing(row_type: type[msgspec.Struct], found: Iterable[str]) -> str:
    """Return the required names that were not found, each with a similar name that was; or ""."""
    names = list(found)
    others = [name for name in names if name not in all_names(row_type)]
    lacking = [name for name in required_names(row_type) if name not in names]
    return ", ".join(name + _instead(name, others) for name in lacking)


class UnknownNames:
    """Warns once of each name that is not a field of the row."""

    def __init__(self, row_type: type[msgspec.Struct], kind: str, warn: Warn) -> None:
        self._known = frozenset(all_names(row_type))
        self._kind = kind
        self._warn = warn
        self._warned: set[str] = set()

    def check(self, names: Collection[str]) -> None:
        """Warn of the unknown names among these that have not been warned of yet."""
        for name in names:
            if name in self._known or name in self._warned or len(self._warned) == _MAX_WARNINGS:
                continue
            self._warned.add(name)
            meant = closest(name, self._known.difference(names))
            hint = f"; did you mean {meant}?" if meant else ""
            self._warn(f"the {self._kind} {shown(name)} is unknown and ignored{hint}")


def _instead(name: str, others: list[str]) -> str:
    meant = [other for other in others if closest(other, [name])]
    return f" (found {shown(meant[0])})" if meant else ""
