"""Connections to PostgreSQL: a pool to read, one to write; the only place that meets psycopg's errors."""

import math
import re
import select
import time
from collections import deque
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
from psycopg_pool import ConnectionPool, PoolTimeout

from wallet_api.errors import ServiceUnavailable
from wallet_api.leadership import give_up_lead
from wallet_api.settings import Settings

Row = dict[str, Any]

# libpq takes no less; a host that drops packets is tried again before its own retransmission would.
CONNECT_TIMEOUT_SECONDS = 2
POOL_TIMEOUT_SECONDS = 2.0
# How long a call waits for a connection while the server is known to be away.
AWAY_TIMEOUT_SECONDS = 0.05
# Whoever asks a server that answers sooner keeps the lead: to hand it over takes longer than to wait.
_NEAR_SECONDS = 0.0005
_ROUND_TRIPS = 5
# A server that vanished without a word is noticed within about this time; a socket file ignores it.
_KEEPALIVES = {
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}


class DatabaseUnavailable(ServiceUnavailable):
    """The database cannot be reached right now. Try again shortly."""


class QueryTimeout(ServiceUnavailable):
    """The answer took too long to make. Try again shortly."""


def load_sql(package: str, name: str) -> LiteralString:
    """The text of `name`.sql beside the modules of `package`, without comments and indentation.

    One whole statement; psycopg looks for the parameters of one longer than 4,096 characters at every call.
    """
    text = resources.files(package).joinpath(f"{name}.sql").read_text(encoding="utf-8")
    lines = [line.strip() for line in text.splitlines()]
    # Our own packaged files are as trusted as literals, which is all psycopg takes as a query.
    return "\n".join(line for line in lines if line and not line.startswith("--"))


class Connection(psycopg.Connection[Row]):
    """psycopg's, with a shorter way for the statements that nearly every call asks."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._transformer = Transformer(self)
        self._statements: set[bytes] = set()
        self._looker = select.poll()
        self._looker.register(self.pgconn.socket, select.POLLIN)

    @property
    def has_news(self) -> bool:
        """Whether the server has sent something unasked. To an idle connection it does so when it ends it."""
        return bool(self._looker.poll(0))

    def ask(self, statement: LiteralString, parameters: Mapping[str, Any]) -> Row | None:
        """The first row of what `load_sql` has loaded, or None if there is no row; prepared at its first use.

        execute() goes through libpq in half a dozen steps, and waits for its turn in Python after each when
        other threads are busy. This is one step, which blocks until the answer is there.
        """
        asked = _asked(statement)
        values = self._transformer.dump_sequence(
            [parameters[name] for name in asked.parameters], [PyFormat.TEXT] * len(asked.parameters)
        )
        with self.lock:
            if asked.name not in self._statements:
                self._checked(self.pgconn.prepare(asked.name, asked.text))
                self._statements.add(asked.name)
            # The declared type forgets that a parameter may be NULL.
            result = self._checked(self.pgconn.exec_prepared(asked.name, values))  # type: ignore[arg-type]
            self._transformer.set_pgresult(result)
            row = self._transformer.load_row(0, tuple) if result.ntuples else None
            # It may be large, and the connection lives on.
            self._transformer.set_pgresult(None)
        if row is None:
            return None
        names = ((result.fname(number) or b"").decode() for number in range(result.nfields))
        return dict(zip(names, row, strict=True))

    def _checked(self, result: PGresult) -> PGresult:
        if result.status in (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK):
            return result
        if self.pgconn.status == ConnStatus.BAD:
            raise psycopg.OperationalError("the connection is lost")
        raise psycopg.errors.error_from_result(result)


class _Asked(NamedTuple):
    """A statement with its parameters numbered, as PostgreSQL takes them."""

    name: bytes
    text: bytes
    parameters: tuple[str, ...]


_PARAMETER = re.compile(r"%\((\w+)\)s")
_numbers = count(1)


@cache
def _asked(statement: LiteralString) -> _Asked:
    names = tuple(dict.fromkeys(_PARAMETER.findall(statement)))
    text = _PARAMETER.sub(lambda found: f"${names.index(found[1]) + 1}", statement)
    return _Asked(b"wallet_api_%d" % next(_numbers), text.encode(), names)


class Database:
    """The pools of one process. Connections are in autocommit: a single statement is a single snapshot.

    Made inside the worker, after the fork, since neither sockets nor the pool's threads survive one.
    """

    def __init__(self, settings: Settings) -> None:
        url = settings.database_url
        if url is None:
            raise ValueError("Database needs settings.database_url")
        # To plan a statement of ours anew takes longer than to run it, and always ends with the same plan.
        options = (
            f"-c statement_timeout={int(settings.statement_timeout_seconds * 1000)}"
            " -c plan_cache_mode=force_generic_plan"
        )
        self._writes = _Pool(url, options, settings.web_threads)
        self._reads = _Pool(
            settings.database_read_url or url,
            f"{options} -c default_transaction_read_only=on",
            settings.web_threads,
        )

    def read(self) -> "_Loan":
        """A connection that can change nothing, for a `with`. Raises DatabaseUnavailable, QueryTimeout."""
        return _Loan(self._reads)

    def write(self) -> "_Loan":
        """A connection to the primary, for a `with`. Raises DatabaseUnavailable, QueryTimeout."""
        return _Loan(self._writes)

    def close(self) -> None:
        """Close all connections; the pools cannot be used again."""
        self._reads.close()
        self._writes.close()


class DuplicateKey(Exception):
    """A row to be added has the key of one that is there."""


@contextmanager
def savepoint(connection: Connection) -> Iterator[None]:
    """A part of a transaction that is undone alone. Raises DuplicateKey."""
    try:
        with connection.transaction():
            yield
    except psycopg.errors.UniqueViolation as error:
        raise DuplicateKey from error


def connect(url: str, **options: Any) -> Connection:
    """A connection outside the pools, for commands that work long: no statement timeout, autocommit.

    Raises DatabaseUnavailable.
    """
    with translated():
        return Connection.connect(
            url, autocommit=True, row_factory=dict_row, connect_timeout=CONNECT_TIMEOUT_SECONDS, **options
        )


class _Stack(deque[Connection]):
    """Idle connections, of which the one that was used last is lent first.

    psycopg lends them in turn, and has no setting for that. Each is a process of the server: lent in turn,
    one needs a fifth more time for a history, since what it used last has left the caches meanwhile.
    """

    def popleft(self) -> Connection:
        """The one that was put back last."""
        return self.pop()


class _Pool:
    """Connections to one server, or the first of several that will do; never one that is dead."""

    def __init__(self, url: str, options: str, size: int) -> None:
        self._away = False
        self._round_trip_seconds = math.inf
        self._pool = ConnectionPool(
            url,
            connection_class=Connection,
            kwargs={
                "autocommit": True,
                "row_factory": dict_row,
                # There are few statements, and all come again.
                "prepare_threshold": 0,
                "connect_timeout": CONNECT_TIMEOUT_SECONDS,
                "options": options,
                "application_name": "wallet-api",
                **_KEEPALIVES,
            },
            min_size=1,
            max_size=size,
            timeout=POOL_TIMEOUT_SECONDS,
            # Given up at once, so that the next call tries anew instead of waiting for a growing back-off.
            reconnect_timeout=0.2,
            reconnect_failed=self._note_failure,
            configure=self._measure,
            check=self._check,
            open=False,
        )
        self._pool._pool = _Stack()
        self._pool.open()

    def take(self) -> Connection:
        """A connection, waited for; but while the server is away only the first call waits long."""
        if self._round_trip_seconds > _NEAR_SECONDS:
            give_up_lead()
        wait_seconds = AWAY_TIMEOUT_SECONDS if self._away else POOL_TIMEOUT_SECONDS
        try:
            connection = self._pool.getconn(wait_seconds)
        except PoolTimeout:
            self._away = True
            raise
        self._away = False
        return connection

    def take_back(self, connection: Connection) -> None:
        """Lend it to the next who takes one."""
        self._pool.putconn(connection)

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()

    def _measure(self, connection: Connection) -> None:
        # The shortest of several, since this process may be busy.
        for _ in range(_ROUND_TRIPS):
            start = time.perf_counter()
            connection.ask("SELECT", {})
            self._round_trip_seconds = min(self._round_trip_seconds, time.perf_counter() - start)

    def _note_failure(self, pool: ConnectionPool[Connection]) -> None:
        self._away = True
        self._round_trip_seconds = math.inf

    def _check(self, connection: Connection) -> None:
        # Looking costs no round trip.
        if connection.has_news:
            connection.close()
            self._round_trip_seconds = math.inf
            # The others died with it, and are told by their silence too: all are made anew in one go.
            self._pool.check()
            raise psycopg.OperationalError("the server has ended the connection")


class _Loan:
    """A pool's connection, taken and given back by a `with`; a generator would take as long as the pool."""

    def __init__(self, pool: _Pool) -> None:
        self._pool = pool

    def __enter__(self) -> Connection:
        try:
            self._connection = self._pool.take()
        except psycopg.Error:
            with translated():
                raise
        return self._connection

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._pool.take_back(self._connection)
        if isinstance(error, psycopg.Error):
            with translated():
                raise error


@contextmanager
def translated() -> Iterator[None]:
    """Turn the driver's errors into DatabaseUnavailable or QueryTimeout."""
    try:
        yield
    except psycopg.errors.QueryCanceled as error:
        raise QueryTimeout from error
    except (
        psycopg.OperationalError,
        psycopg.InterfaceError,
        # A primary that became a standby under us.
        psycopg.errors.ReadOnlySqlTransaction,
        PoolTimeout,
    ) as error:
        raise DatabaseUnavailable from error
