"""Fixtures of the tests of the operations."""

import pytest
from flask.testing import FlaskClient

from tests.ledger.caller import Caller
from wallet_api.database import Connection


@pytest.fixture
def caller(client: FlaskClient, connection: Connection) -> Caller:
    """A caller with its own key."""
    return Caller.new(client, connection)
