"""A file as lines of bounded length, so that none can fill the memory."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import BinaryIO

from wallet_api.ledger.fields import BadRow
from wallet_api.ledger.rows import RowType

MAX_LINE_BYTES = 1 << 20

# Its line number, the line as it came, and the row or what is wrong with it.
Record = tuple[int, bytes, RowType | BadRow]

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def bounded_lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file; of one that is longer than MAX_LINE_BYTES only as much as shows that it is."""
    while line := file.readline(MAX_LINE_BYTES + 1):
        yield line
        while len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
            line = file.readline(MAX_LINE_BYTES + 1)


def without_mark(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines without the byte order mark that some editors put before the first."""
    rest = iter(lines)
    return chain((line.removeprefix(_BYTE_ORDER_MARK) for line in (next(rest, b""),) if line), rest)


def too_long() -> BadRow:
    """What is wrong with a line longer than MAX_LINE_BYTES."""
    return BadRow(f"the line is longer than {MAX_LINE_BYTES} bytes")
