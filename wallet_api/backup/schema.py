"""The names of this service's tables, functions and types, and the migrations that create them."""

import re
from functools import cache
from importlib import resources

from wallet_api import migrations

SCHEMA = "public"
MIGRATIONS_TABLE = "schema_migrations"

_CREATED = re.compile(r"^CREATE (TABLE|FUNCTION|AGGREGATE|TYPE) (?:IF NOT EXISTS )?(\w+)", re.MULTILINE)


@cache
def names() -> frozenset[str]:
    """Return the names of all objects that this version creates in the schema."""
    created = {name for migration in migrations.available() for _, name in _created(migration)}
    return frozenset({MIGRATIONS_TABLE} | created)


def tables_of(recorded: frozenset[str]) -> frozenset[str]:
    """Return the tables that a dump with these recorded migrations must contain."""
    created = {created for migration in recorded for created in _created(migration)}
    return frozenset({MIGRATIONS_TABLE} | {name for kind, name in created if kind == "TABLE"})


def _created(migration: str) -> list[tuple[str, str]]:
    return _CREATED.findall(resources.files(migrations).joinpath(f"{migration}.sql").read_text())
