"""Connections to PostgreSQL: when statements are prepared, and what ends them."""

from contextlib import closing
from typing import LiteralString

import pytest

from wallet_api.database import (
    Connection,
    Database,
    DatabaseUnavailable,
    QueryTimeout,
    connect,
    translated,
)
from wallet_api.settings import Settings


def test_a_statement_is_prepared_at_its_first_use(database_url: str) -> None:
    query: LiteralString = "SELECT %(number)s::integer AS number"
    prepared: LiteralString = "SELECT count(*) AS count FROM pg_prepared_statements WHERE statement = %s"
    with closing(Database(Settings(database_url=database_url))) as database, database.read() as connection:
        for number in range(3):
            assert connection.execute(query, {"number": number}).fetchone() == {"number": number}
            counted = connection.execute(prepared, ["SELECT $1::integer AS number"]).fetchone()
            assert counted == {"count": 1}


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
