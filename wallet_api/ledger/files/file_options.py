"""What a command states of a whole file: columns that are otherwise called, and values that it lacks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from wallet_api.base.forms import BadRow, listed_word, shown

# The fields that can be the same in all rows of a file, each an option of the commands that read it.
SAME = ("blockchain", "type", "currency")

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Given:
    """The names that the file has for fields, and the values of fields that are the same in all rows.

    `rows` is where its list is in a document of JSON, such as data.items.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    rows: str | None = None

    def name_of(self, field: str) -> str:
        """Return what the file calls this field."""
        return self.columns.get(field, field)

    def field_of(self, name: str) -> str | None:
        """Return the field that the file calls so; None if another column has been named for it."""
        field = next((field for field, other in self.columns.items() if other == name), None)
        return field or (None if name in self.columns else name)

    def fill(
        self,
        members: dict[str, _Value],
        written: Callable[[str], _Value],
        read: Callable[[_Value], object],
    ) -> None:
        """Add the values to the members of a row. Raises BadRow if the row states another one."""
        for name, value in self.values.items():
            stated = read(members[name]) if name in members else None
            is_same = isinstance(stated, str) and listed_word(stated, [value]) is not None
            if stated not in (None, "") and not is_same:
                raise BadRow(
                    f"{name} is given as {value} for the whole file", f", but here it is {shown(stated)}"
                )
            members[name] = written(value)


NOTHING = Given()


def remedy_for(*lacking: str) -> str:
    """Return what a command can state in place of fields that a file lacks."""
    same = [f"--{name} states what is the same in all rows" for name in lacking if name in SAME]
    return "; ".join(["--column NAME=OTHER names a column that is otherwise called", *same])
