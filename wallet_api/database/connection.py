"""Connections to PostgreSQL outside the pools, and the loading of statements."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import resources
from itertools import count
from typing import Any, LiteralString, NamedTuple

import psycopg
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import ConnStatus, ExecStatus
from psycopg.pq.abc import PGresult
from psycopg.rows import dict_row

from wallet_api.database.failures import DuplicateKey, translated

Row = dict[str, Any]

_INCLUDED = re.compile(r"^\{(\w+)\}", re.MULTILINE)

# libpq takes no less; a host that drops packets is tried again before its own retransmission would.
CONNECT_TIMEOUT_SECONDS = 2


def load_sql(package: str, name: str) -> LiteralString:
    """Return the text of `name`.sql beside the modules of `package`, without comments and indentation.

    A line `{other}` or `{other},` stands for the text of `other`.sql beside it.

    psycopg parses a statement longer than 4,096 characters at each execution.
    """
    text = resources.files(package).joinpath(f"{name}.sql").read_text(encoding="utf-8")
    lines = [line.strip() for line in text.splitlines()]
    statement = "\n".join(line for line in lines if line and not line.startswith("--"))
    # Our own packaged files are as trusted as literals, which is all psycopg takes as a query.
    return _INCLUDED.sub(lambda found: load_sql(package, found[1]), statement)


class Connection(psycopg.Connection[Row]):
    """psycopg's, with a shorter way to run the statements of most requests."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._transformer = Transformer(self)
        self._columns: dict[bytes, list[str]] = {}  # of each prepared statement

    def fetch_row(self, statement: LiteralString, parameters: Mapping[str, Any]) -> Row | None:
        """Return the first row of a statement of `load_sql`, or None. It is prepared at its first use.

        execute() takes several steps through libpq, and waits for the interpreter lock after each while other
        threads are busy. This is one step, which blocks until the result is there. What that is worth:
        docs/benchmarks-http.md, "What was measured alone".
        """
        own = _prepared(statement)
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
    except psycopg.errors.UniqueViolation as error:
        raise DuplicateKey from error
