"""Connections to PostgreSQL outside the pools, and the loading of statements."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, cached_property
from importlib import resources
from itertools import count
from typing import Any, LiteralString, NamedTuple

import psycopg
from psycopg.abc import Query
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import ConnStatus, ExecStatus
from psycopg.pq.abc import PGresult
from psycopg.rows import dict_row

from wallet_api.database.failures import DuplicateKey, translated

Row = dict[str, Any]

_INCLUDED = re.compile(r"^\{(\w+)\}", re.MULTILINE)
# What a Citus cluster runs in place of a statement that it does not support, by the latter's text.
_SHARDED: dict[str, LiteralString] = {}

# libpq takes no less; a host that drops packets is tried again before its own retransmission would.
CONNECT_TIMEOUT_SECONDS = 2


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


def edit_sql(statement: LiteralString, edit: Callable[[LiteralString], LiteralString]) -> LiteralString:
    """Return a statement of `load_sql` changed by `edit`, and so what a Citus cluster runs instead."""
    edited = edit(statement)
    if statement in _SHARDED:
        _SHARDED[edited] = edit(_SHARDED[statement])
    return edited


def sharded_sql(statement: LiteralString) -> LiteralString:
    """Return what a Citus cluster runs for a statement of `load_sql`."""
    return _SHARDED.get(statement, statement)


def _load(package: str, name: str, *, sharded: bool) -> LiteralString:
    file = resources.files(package).joinpath(f"{name}.sql")
    if sharded:
        own = resources.files(package).joinpath(f"{name}_sharded.sql")
        file = own if own.is_file() else file
    lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
    statement = "\n".join(line for line in lines if line and not line.startswith("--"))
    # Our own packaged files are as trusted as literals, which is all psycopg takes as a query.
    return _INCLUDED.sub(lambda found: _load(package, found[1], sharded=sharded), statement)


class Connection(psycopg.Connection[Row]):
    """psycopg's, with a shorter way to run the statements of most requests."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._transformer = Transformer(self)
        self._columns: dict[bytes, list[str]] = {}  # of each prepared statement

    @cached_property
    def is_sharded(self) -> bool:
        """Whether this is the database of a Citus cluster."""
        return super().execute("SELECT FROM pg_extension WHERE extname = 'citus'").fetchone() is not None

    def execute(self, query: Query, *arguments: Any, **options: Any) -> psycopg.Cursor[Row]:
        """Execute psycopg's query, or what stands for a statement of `load_sql` in a Citus cluster."""
        return super().execute(self._own(query), *arguments, **options)

    def fetch_value(self, query: Query, parameters: Mapping[str, Any] | None = None) -> Any:
        """Execute a query, and return the first column of its first row; None without rows."""
        row = self.execute(query, parameters).fetchone()
        return None if row is None else next(iter(row.values()))

    def _own(self, statement: Any) -> Any:
        is_other = isinstance(statement, str) and statement in _SHARDED and self.is_sharded
        return _SHARDED[statement] if is_other else statement

    def fetch_row(self, statement: LiteralString, parameters: Mapping[str, Any]) -> Row | None:
        """Return the first row of a statement of `load_sql`, or None. It is prepared at its first use.

        execute() takes several steps through libpq, and waits for the interpreter lock after each while other
        threads are busy. This is one step, which blocks until the result is there. What that is worth:
        docs/benchmarks-http.md, "What was measured alone".
        """
        own = _prepared(self._own(statement))
        values = self._transformer.dump_sequence(
            list(map(parameters.__getitem__, own.parameters)), own.formats
        )
        with self.lock:
            columns = self._columns.get(own.name)
            if columns is None:
                self._checked(self.pgconn.prepare(own.name, own.text))
                columns = self._columns[own.name] = []
            # The declared type leaves out that a parameter may be NULL.
            result = self._checked(self.pgconn.exec_prepared(own.name, values))  # type: ignore[arg-type]
            if not columns:
                # Describing the statement first would block all threads meanwhile.
                columns += [(result.fname(number) or b"").decode() for number in range(result.nfields)]
            self._transformer.set_pgresult(result)
            row = self._transformer.load_row(0, tuple) if result.ntuples else None
            # It may be large, and the connection lives on.
            self._transformer.set_pgresult(None)
        return None if row is None else dict(zip(columns, row, strict=True))

    def _checked(self, result: PGresult) -> PGresult:
        if result.status in (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK):
            return result
        if self.pgconn.status == ConnStatus.BAD:
            raise psycopg.OperationalError("the connection is lost")
        raise psycopg.errors.error_from_result(result)


class _Statement(NamedTuple):
    """A statement with its parameters numbered, as PostgreSQL takes them."""

    name: bytes
    text: bytes
    parameters: tuple[str, ...]
    formats: list[PyFormat]


_PARAMETER = re.compile(r"%\((\w+)\)s")
_numbers = count(1)


@cache
def _prepared(statement: LiteralString) -> _Statement:
    names = tuple(dict.fromkeys(_PARAMETER.findall(statement)))
    text = _PARAMETER.sub(lambda found: f"${names.index(found[1]) + 1}", statement)
    return _Statement(b"wallet_api_%d" % next(_numbers), text.encode(), names, [PyFormat.TEXT] * len(names))


def connect(url: str, **options: Any) -> Connection:
    """Connect outside the pools, for commands that run long: autocommit, no statement timeout.

    Raises DatabaseUnavailable.
    """
    own: dict[str, Any] = {
        "application_name": "wallet-api command",
        "connect_timeout": CONNECT_TIMEOUT_SECONDS,
    }
    with translated():
        return Connection.connect(url, autocommit=True, row_factory=dict_row, **own | options)


@contextmanager
def savepoint(connection: Connection) -> Iterator[None]:
    """Roll back a part of a transaction alone if it fails. Raises DuplicateKey."""
    try:
        with connection.transaction():
            yield
    except (psycopg.errors.UniqueViolation, psycopg.errors.InternalError_) as error:
        # The code that Citus gives to what a COPY to a worker says.
        if error.diag.sqlstate == "XX000" and "duplicate key" not in str(error):
            raise
        raise DuplicateKey from error
