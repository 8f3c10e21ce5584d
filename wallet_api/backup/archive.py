"""The contents of a dump, as `pg_restore --list` reports them."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from wallet_api import migrations
from wallet_api.backup.access import plain_environment
from wallet_api.backup.errors import BackupError
from wallet_api.backup.programs import Programs
from wallet_api.backup.schema import MIGRATIONS_TABLE, SCHEMA, names, tables_of

_MAGIC = b"PGDMP"
_ENTRY = re.compile(r"\d+; \d+ \d+ (?P<kind>[A-Z]+(?: [A-Z]+)*) (?P<schema>\S+) (?P<tag>.*)")
_SERVER = re.compile(r"^; +Dumped from database version: (\d+)", re.MULTILINE)
_NAMED_KINDS = {"TABLE", "TABLE DATA", "FUNCTION", "AGGREGATE", "TYPE"}
# Entries that belong to a table or to a column of one.
_DEPENDENT_KINDS = {"CONSTRAINT", "CHECK CONSTRAINT", "FK CONSTRAINT", "DEFAULT", "INDEX"}
_DEPENDENT_KINDS |= {"SEQUENCE", "SEQUENCE OWNED BY", "SEQUENCE SET"}
# Left out without being reported.
_UNWANTED_KINDS = {"ACL", "DEFAULT ACL", "COMMENT", "SCHEMA", "EXTENSION", "STATISTICS DATA"}


@dataclass(frozen=True)
class Archive:
    """A dump: the major version of its server, the lines of its list to restore, and the names left out."""

    server_major: int
    wanted: str
    left_out: list[str]


@dataclass(frozen=True)
class _Entry:
    kind: str
    schema: str
    name: str
    line: str


def read_archive(file: IO[bytes], name: Path, programs: Programs) -> Archive:
    """Return the dump in `file`. Raises BackupError unless it is complete and this version can use it."""
    file.seek(0)
    if file.read(len(_MAGIC)) != _MAGIC:
        raise BackupError(
            f"{name} is not a backup: use a file of 'wallet-api backup' or 'pg_dump --format=custom'."
        )
    text = _pg_restore(file, name, programs, "--list")
    server = _SERVER.search(text)
    if server is None or "Format: CUSTOM" not in text:
        raise BackupError(
            f"{name} is not a dump in custom format: use 'wallet-api backup' or 'pg_dump --format=custom'."
        )
    entries = [_entry(found) for line in text.splitlines() if (found := _ENTRY.fullmatch(line))]
    recorded = _recorded_migrations(file, name, programs, entries)
    _check_tables(entries, recorded, name)
    wanted = [entry for entry in entries if _is_wanted(entry)]
    left_out = [
        f"{entry.kind.lower()} {entry.schema}.{entry.name}"
        for entry in entries
        if entry not in wanted and entry.kind not in _UNWANTED_KINDS
    ]
    return Archive(int(server[1]), "".join(f"{entry.line}\n" for entry in wanted), left_out)


def _pg_restore(file: IO[bytes], name: Path, programs: Programs, *arguments: str) -> str:
    file.seek(0)
    run = subprocess.run(
        [programs.path("pg_restore"), *arguments],
        stdin=file,
        capture_output=True,
        env=plain_environment(),
        check=False,
    )
    if run.returncode:
        reason = run.stderr.decode(errors="replace").strip().split("\n", 1)[0]
        raise BackupError(f"{name} cannot be read with pg_restore {programs.major}: {reason}")
    return run.stdout.decode(errors="replace")


def _entry(found: re.Match[str]) -> _Entry:
    return _Entry(found["kind"], found["schema"], re.split(r"[ (]", found["tag"], maxsplit=1)[0], found[0])


def _recorded_migrations(
    file: IO[bytes], name: Path, programs: Programs, entries: list[_Entry]
) -> frozenset[str]:
    if not any(
        (entry.kind, entry.schema, entry.name) == ("TABLE DATA", SCHEMA, MIGRATIONS_TABLE)
        for entry in entries
    ):
        raise BackupError(
            f"{name} is not a backup of this service: it contains no rows of {MIGRATIONS_TABLE}."
        )
    options = ("--data-only", f"--schema={SCHEMA}", f"--table={MIGRATIONS_TABLE}", "--file=-")
    copied = re.search(
        r"^COPY \S+ \((?P<columns>[^)]*)\) FROM stdin;\n(?P<rows>(?:.*\n)*?)\\\.$",
        _pg_restore(file, name, programs, *options),
        re.MULTILINE,
    )
    if copied is None or not copied["rows"]:
        raise BackupError(f"{name} does not record the version of its tables.")
    columns = copied["columns"].split(", ")
    rows = [dict(zip(columns, row.split("\t"), strict=True)) for row in copied["rows"].splitlines()]
    recorded = {row["name"]: row.get("checksum") for row in rows}
    if migrations.is_unreleased(recorded):
        raise BackupError(
            f"{name} is of a version before the first release, and cannot be restored. "
            "Import the files again."
        )
    newer = sorted(recorded.keys() - set(migrations.available()))
    if newer:
        raise BackupError(
            f"{name} is of a newer version of this service ({', '.join(newer)}). "
            "Update this installation first, then restore."
        )
    changed = sorted(
        migration for migration in recorded if recorded[migration] != migrations.checksum(migration)
    )
    if changed:
        raise BackupError(
            f"{name} was created with a modified migration ({', '.join(changed)}). "
            "Restore it with an unmodified release."
        )
    return frozenset(recorded)


def _check_tables(entries: list[_Entry], recorded: frozenset[str], name: Path) -> None:
    ours = [entry for entry in entries if entry.schema == SCHEMA]
    foreign = sorted(entry.name for entry in ours if entry.kind == "TABLE" and entry.name not in names())
    if foreign:
        raise BackupError(
            f"{name} contains tables that do not belong to this service ({', '.join(foreign)}). "
            f"Leave them out when dumping (--exclude-table={foreign[0]}), or restore it with pg_restore."
        )
    for kind, what in (("TABLE", "table"), ("TABLE DATA", "rows of the table")):
        missing = sorted(tables_of(recorded) - {entry.name for entry in ours if entry.kind == kind})
        if missing:
            raise BackupError(f"{name} is not a complete backup: the {what} {missing[0]} is missing.")


def _is_wanted(entry: _Entry) -> bool:
    if entry.schema != SCHEMA:
        return False
    return entry.kind in _DEPENDENT_KINDS or (entry.kind in _NAMED_KINDS and entry.name in names())
