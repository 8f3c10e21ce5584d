"""Lists of rows as their columns: what Connection.fetch_lists returns."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import compress, repeat
from typing import Any

Row = dict[str, Any]
# The values of each column by its name.
Columns = dict[str, Sequence[Any]]
Lists = tuple[Row, list[Columns]]


def columns_from(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Columns:
    """Return the columns of rows, each of which has a value for each name."""
    values = zip(*rows, strict=True) if rows else repeat(())
    return dict(zip(names, values, strict=False))


def row_count(columns: Mapping[str, Sequence[Any]]) -> int:
    """Return the number of rows."""
    return len(next(iter(columns.values()), ()))


def rows_at(columns: Columns, places: Iterable[int]) -> Columns:
    """Return the rows at these places, in this order."""
    chosen = list(places)
    return {name: [values[place] for place in chosen] for name, values in columns.items()}


def shared(columns: Columns) -> Columns:
    """Return the rows with each value of a column once in memory; all values are hashable."""
    return {name: [*map({}.setdefault, values, values)] for name, values in columns.items()}


def rows_where(columns: Columns, wanted: Iterable[bool]) -> Columns:
    """Return the rows that are wanted."""
    chosen = list(wanted)
    if all(chosen):
        return columns
    return {name: list(compress(values, chosen)) for name, values in columns.items()}


def rows_of(columns: Columns) -> list[Row]:
    """Return the rows, each by name."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def rows_by(columns: Columns, name: str) -> dict[Any, Columns]:
    """Return the rows of each value of a column, by which they are in order."""
    starts: dict[Any, int] = {}
    for place, value in enumerate(columns[name]):
        starts.setdefault(value, place)
    ends = [*starts.values(), len(columns[name])][1:]
    return {
        value: {each: values[start:end] for each, values in columns.items()}
        for (value, start), end in zip(starts.items(), ends, strict=True)
    }


def rows_within(columns: Columns, name: str) -> list[Columns]:
    """Return the rows within each row: their columns are arrays in those that begin with a name."""
    prefix = f"{name}_"
    arrays = {each.removeprefix(prefix): columns[each] for each in columns if each.startswith(prefix)}
    return [dict(zip(arrays, row, strict=True)) for row in zip(*arrays.values(), strict=True)]
