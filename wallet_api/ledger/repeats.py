"""Warnings about wallets that a file has more than once, with different values."""

from collections.abc import Iterable, Iterator, Sequence

from wallet_api.database import Row

# Further wallets are only counted, and further lines left out.
_MAX_WARNINGS = 10
_MAX_LINES = 5


def repeated_wallets(rows: Sequence[Row]) -> list[str]:
    """Return a text for each of the first such wallets, and the number of the others."""
    texts = [_warning(row) for row in rows[:_MAX_WARNINGS]]
    more = len(rows) - len(texts)
    return [*texts, f"the same holds for {more} more wallets"] if more else texts


def _warning(row: Row) -> str:
    types = f"type ({', '.join(_shortened(dict.fromkeys(row['types'])))})" if row["types"] else None
    fields = ", ".join([*([types] if types else []), *row["fields"]])
    lines = ", ".join(_shortened(row["lines"]))
    return (
        f"wallet {row['address']} on {row['blockchain']} is in lines {lines} with a different {fields};"
        " the last one is used"
    )


def _shortened(values: Iterable[object]) -> Iterator[str]:
    for place, value in enumerate(values):
        if place == _MAX_LINES:
            yield "…"
            return
        yield str(value)
