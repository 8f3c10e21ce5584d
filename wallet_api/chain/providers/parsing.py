"""Read the rows of a provider's response: its pages, objects and harmless texts."""

import json
import math
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec

from wallet_api.base.forms import visible
from wallet_api.chain.decoding.amounts import UnusableRow
from wallet_api.chain.providers.faults import Malformed, TooLarge
from wallet_api.chain.providers.fetch import Fetch

Content = TypeVar("Content")

MAX_TEXT = 128


def read_row(raw: msgspec.Raw) -> dict[str, Any]:
    """Return one object of a list, its fractions as text. Raise UnusableRow."""
    try:
        row = json.loads(bytes(raw).decode("utf-8", "replace"), parse_float=str)
    except (ValueError, RecursionError) as error:
        raise UnusableRow("a row is not JSON") from error
    if not isinstance(row, dict):
        raise UnusableRow("a row is not an object")
    return row


def read_rows(
    rows: Iterable[msgspec.Raw], read: Callable[[dict[str, Any]], Content | None], fetch: Fetch
) -> list[Content]:
    """Return what is read of the rows, but for None. Those that raise UnusableRow are counted in `fetch`."""
    contents = []
    for row in rows:
        try:
            content = read(read_row(row))
        except UnusableRow as error:
            fetch.left_out += 1
            fetch.remark = fetch.remark or str(error)
        else:
            if content is not None:
                contents.append(content)
    return contents


def has_next(cursor: str | None, seen: set[str], most: float = math.inf) -> bool:
    """Return whether there is a next page, at `cursor`, and add that to those which were seen.

    Raise Malformed if it repeats, and TooLarge for the page after the `most`.
    """
    if not cursor:
        return False
    if cursor in seen:
        raise Malformed("a cursor came twice")
    seen.add(cursor)
    if len(seen) >= most:
        raise TooLarge(f"over {most} pages")
    return True


def read_flag(value: Any) -> bool:
    """Return whether `value` is true or the text "true", which some endpoints send."""
    return value is True or (isinstance(value, str) and value.lower() == "true")


def clean(value: Any) -> str:
    """Return an untrusted text as one line of at most 128 visible characters; "" if `value` is not a text.

    Control and format characters are removed, such as NUL, which PostgreSQL refuses, and those that change
    the direction of text.
    """
    if not isinstance(value, str):
        return ""
    return visible(value[: 4 * MAX_TEXT]).strip()[:MAX_TEXT].strip()
