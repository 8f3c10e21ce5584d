"""The statements in .sql files."""

import re
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import LiteralString

from wallet_api.base.chains import WALLET_TYPES

_HEADING = re.compile(r"^-- (\w+) --$", re.MULTILINE)
_INCLUDED = re.compile(r"^\{(?:(\w+)\.)?(\w+)(?:: (.+))?\}", re.MULTILINE)
# Names that statements have a column for each of.
_NAMES: Mapping[str, Sequence[str]] = {"wallet_types": WALLET_TYPES}
_COLUMN = re.compile(r"^(.+) AS (\w+),?$", re.MULTILINE)


def load_sql(package: str, name: str) -> LiteralString:
    """Return the text of `name`.sql beside the modules of `package`, without comments and indentation.

    A line `{other}` or `{other},` stands for the text of `other`.sql beside it, and `{ledger.other}` for that
    of a file in another folder. `{other: sum($) AS $}` stands for its columns: for each of them this text,
    with its name in place of $, and its expression in place of @. `{wallet_types: …}` has a column for
    each type of wallets. `{lists: one other}` ends a statement of lists, as fetch_lists() reads them, after
    its CTE head, of one row with the place 1, and CTEs of these names, by place. It returns all side by side,
    but no row without a head, and in any order: to sort rows of all columns takes longer than to sort lists.
    """
    return _statement(package, _read(package, name))


def load_statements(package: str, name: str) -> dict[str, LiteralString]:
    """Return the statements of a file that has several, by name, in their order.

    A line `-- name --` begins a statement, which ends with a semicolon. The text before the first name heads
    the file.
    """
    _, *parts = _HEADING.split(_read(package, name))
    return {
        part: _statement(package, body.rstrip().removesuffix(";"))
        for part, body in zip(parts[::2], parts[1::2], strict=True)
    }


def _read(package: str, name: str) -> str:
    return resources.files(package).joinpath(f"{name}.sql").read_text(encoding="utf-8")


def _statement(package: str, text: str) -> LiteralString:
    lines = [line.strip() for line in text.splitlines()]
    statement = "\n".join(line for line in lines if line and not line.startswith("--"))
    # Our own packaged files are as trusted as literals, which is all psycopg takes as a query.
    return _INCLUDED.sub(lambda found: _included(package, *found.groups()), statement)


def _included(package: str, folder: str | None, name: str, column: str | None) -> LiteralString:
    if column is not None and name == "lists":
        return _side_by_side(["head", *column.split()])
    if column is not None and name in _NAMES:
        return ",\n".join(column.replace("$", each) for each in _NAMES[name])
    text = load_sql(f"wallet_api.{folder}" if folder else package, name)
    if column is None:
        return text
    # In this order, since an expression may have a $ of its own, and a name has no @.
    return ",\n".join(column.replace("$", own).replace("@", of_it) for of_it, own in _COLUMN.findall(text))


def _side_by_side(ctes: Sequence[str]) -> LiteralString:
    return "\n".join(
        [
            f"SELECT {', '.join(f'{cte}.*' for cte in ctes)}",
            "FROM head",
            *(f"FULL JOIN {cte} USING (place)" for cte in ctes[1:]),
            "WHERE EXISTS (SELECT FROM head)",
        ]
    )
