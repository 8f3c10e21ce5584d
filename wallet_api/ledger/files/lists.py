"""Read an array of JSON, and a list of addresses, one a line."""

import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO

import msgspec

from wallet_api.forms import BadRow
from wallet_api.ledger.files.given import Given
from wallet_api.ledger.files.lines import BYTE_ORDER_MARK, MAX_LINE_BYTES, Record, too_long, unreadable
from wallet_api.ledger.files.rows import RowType

# An array is in memory as a whole: about 200,000 wallets with their profiles.
MAX_ARRAY_BYTES = 1 << 25

_COMMENT = b"#"
# What structures JSON, and texts, in which it does not.
_MARKS = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[\]{},]', re.DOTALL)


class BadList(Exception):
    """The file is no array, or no list of addresses, that can be read."""


def elements(file: BinaryIO) -> Iterator[bytes]:
    """Yield the elements of an array of JSON as they are written. Raises BadList."""
    content = file.read(MAX_ARRAY_BYTES + 1).removeprefix(BYTE_ORDER_MARK)
    if len(content) > MAX_ARRAY_BYTES:
        raise BadList(
            f"an array of JSON has at most {MAX_ARRAY_BYTES >> 20} MiB; write it as NDJSON, an object a line"
        )
    # Parsed as a whole, the elements would take up to 50 times as much memory.
    depth = 0
    end = content.index(b"[") + 1
    for mark in _MARKS.finditer(content, end):
        if mark[0] in (b"[", b"{"):
            depth += 1
        elif mark[0] in (b"]", b"}") and depth:
            depth -= 1
        elif mark[0] == b"," and not depth:
            yield content[end : mark.start()].strip()
            end = mark.end()
        elif mark[0] == b"]":
            last = content[end : mark.start()].strip()
            if last or content[end - 1 : end] == b",":
                yield last
            if content[mark.end() :].strip():
                raise BadList("the array ends before the file does")
            return
    raise BadList("the array is not closed")


def lists_addresses(row_type: type[msgspec.Struct]) -> bool:
    """Return whether the rows are wallets, of which an address alone can be one."""
    fields = row_type.__struct_fields__
    return "wallet_address" in fields and "tx_signature" not in fields


def address_records(
    lines: Iterable[bytes], row_type: type[RowType], given: Given
) -> Iterator[Record[RowType]]:
    """Yield a row for each line, numbered from 1, that is not blank and no comment (#). Raises BadList."""
    if lacking := _lacking(row_type, given):
        raise BadList(lacking)
    for number, line in enumerate(lines, 1):
        if line.isspace() or line.startswith(_COMMENT):
            continue
        if len(line) > MAX_LINE_BYTES:
            yield number, b"", too_long()
            continue
        try:
            yield number, line, address_row(line.decode().strip(), row_type, given)
        except UnicodeDecodeError as error:
            yield number, line, unreadable(error)


def address_row(address: str, row_type: type[RowType], given: Given) -> RowType | BadRow:
    """Return the row of a wallet of which only the address is stated."""
    if lacking := _lacking(row_type, given):
        return BadRow(lacking)
    return msgspec.convert({**given.values, "wallet_address": address}, row_type)


def _lacking(row_type: type[msgspec.Struct], given: Given) -> str | None:
    """Return what addresses alone need to be rows."""
    needed = {field.name for field in msgspec.structs.fields(row_type) if field.required}
    missing = sorted(needed - {"wallet_address", *given.values})
    if not missing:
        return None
    return f"an address alone is a wallet only with {' and '.join(f'--{name}' for name in missing)}"
