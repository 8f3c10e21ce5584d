"""Fixtures of the tests of syncs: an operator with a database."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest

from tests.ledger.in_process import clear
from tests.stub.server import Stub
from tests.sync.operator import Operator, Running, Start
from wallet_api.database import connect
from wallet_api.settings import Settings

_STATE = r"SELECT tablename FROM pg_tables WHERE tablename ~ '^(sync|discovery)_'"
_NAME = f"wallet_api_test_sync_{os.getpid()}"


@pytest.fixture(scope="session")
def shared_url(servers: Settings, template: str) -> Iterator[str]:
    """The URL of a database with all tables, which all tests of syncs share."""
    url = str(servers.database_url)
    with connect(url) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {_NAME} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {_NAME} TEMPLATE {template}")  # type: ignore[arg-type]
        yield urlsplit(url)._replace(path=f"/{_NAME}").geturl()
        connection.execute(f"DROP DATABASE {_NAME} WITH (FORCE)")


@pytest.fixture
def operator(stub: Stub, shared_url: str) -> Operator:
    """An operator, who runs the commands with the stub and an empty ledger."""
    with connect(shared_url) as connection:
        clear(connection)
        for row in connection.execute(_STATE).fetchall():
            connection.execute(f"DELETE FROM {row['tablename']}")  # type: ignore[arg-type]
    return Operator(stub, shared_url)


@pytest.fixture
def start(operator: Operator) -> Iterator[Start]:
    """Starts commands, and ends them after the test."""
    with ExitStack() as stack:

        def run(job: str, *options: str, **environment: str) -> Running:
            running = Running(stack.enter_context(operator.start(job, "--json", *options, **environment)))
            stack.callback(running.end)
            return running

        yield run
