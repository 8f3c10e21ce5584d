"""The rows of a response alone, flat, as CSV or NDJSON: what tables and data frames read."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from marshmallow import fields

from wallet_api.api.schemas.fields import String
from wallet_api.api.schemas.shapes import List, Shape, Table, columns_of, write_values
from wallet_api.database import row_count

# The values of the argument `format`, with `bom` or without, and what they are called in HTTP.
_CSV = "text/csv; charset=utf-8"
CONTENT_TYPES = {"csv": _CSV, "marked_csv": _CSV, "ndjson": "application/x-ndjson"}
# A spreadsheet runs a cell that begins so: https://owasp.org/www-community/attacks/CSV_Injection
_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
# In many countries it divides cells at semicolons.
_INNER = re.compile(f";(?=[{re.escape(''.join(_FORMULAS))}])")


def write_rows(shape: Shape, rows: List, format: str) -> bytes:
    """Return the rows in one of these formats, with numbers as they are in JSON.

    The columns are those that the shape can have, in its order.
    """
    table = columns_of(rows)
    if format == "ndjson":
        return _write_ndjson(shape, table).encode()
    mark = "\ufeff" if format == "marked_csv" else ""
    return f"{mark}{_write_csv(shape, table)}".encode()


def _write_csv(shape: Shape, rows: Table) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(shape.columns())
    writer.writerows(zip(*_cells(shape, rows, _as_cells, ""), strict=True))
    return text.getvalue()


def _as_cells(field: fields.Field[Any], values: Sequence[Any]) -> Iterable[Any]:
    if isinstance(field, String):
        return [_harmless(text) if ";" in text or text.startswith(_FORMULAS) else text for text in values]
    return write_values(field, values)


def _harmless(text: str) -> str:
    inner = _INNER.sub(";'", text)
    return f"'{inner}" if inner.startswith(_FORMULAS) else inner


def _write_ndjson(shape: Shape, rows: Table) -> str:
    members = ",".join(f'"{name}":%s' for name in shape.columns())
    cells = _cells(shape, rows, write_values, "null")
    return "".join(map(f"{{{members}}}\n".__mod__, zip(*cells, strict=True)))


def _cells(
    shape: Shape,
    rows: Table,
    write: Callable[[fields.Field[Any], Sequence[Any]], Iterable[Any]],
    absent: str,
) -> list[list[Any]]:
    """Return the cells of each column; `absent` where a row has no value."""
    count = row_count(rows)
    cells = []
    for name, field in shape.columns().items():
        values = rows.get(name, [None] * count)
        texts = iter(write(field, [value for value in values if value is not None]))
        cells.append([absent if value is None else next(texts) for value in values])
    return cells
