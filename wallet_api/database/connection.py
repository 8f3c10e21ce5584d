"""Connections to PostgreSQL, to a single server or to a Citus cluster."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from functools import cached_property
from typing import Any, LiteralString

import psycopg
from psycopg.abc import Query
from psycopg.adapt import Transformer
from psycopg.pq import ConnStatus, ExecStatus, TransactionStatus
from psycopg.pq.abc import PGresult
from psycopg.rows import dict_row

from wallet_api.database.failures import DuplicateKey, UnknownShards, translated
from wallet_api.database.statements import Statement, numbered, sharded_sql

Row = dict[str, Any]

# libpq takes no less; a host that drops packets is tried again before its own retransmission would.
CONNECT_TIMEOUT_SECONDS = 2


# Each needs the schema that migrations/placement.py creates in a cluster.
_ON_OWN_SHARD = """
SELECT *
  FROM wallet_api_shards.run_on_shard(%(wallet_id)s, %(statement)s, %(arguments)s) AS own
"""
_ON_EACH_SHARD = """
SELECT own.rows
  FROM wallet_api_shards.each_shard
 CROSS JOIN LATERAL wallet_api_shards.run_on_shard(each_shard.wallet_id, %(statement)s, %(arguments)s)
            AS own (rows text)
"""
_AS_JSON = "SELECT json_agg(own)::text AS rows FROM ({statement}) AS own"
_SHARDS = "SELECT count(*) AS shards FROM pg_dist_shard WHERE logicalrelid = 'public.trades'::regclass"
_COLUMNS = """
SELECT '(' || string_agg(quote_ident(name) || ' ' || format_type(type, NULL), ', ' ORDER BY place) || ')'
           AS columns
  FROM unnest(%(names)s::text[], %(types)s::oid[]) WITH ORDINALITY AS described (name, type, place)
"""


class Connection(psycopg.Connection[Row]):
    """psycopg's, with a shorter way to run the statements of most requests."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._transformer = Transformer(self)
        self._columns: dict[bytes, list[str]] = {}  # of each prepared statement
        self._calls: dict[bytes, LiteralString] = {}  # of run_on_shard for it

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
        return sharded_sql(statement) if isinstance(statement, str) and self.is_sharded else statement

    def fetch_row(self, statement: LiteralString, parameters: Mapping[str, Any]) -> Row | None:
        """Return the first row of a statement of `load_sql`, or None. It is prepared at its first use.

        execute() takes several steps through libpq, and waits for the interpreter lock after each while other
        threads are busy. This is one step, which blocks until the result is there. What that is worth:
        docs/benchmarks-http.md, "What was measured alone".
        """
        own = numbered(self._own(statement))
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

    def fetch_own_row(self, statement: LiteralString, parameters: Mapping[str, Any]) -> Row | None:
        """Return the first row of a statement that reads rows of one wallet alone, whose id is `wallet_id`.

        It may read tables of which each worker of a cluster has a copy too.
        """
        # Citus delegates no call within a transaction.
        if not self.is_sharded or self.info.transaction_status != TransactionStatus.IDLE:
            return self.fetch_row(statement, parameters)
        own = numbered(self._own(statement))
        call = self._calls.get(own.name)
        if call is None:
            call = self._calls[own.name] = _ON_OWN_SHARD + self._columns_of(own)
        return self.fetch_row(
            call, {"wallet_id": parameters["wallet_id"], **self._for_shards(own, parameters)}
        )

    def fetch_by_wallet(self, statement: LiteralString, parameters: Mapping[str, Any]) -> list[Row]:
        """Return the rows of a statement, in any order, each of which is made of rows of one wallet alone.

        It may read tables of which each worker of a cluster has a copy too. There, numbers are decimals,
        and what JSON has no form for is text. Raises UnknownShards.
        """
        if not self.is_sharded:
            return self.execute(statement, parameters).fetchall()
        own = numbered(_AS_JSON.replace("{statement}", self._own(statement)))
        parts = self.execute(_ON_EACH_SHARD, self._for_shards(own, parameters)).fetchall()
        if len(parts) != self.fetch_value(_SHARDS):
            raise UnknownShards
        return [
            row
            for part in parts
            for row in json.loads(part["rows"] or "[]", parse_float=Decimal, parse_int=Decimal)
        ]

    def _for_shards(self, own: Statement, parameters: Mapping[str, Any]) -> dict[str, Any]:
        values = [parameters[name] for name in own.parameters]
        arguments = self._transformer.dump_sequence(values, own.formats)
        return {
            "statement": own.text.decode(),
            "arguments": [None if value is None else bytes(value).decode() for value in arguments],
        }

    def _columns_of(self, own: Statement) -> LiteralString:
        with self.lock:
            self._checked(self.pgconn.prepare(b"", own.text))
            result = self._checked(self.pgconn.describe_prepared(b""))
        names = [(result.fname(number) or b"").decode() for number in range(result.nfields)]
        types = [result.ftype(number) for number in range(result.nfields)]
        columns: LiteralString = self.fetch_value(_COLUMNS, {"names": names, "types": types})
        return columns

    def _checked(self, result: PGresult) -> PGresult:
        if result.status in (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK):
            return result
        if self.pgconn.status == ConnStatus.BAD:
            raise psycopg.OperationalError("the connection is lost")
        raise psycopg.errors.error_from_result(result)


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
