"""The most rows of a response, and what it says of those that it leaves out."""

from typing import Any

# The largest page.
MAX_LIMIT = 1000


def limit_warnings(limit: int, most: int = MAX_LIMIT) -> list[str]:
    """Return the warning about a `limit` above the maximum; none for a smaller one."""
    return cap_warnings("limit", limit, most)


def cap_warnings(name: str, given: int, most: int) -> list[str]:
    """Return the warning about an argument above its maximum; none for a smaller one."""
    return [f"{name} was capped from {given} to {most}."] if given > most else []


def cut_warnings(shown: int, total: int, rows: str, which: str = "first") -> list[str]:
    """Return the warning about a list that ends before all of its rows; none for a whole one."""
    return [f"Only the {which} {shown} of {total} {rows} are shown."] if shown < total else []


def with_warnings(data: dict[str, Any], warnings: list[str]) -> dict[str, Any]:
    """Return the data of a response with its warnings, if there are any."""
    return data | {"warnings": warnings} if warnings else data
