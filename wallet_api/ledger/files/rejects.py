"""Rejected rows: those that repeat an earlier row of their file otherwise, and the file with all of them."""

import os
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import SpooledTemporaryFile
from threading import Lock
from typing import Any, BinaryIO, NamedTuple

import orjson

from wallet_api.base.chains import CHAINS
from wallet_api.base.files import naming_errors, part_of
from wallet_api.base.forms import BadRow
from wallet_api.database import Connection, load_statements
from wallet_api.ledger.files.readers import UnreadableFile
from wallet_api.ledger.tokens import Token

# What several events of one transaction have of their own.
_AMOUNTS = {"token_amount", "value", "value_usd", "exchanged_value"}
# The optional fields that a row can leave out, by their bits in a mark.
OPTIONAL = {"token_name": 1, "value_usd": 2, "exchanged_value": 4, "value": 8, "block": 16, "block_index": 32}
BITS = 63
# What distinguishes the trades of a position: signature, whether it is a sell, and event index.
TradeKey = tuple[str, bool, int]
_BLOCK_BYTES = 1 << 20
# Marks beyond it are in a file.
_IN_MEMORY_BYTES = 1 << 23

_REPEATS = load_statements(__package__, "repeats")


class Repeated(BadRow):
    """The row has the identity of an earlier row of its file, and states other values of these fields."""

    def __init__(self, number: int, first: int | None, fields: Sequence[str]) -> None:
        what = f"another {', '.join(fields)}"
        if not _AMOUNTS.isdisjoint(fields):
            what = "other amounts: number them with event_index"
        elif "created_at" in fields:
            what = "another created_at: number them with event_index"
        earlier = "an earlier line" if first is None else f"line {first}"
        super().__init__(f"line {number} has the identity of {earlier} with {what}")
        self.rule = f"the identity of an earlier row with {what}"


class StagedReject(NamedTuple):
    """A row of a batch that is rejected for what the ledger has, after it was staged."""

    mark: int
    number: int
    line: bytes
    fault: BadRow


def mark_of(wallet_id: int, token: Token, key: TradeKey, stated: int = 0) -> int:
    """Return a number that only this trade has, with the bits of the optional fields that a row states."""
    return hash((wallet_id, token, key)) & ~BITS | stated


class Seen:
    """The marks of the rows of earlier batches: eight bytes each, of large files on disk."""

    def __init__(self, file: "SpooledTemporaryFile[bytes]") -> None:
        self.are_any = False
        self._file = file
        self._lock = Lock()

    def add(self, marks: Iterable[int]) -> None:
        """Add the marks of a batch, while no other thread reads."""
        self._file.write(array("q", marks).tobytes())
        self.are_any = True

    def stated(self, marks: Collection[int]) -> dict[int, int]:
        """Return, of these marks without bits, those of earlier rows, with the bits of what these state."""
        found: dict[int, int] = {}
        for mark in self._marks():
            if mark & ~BITS in marks:
                found[mark & ~BITS] = found.get(mark & ~BITS, 0) | mark
        return {mark: stated & BITS for mark, stated in found.items()}

    def _marks(self) -> Iterator[int]:
        with self._lock:
            self._file.seek(0)
            while block := self._file.read(_BLOCK_BYTES):
                yield from array("q", block)


@contextmanager
def seen_rows() -> Iterator[Seen]:
    """Open the marks of one file, of which there are none yet."""
    with SpooledTemporaryFile(_IN_MEMORY_BYTES) as file:
        yield Seen(file)


def reject_repeats(connection: Connection, seen: Seen, tokens: Mapping[int, Token]) -> list[StagedReject]:
    """Delete from `fresh` the corrections of what earlier batches of the file state, and return them."""
    corrections = {_mark(row, tokens): row for row in connection.execute(_REPEATS["corrections"])}
    earlier = seen.stated(corrections.keys()) if corrections else {}
    faults: dict[int, tuple[int, BadRow]] = {}
    for mark, stated in earlier.items():
        row = corrections[mark]
        fields = [name for name in row["fields"] if name not in OPTIONAL or stated & OPTIONAL[name]]
        if fields:
            faults[row["line_number"]] = mark, Repeated(row["line_number"], None, fields)
    if not faults:
        return []
    rejected = _staged_rejects(connection, faults)
    connection.execute(_REPEATS["reject"], {"line_numbers": list(faults)})
    return rejected


def reject_unvalued(connection: Connection, tokens: Mapping[int, Token]) -> list[StagedReject]:
    """Delete from `incoming` the rows without a value, and return them."""
    faults: dict[int, tuple[int, BadRow]] = {
        row["line_number"]: (_mark(row, tokens), _unvalued(tokens[row["token_id"]]))
        for row in connection.execute(_REPEATS["unvalued"])
    }
    if not faults:
        return []
    rejected = _staged_rejects(connection, faults)
    connection.execute(_REPEATS["reject_unvalued"])
    return rejected


def _unvalued(token: Token) -> BadRow:
    currency = CHAINS[token[0]].currency
    return BadRow(
        f"value is missing, and no price of {currency} within an hour of created_at is known, by which"
        " value_usd would become one: import prices first"
    )


def _staged_rejects(connection: Connection, faults: Mapping[int, tuple[int, BadRow]]) -> list[StagedReject]:
    """Return the rows of these line numbers, which have these marks and faults."""
    rows = connection.execute(_REPEATS["rows"], {"line_numbers": list(faults)})
    lines = {row["line_number"]: row["line"].encode() for row in rows}
    return [
        StagedReject(mark, number, lines[number], fault) for number, (mark, fault) in sorted(faults.items())
    ]


def repeated_rows(
    rows: Iterable[Mapping[str, Any]], identity: Sequence[str]
) -> Iterator[tuple[int, bytes, Repeated]]:
    """Yield number, line and fault of the rows that state other values than an earlier row of theirs.

    `rows` are those of identities that a file has several times, in the order of identity and line; None is
    a field that a row leaves out.
    """
    first, known = 0, None
    stated: dict[str, Any] = {}
    for row in rows:
        given = {name: value for name, value in row.items() if value is not None}
        number, line = given.pop("line_number"), given.pop("line")
        if known != (known := [given[name] for name in identity]):
            first, stated = number, {}
        fields = [name for name, value in given.items() if stated.get(name, value) != value]
        if fields:
            yield number, line, Repeated(number, first, fields)
        else:
            stated |= given


def _mark(row: Mapping[str, Any], tokens: Mapping[int, Token]) -> int:
    key = (row["tx_signature"], row["is_sell"], row["event_index"])
    return mark_of(row["wallet_id"], tokens[row["token_id"]], key)


class Rejects:
    """The rejects file of one import; it exists afterwards only if something was rejected."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.path = path
        self.count = 0
        self._file = file

    def add(self, number: int, line: bytes, fault: BadRow) -> None:
        """Write a rejected line."""
        self.count += 1
        row = line.decode("utf-8", "replace").rstrip("\r\n")
        with naming_errors(self.path):
            self._file.write(orjson.dumps({"line": number, "reason": str(fault), "row": row}) + b"\n")


@contextmanager
def rejects_of(name: str) -> Iterator[Rejects]:
    """Open the rejects file beside the file `name`; for standard input, stdin.rejects.ndjson.

    It is a new file, which only its owner can read, also after an exception, with whole lines.
    """
    path = Path(f"{'stdin' if name == '-' else name}.rejects.ndjson")
    with ExitStack() as stack:
        try:
            part, keep = stack.enter_context(part_of(path, overwrite=True))
        except OSError as error:
            raise UnreadableFile(
                f"{path}: {error.strerror}; rejected rows are written there, so the folder must be writable"
            ) from error
        try:
            with part.open("wb") as file:
                rejects = Rejects(path, file)
                yield rejects
        finally:
            if rejects.count:
                # Only whole lines remain of what a full disk has cut off.
                os.truncate(part, part.read_bytes().rfind(b"\n") + 1)
                keep()
            else:
                path.unlink(missing_ok=True)
