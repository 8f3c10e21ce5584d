"""Fixtures of the tests of the operations."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer
from tests.ledger.rows import WALLETS
from wallet_api.database import Connection
from wallet_api.settings import Settings

NewCaller = Callable[..., Caller]


@pytest.fixture
def caller(client: FlaskClient, connection: Connection) -> Caller:
    """A caller with its own key."""
    return Caller.new(client, connection)


@pytest.fixture
def new_caller(client: FlaskClient, connection: Connection) -> NewCaller:
    """Returns a caller with a new key: `new_caller(rate="1/day", credits=1)`."""
    return lambda *name, **terms: Caller.new(client, connection, *name, **terms)


@pytest.fixture
def caller_of(settings: Settings, make_app: Callable[[Settings], Flask], caller: Caller) -> NewCaller:
    """Returns the caller at a service of its own: `caller_of(history_type="detected")`."""

    def at(**changes: Any) -> Caller:
        return replace(caller, client=make_app(replace(settings, **changes)).test_client())

    return at


@pytest.fixture
def importer(database_url: str) -> Importer:
    """Imports rows, where `WALLETS` are tracked."""
    importer = Importer(database_url)
    importer.wallets(WALLETS)
    return importer
