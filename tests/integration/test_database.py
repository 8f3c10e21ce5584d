"""Connections to PostgreSQL: when statements are prepared, what ends them, and who blocks meanwhile."""

import socket
import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from typing import LiteralString
from urllib.parse import unquote

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.outages import socket_folder
from wallet_api import blocking
from wallet_api.database import (
    Connection,
    Database,
    DatabaseUnavailable,
    QueryTimeout,
    connect,
    translated,
)
from wallet_api.serving.leadership import Leadership
from wallet_api.settings import Settings

_TYPES: LiteralString = """
SELECT %(text)s::text AS text, %(text)s::text IS NULL AS missing, %(whole)s::bigint AS whole,
       %(amount)s::numeric AS amount, %(moment)s::timestamptz AS moment, %(flag)s::boolean AS flag
"""
_MOMENT = datetime(2026, 1, 2, 3, 4, 5, 600_000, tzinfo=UTC)


@pytest.mark.parametrize("text", [None, "", 'it\'s 100 % "é" \\ $1'])
@pytest.mark.parametrize("whole", [0, -1, 2**63 - 1, None])
def test_a_row_is_that_of_execute(connection: Connection, text: str | None, whole: int | None) -> None:
    parameters = {
        "text": text,
        "whole": whole,
        "amount": Decimal("0.000000000000000001234567890123456789"),
        "moment": _MOMENT,
        "flag": True,
    }
    expected = connection.execute(_TYPES, parameters).fetchone()
    for _ in range(3):
        assert connection.fetch_row(_TYPES, parameters) == expected


def test_no_row_is_none_and_of_several_the_first_comes(connection: Connection) -> None:
    query: LiteralString = "SELECT number FROM generate_series(1, %(last)s::integer) AS number"
    assert [connection.fetch_row(query, {"last": last}) for last in (0, 3, 0)] == [None, {"number": 1}, None]


def test_a_statement_is_prepared_at_its_first_use(database_url: str) -> None:
    query: LiteralString = "SELECT %(number)s::integer AS number"
    prepared: LiteralString = "SELECT count(*) AS count FROM pg_prepared_statements WHERE statement = %s"
    with closing(Database(Settings(database_url=database_url))) as database, database.read() as connection:
        for number in range(3):
            assert connection.fetch_row(query, {"number": number}) == {"number": number}
            counted = connection.execute(prepared, ["SELECT $1::integer AS number"]).fetchone()
            assert counted == {"count": 1}


def test_an_error_is_that_of_postgresql_and_the_connection_goes_on(connection: Connection) -> None:
    divided: LiteralString = "SELECT 1 / %(by)s::integer AS result"
    for by, expected in (
        (0, psycopg.errors.DivisionByZero),
        ("no", psycopg.errors.InvalidTextRepresentation),
    ):
        with pytest.raises(expected):
            connection.fetch_row(divided, {"by": by})
    unknown: LiteralString = "SELECT nothing_of_this_name FROM wallets"
    for _ in range(2):
        with pytest.raises(psycopg.errors.UndefinedColumn):
            connection.fetch_row(unknown, {})
    assert connection.fetch_row(divided, {"by": 1}) == {"result": 1}


def test_a_parameter_that_is_missing_is_told(connection: Connection) -> None:
    with pytest.raises(KeyError, match="number"):
        connection.fetch_row("SELECT %(number)s::integer", {})


def test_what_takes_too_long_ends_and_is_translated(connection: Connection) -> None:
    connection.execute("SET statement_timeout = 50")
    with pytest.raises(QueryTimeout), translated():
        connection.execute("SELECT pg_sleep(60)")


def test_a_connection_that_the_server_ends_is_unavailable(connection: Connection, database_url: str) -> None:
    with connect(database_url) as other:
        found = other.execute("SELECT pg_backend_pid() AS pid").fetchone()
        assert found is not None
        connection.execute("SELECT pg_terminate_backend(%s, 5000)", [found["pid"]])
        # The server's farewell is read first; after it there is only silence.
        for _ in range(2):
            with pytest.raises(DatabaseUnavailable), translated():
                other.execute("SELECT 1 AS one")
        assert other.closed


@contextmanager
def _farther(url: str, seconds: float) -> Iterator[str]:
    """The address of the same database, where everything that is sent to it arrives so much later."""
    folder = unquote(socket_folder(url))

    def pass_on(source: socket.socket, target: socket.socket, later: float) -> None:
        while sent := source.recv(1 << 16):
            time.sleep(later)
            target.sendall(sent)
        target.shutdown(socket.SHUT_WR)

    class Relay(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with socket.socket(socket.AF_UNIX) as server:
                server.connect(f"{folder}/.s.PGSQL.5432")
                back = threading.Thread(target=pass_on, args=(server, self.request, 0.0))
                back.start()
                pass_on(self.request, server, seconds)
                back.join()

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Relay) as relay:
        thread = threading.Thread(target=relay.serve_forever)
        thread.start()
        host, port = relay.server_address[:2]
        yield make_conninfo(url, host=host, port=port)
        relay.shutdown()
        thread.join()


@pytest.mark.parametrize("away_seconds", [0.0, 0.002])
def test_another_thread_leads_only_while_one_waits_for_a_server_that_is_far(
    database_url: str, away_seconds: float
) -> None:
    with ExitStack() as stack:
        if away_seconds:
            database_url = stack.enter_context(_farther(database_url, away_seconds))
        database = Database(Settings(database_url=database_url))
        stack.callback(database.close)
        with database.read():
            pass
        leadership = Leadership(1, lambda: time.sleep(0.01), late_seconds=60)
        stack.callback(leadership.shutdown)
        stack.callback(blocking.set_hooks)
        blocking.set_hooks(leadership.give_up)
        leadership.take()
        leadership.begin()
        with database.read() as connection:
            connection.execute("SELECT pg_sleep(0.1)")
        assert leadership.end() is (away_seconds == 0)
