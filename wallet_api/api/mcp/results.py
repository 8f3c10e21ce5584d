"""The result of a tool: the response of its operation, without the rows that a model could not take in."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

MAX_BYTES = 25_000
# Lists with the newest last: their beginnings are cut.
_OLDEST_FIRST = {"months", "dates", "buckets", "period_realized_pnl_chart"}
# For the sentences about what is left out.
_NOTES_BYTES = 1_000


@dataclass(frozen=True)
class Continuation:
    """How to get what is left out: the list that is divided into pages, and arguments that return fewer rows.

    `pages` is None if there are none, and "" if they are of the only list; `place` is the argument that takes
    the cursor of the next page.
    """

    path: str
    pages: str | None
    place: str
    narrowing: Sequence[str]

    def advice(self, name: str, kept: int) -> str:
        """Return what to do for the rest of the list `name`, of which so many rows are kept."""
        if self.pages in (name, "") and name not in _OLDEST_FIRST:
            return f"Repeat with limit={max(kept, 1)}, then send pagination.next_cursor as {self.place}."
        if self.narrowing:
            return f"Narrow with {', '.join(self.narrowing)}."
        return f"No argument returns the rest here: GET {self.path} does."


class _List:
    """A list of a document, whose rows are as they are written until they are opened."""

    def __init__(self, name: str, rows: list[Any]) -> None:
        self.name = name
        self.rows = rows
        self.count = len(rows)
        # With the commas.
        self.size = sum(len(bytes(row)) + 1 for row in rows)

    def drop(self) -> int:
        """Drop the last row, or the oldest, and return its size."""
        place = 0 if self.name in _OLDEST_FIRST else -1
        dropped = len(bytes(self.rows.pop(place))) + 1
        self.size -= dropped
        return dropped


def cut_lists(body: bytes, continuation: Continuation) -> list[str]:
    """Return the body. If it is too long, return it without the ends of its lists, and a text about these.

    A list with the newest row last loses its oldest. The longest list is cut first. Numbers stay as they are
    written.
    """
    if len(body) <= MAX_BYTES:
        return [body.decode()]
    document = _opened(msgspec.Raw(body))
    lists = list(_lists(document))
    excess = len(body) - MAX_BYTES + _NOTES_BYTES
    while excess > 0 and any(each.size for each in lists):
        longest = max(lists, key=lambda each: each.size)
        inner = []
        if len(longest.rows) == 1:
            # No list is left without a row if one within the row can be cut.
            row = _opened(longest.rows[0])
            inner = [each for each in _lists(row, longest.name) if each.count > 1]
        if inner:
            longest.rows[0], longest.size = row, 0
            lists += inner
        else:
            excess -= longest.drop()
    short = [each for each in lists if len(each.rows) < each.count]
    if any(continuation.pages in (each.name, "") for each in short):
        _leave_out_cursors(document)
    notes = [
        f"{each.count - len(each.rows)} of {each.count} rows of {each.name}"
        f"{', the oldest,' if each.name in _OLDEST_FIRST else ''} are left out here."
        f" {continuation.advice(each.name, len(each.rows))}"
        for each in short
    ]
    return [msgspec.json.encode(document).decode(), " ".join(notes)]


def _opened(raw: msgspec.Raw) -> Any:
    """Return an object with its members opened, a list with its rows as they are written, else the value."""
    first = bytes(raw)[:1]
    if first == b"{":
        members = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
        return {name: _opened(value) for name, value in members.items()}
    return msgspec.json.decode(raw, type=list[msgspec.Raw]) if first == b"[" else raw


def _lists(opened: Any, name: str = "") -> Iterator[_List]:
    if isinstance(opened, dict):
        for member, value in opened.items():
            yield from _lists(value, member)
    elif isinstance(opened, list):
        yield _List(name, opened)


def _leave_out_cursors(opened: Any) -> None:
    """Remove the cursors of the next page, which lead past the rows that are left out."""
    if isinstance(opened, dict):
        opened.pop("next_cursor", None)
        for value in opened.values():
            _leave_out_cursors(value)
