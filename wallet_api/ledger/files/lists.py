"""Read an array of JSON, also within a document, and a list of addresses, one a line."""

import re
from collections.abc import Iterable, Iterator

import msgspec

from wallet_api.base.chains import CHAINS
from wallet_api.base.forms import BadRow
from wallet_api.ledger.files.file_options import SAME, Given
from wallet_api.ledger.files.lines import (
    BYTE_ORDER_MARK,
    MAX_LINE_BYTES,
    BadContent,
    Record,
    too_long,
    unreadable,
)
from wallet_api.ledger.files.rows import RowType

# An array is in memory as a whole: about 200,000 wallets with their profiles.
MAX_ARRAY_BYTES = 1 << 25

_COMMENT = b"#"
# What structures JSON, and texts, in which it does not.
_MARKS = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[\]{},]', re.DOTALL)
# What separates an address from the name of its wallet.
_NAMED = re.compile(r"\s*[:,;\t]\s*")
_MAX_DEPTH = 8


def elements(content: bytes) -> Iterator[bytes]:
    """Yield the elements of an array of JSON as they are written. Raises BadContent."""
    content = content.removeprefix(BYTE_ORDER_MARK)
    if len(content) > MAX_ARRAY_BYTES:
        raise BadContent(
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
                raise BadContent("the array ends before the file does")
            return
    raise BadContent("the array is not closed")


def states_row(line: bytes, row_type: type[msgspec.Struct], given: Given) -> bool:
    """Return whether a line is an object with a field of the row, and so the first of many."""
    fields = [field.name for field in msgspec.structs.fields(row_type) if field.required]
    members = _object(line) or {}
    return any(given.name_of(name) in members for name in fields if name not in SAME)


def document_elements(content: bytes, row_type: type[msgspec.Struct], given: Given) -> Iterable[bytes] | None:
    """Return the elements of the list within a document of JSON; None if it is none, or has no list.

    Of wallets, an object of addresses and names is a list as well. Raises BadContent.
    """
    document = _object(content.removeprefix(BYTE_ORDER_MARK))
    lists = dict(_lists(document or {}))
    if given.rows is not None:
        if given.rows not in lists:
            raise BadContent(f"there is no list {given.rows}; the lists are {', '.join(lists) or 'none'}")
        return elements(lists[given.rows])
    if len(lists) > 1:
        raise BadContent(f"there are several lists, {', '.join(lists)}; --rows NAME states which one is read")
    if lists:
        return elements(*lists.values())
    if document and lists_addresses(row_type) and all(map(_is_address, document)):
        return [_named(address, name) for address, name in document.items()]
    return None


def _object(content: bytes) -> dict[str, msgspec.Raw] | None:
    """Return the members of an object; None if the content is another thing."""
    try:
        return msgspec.json.decode(content, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _lists(members: dict[str, msgspec.Raw], path: str = "") -> Iterator[tuple[str, bytes]]:
    """Yield the lists within an object and the objects in it, by the names that lead there."""
    for name, value in members.items():
        raw = bytes(value)
        if raw.startswith(b"["):
            yield f"{path}{name}", raw
        elif raw.startswith(b"{") and path.count(".") < _MAX_DEPTH:
            yield from _lists(_object(raw) or {}, f"{path}{name}.")


def _is_address(text: str) -> bool:
    return any(chain.is_address(text.strip()) for chain in CHAINS.values())


def _named(address: str, name: msgspec.Raw) -> bytes:
    return msgspec.json.encode({"wallet_address": address, "name": name})


def lists_addresses(row_type: type[msgspec.Struct]) -> bool:
    """Return whether the rows are wallets, of which an address alone can be one."""
    fields = row_type.__struct_fields__
    return "wallet_address" in fields and "tx_signature" not in fields


def address_records(
    lines: Iterable[bytes], row_type: type[RowType], given: Given
) -> Iterator[Record[RowType]]:
    """Yield a row for each line, numbered from 1, that is not blank and no comment (#). Raises BadContent."""
    if lacking := _lacking(row_type, given):
        raise BadContent(lacking)
    for number, line in enumerate(lines, 1):
        if line.isspace() or line.startswith(_COMMENT):
            continue
        if len(line) > MAX_LINE_BYTES:
            yield number, b"", too_long()
            continue
        try:
            yield number, line, address_row(line.decode(), row_type, given)
        except UnicodeDecodeError as error:
            yield number, line, unreadable(error)


def address_row(text: str, row_type: type[RowType], given: Given) -> RowType | BadRow:
    """Return the row of a wallet of which only the address is stated, or ADDRESS:Name, or ADDRESS,Name."""
    if lacking := _lacking(row_type, given):
        return BadRow(lacking)
    address, *names = _NAMED.split(text.strip(), maxsplit=1)
    name = {"name": names[0].strip('"')} if names and names[0] else {}
    return msgspec.convert({**given.values, "wallet_address": address, **name}, row_type)


def _lacking(row_type: type[msgspec.Struct], given: Given) -> str | None:
    """Return what addresses alone need to be rows."""
    needed = {field.name for field in msgspec.structs.fields(row_type) if field.required}
    missing = sorted(needed - {"wallet_address", *given.values})
    if not missing:
        return None
    return f"an address alone is a wallet only with {' and '.join(f'--{name}' for name in missing)}"
