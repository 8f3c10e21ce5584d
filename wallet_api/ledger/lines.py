"""The lines of a file, limited in length so that none can fill the memory."""

from collections.abc import Callable, Iterator
from typing import BinaryIO

from wallet_api.forms import BadRow
from wallet_api.ledger.rows import RowType

MAX_LINE_BYTES = 1 << 20

# A line number, the line as it was read, and the row or its fault.
Record = tuple[int, bytes, RowType | BadRow]
# Called with the line number, the line, and its fault.
Reject = Callable[[int, bytes, BadRow], None]

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def bounded_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file, without the byte order mark that some editors put before the first.

    Of a line longer than MAX_LINE_BYTES, yield only its first MAX_LINE_BYTES + 1.
    """
    mark = _BYTE_ORDER_MARK
    while line := file.readline(MAX_LINE_BYTES + 1):
        yield line.removeprefix(mark)
        mark = b""
        while len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
            line = file.readline(MAX_LINE_BYTES + 1)


def unreadable(error: Exception) -> BadRow:
    """Return the fault of a line that a parser cannot read."""
    return BadRow("the line cannot be read", f": {error}")


def too_long() -> BadRow:
    """Return the fault of a line longer than MAX_LINE_BYTES."""
    return BadRow(f"the line is longer than {MAX_LINE_BYTES} bytes")
