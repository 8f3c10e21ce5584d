"""Fixtures of the tests of the operations."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer
from tests.ledger.rows import WALLETS
from tests.lib.browser import Page, browser
from tests.lib.page import resize
from wallet_api.database import Connection
from wallet_api.settings import Settings

NewCaller = Callable[..., Caller]
ClientOf = Callable[..., FlaskClient]


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A browser for all tests of this module."""
    with browser(tmp_path_factory.mktemp("chromium") / "profile") as page:
        yield page


@pytest.fixture
def page(chromium: Page) -> Page:
    """A new tab, with a storage of its own."""
    chromium.open_tab()
    resize(chromium, 1280)
    return chromium


@pytest.fixture
def caller(client: FlaskClient, connection: Connection) -> Caller:
    """A caller with its own key."""
    return Caller.new(client, connection)


@pytest.fixture
def new_caller(client: FlaskClient, connection: Connection) -> NewCaller:
    """Returns a caller with a new key: `new_caller(rate="1/day", credits=1)`."""
    return lambda *name, **terms: Caller.new(client, connection, *name, **terms)


@pytest.fixture
def client_of(settings: Settings, make_app: Callable[[Settings], Flask]) -> ClientOf:
    """Returns a client of a service of its own: `client_of(history_type="detected")`."""
    return lambda **changes: make_app(replace(settings, **changes)).test_client()


@pytest.fixture
def caller_of(client_of: ClientOf, caller: Caller) -> NewCaller:
    """Returns the caller at a service of its own: `caller_of(history_type="detected")`."""
    return lambda **changes: replace(caller, client=client_of(**changes))


@pytest.fixture
def away_url(settings: Settings) -> str:
    """The URL of a database that cannot be reached."""
    return str(settings.database_url).replace("host=", "host=%2Fnonexistent")


@pytest.fixture
def importer(database_url: str) -> Importer:
    """Imports rows, where `WALLETS` are tracked."""
    importer = Importer(database_url)
    importer.wallets(WALLETS)
    return importer
