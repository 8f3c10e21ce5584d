"""Connections to PostgreSQL: when statements are prepared."""

from contextlib import closing
from typing import LiteralString

from wallet_api.database import (
    Database,
)
from wallet_api.settings import Settings


def test_a_statement_is_prepared_at_its_first_use(database_url: str) -> None:
    query: LiteralString = "SELECT %(number)s::integer AS number"
    prepared: LiteralString = "SELECT count(*) AS count FROM pg_prepared_statements WHERE statement = %(of)s"
    with closing(Database(Settings(database_url=database_url))) as database, database.read() as connection:
        for number in range(3):
            assert connection.execute(query, {"number": number}).fetchone() == {"number": number}
            counted = connection.execute(prepared, {"of": "SELECT $1::integer AS number"}).fetchone()
            assert counted == {"count": 1}
