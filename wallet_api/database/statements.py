"""The statements in .sql files, and what a Citus cluster runs in their place."""

import re
from importlib import resources
from typing import LiteralString

_NAME = re.compile(r"^-- (\w+) --$", re.MULTILINE)
_INCLUDED = re.compile(r"^\{(\w+)\}", re.MULTILINE)
# What a Citus cluster runs in place of a statement that it does not support, by the latter's text.
_SHARDED: dict[str, LiteralString] = {}


def load_sql(package: str, name: str) -> LiteralString:
    """Return the text of `name`.sql beside the modules of `package`, without comments and indentation.

    A line `{other}` or `{other},` stands for the text of `other`.sql beside it. A Citus cluster runs
    `name`_sharded.sql instead, if there is one; the same for `other`.

    psycopg parses a statement longer than 4,096 characters at each execution.
    """
    statement = _load(package, name, sharded=False)
    sharded = _load(package, name, sharded=True)
    if sharded != statement:
        _SHARDED[statement] = sharded
    return statement


def load_statements(package: str, name: str) -> dict[str, LiteralString]:
    """Return the statements of a file that has several, by name, in their order.

    A line `-- name --` begins a statement, which ends with a semicolon. The text before the first name heads
    the file.
    """
    text = resources.files(package).joinpath(f"{name}.sql").read_text(encoding="utf-8")
    _, *parts = _NAME.split(text)
    return {
        part: _statement(package, body.rstrip().removesuffix(";"), sharded=False)
        for part, body in zip(parts[::2], parts[1::2], strict=True)
    }


def sharded_sql(statement: LiteralString) -> LiteralString:
    """Return what a Citus cluster runs for a statement of `load_sql`."""
    return _SHARDED.get(statement, statement)


def _load(package: str, name: str, *, sharded: bool) -> LiteralString:
    file = resources.files(package).joinpath(f"{name}.sql")
    if sharded:
        own = resources.files(package).joinpath(f"{name}_sharded.sql")
        file = own if own.is_file() else file
    return _statement(package, file.read_text(encoding="utf-8"), sharded=sharded)


def _statement(package: str, text: str, *, sharded: bool) -> LiteralString:
    lines = [line.strip() for line in text.splitlines()]
    statement = "\n".join(line for line in lines if line and not line.startswith("--"))
    # Our own packaged files are as trusted as literals, which is all psycopg takes as a query.
    return _INCLUDED.sub(lambda found: _load(package, found[1], sharded=sharded), statement)
