"""JSON that SQL or a template builds equals that of the schemas."""

from datetime import UTC, datetime
from typing import Any

import pytest
from flask.testing import FlaskClient
from marshmallow import Schema

from tests.ledger.caller import Caller
from tests.ledger.in_process import parsed
from wallet_api import demo
from wallet_api.chains import CHAINS
from wallet_api.database import Connection
from wallet_api.demo.world import World
from wallet_api.responses.envelope import to_json
from wallet_api.schemas.count import CountSchema
from wallet_api.schemas.envelope import SuccessSchema
from wallet_api.schemas.feed import LatestSchema, TimerangeSchema
from wallet_api.schemas.history import HistorySchema
from wallet_api.schemas.holdings import HoldingsSchema
from wallet_api.schemas.leaderboard import PERIODS, LeaderboardSchema
from wallet_api.schemas.volume import VolumeSchema
from wallet_api.schemas.wallets import WalletsSchema

GROUPS = [
    {"blockchain": chain.name, "type": wallet_type}
    for chain in CHAINS.values()
    for wallet_type in chain.types
]


@pytest.fixture
def caller(client: FlaskClient, database_url: str, connection: Connection) -> Caller:
    """Requests to a small demo."""
    demo.load(database_url, World(datetime.now(UTC), wallets=40, trades=3_000, days=6))
    return Caller.new(client, connection)


def test_finished_json_equals_that_of_the_schema_for_every_operation(
    caller: Caller, connection: Connection
) -> None:
    token = {"address": "token", "name": "", "symbol": "T", "amount": "1", "decimals": 9}
    connection.execute(
        "INSERT INTO holdings_snapshots (wallet_id, native_amount, tokens, refreshed_at)"
        " SELECT wallet_id, 1, %s::jsonb, now() FROM wallets",
        [to_json([{**token, "verified": False, "spam": False}]).decode()],
    )
    rows = 0
    for group in GROUPS:
        listed = caller.ask("/wallets", **group)
        _check(WalletsSchema(), listed)
        _check(VolumeSchema(), caller.ask("/transactions/volume", **group))
        _check(TimerangeSchema(), caller.ask("/transactions/timerange", **group))
        _check(CountSchema(), caller.ask("/transactions/count", **group))
        latest = caller.ask("/transactions/latest", **group)
        del latest["pagination"]
        _check(LatestSchema(), latest)
        rows += latest["data"]["count"]
        for period in PERIODS:
            board = caller.ask("/wallet/leaderboard", **group, period=period, limit=5)
            _check(LeaderboardSchema(), board)
            rows += len(board["data"]["leaderboard"])
        for wallet in listed["data"]["wallets"]:
            address = wallet["wallet_address"]
            history = caller.ask("/wallets/history", **group, address=address)
            _check(HistorySchema(), history)
            rows += len(history["data"]["trades"]) + len(history["data"]["token_overview"])
            _check(
                HoldingsSchema(),
                caller.ask("/wallets/holdings", blockchain=group["blockchain"], address=address),
            )
    assert rows > 1_000


def _check(schema: Schema, document: dict[str, Any]) -> None:
    data = document["data"]
    assert schema.validate(data) == {}
    assert parsed(to_json(schema.dump(data))) == data
    assert SuccessSchema().validate(document) == {}
    assert parsed(to_json(SuccessSchema().dump(document))) == document
