"""Fixtures of the tests of the operations."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import cache

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.documents.described import Described
from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer
from tests.ledger.rows import WALLETS
from tests.lib.browser import Page
from tests.lib.chromium import chromium
from tests.lib.firefox import firefox
from wallet_api.database import Connection
from wallet_api.settings import Settings

NewCaller = Callable[..., Caller]
ClientOf = Callable[..., FlaskClient]


@pytest.fixture(scope="module")
def browsers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Page]]:
    """Returns the browser of a name, one for all tests of this module."""
    programs = {"chromium": chromium, "firefox": firefox}
    with ExitStack() as stack:
        yield cache(
            lambda name: stack.enter_context(programs[name](tmp_path_factory.mktemp(name) / "profile"))
        )


@pytest.fixture
def page(request: pytest.FixtureRequest, browsers: Callable[[str], Page]) -> Page:
    """A new tab, with a storage of its own; in Chromium, unless a test is for `in_each_browser`."""
    page = browsers(getattr(request, "param", "chromium"))
    page.open_tab()
    page.resize(1280)
    return page


@pytest.fixture
def caller(client: FlaskClient, connection: Connection) -> Caller:
    """A caller with its own key."""
    return Caller.new(client, connection)


@pytest.fixture
def described(caller: Caller) -> Described:
    """What the service says of its operations."""
    return Described(caller.send("/openapi.json").get_json())


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
