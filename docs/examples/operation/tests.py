# tests/api/test_tracked.py
"""The number of tracked wallets."""

from flask.testing import FlaskClient

from tests.ledger.in_process import Importer
from wallet_api.api.keys import create_key
from wallet_api.database import Connection


def test_the_wallets_of_a_group_are_counted(
    client: FlaskClient, database_url: str, connection: Connection
) -> None:
    wallets = [
        {"blockchain": "eth", "type": "kol", "wallet_address": f"0x{number:040x}"} for number in range(3)
    ]
    Importer(database_url).wallets(wallets)
    headers = {"Authorization": f"Bearer {create_key(connection, 'caller')}"}
    response = client.get("/v1/wallets/tracked?blockchain=eth&type=kol", headers=headers)
    assert response.json["data"] == {"blockchain": "eth", "type": "kol", "count": 3}
    assert client.get("/v1/wallets/tracked?blockchain=eth", headers=headers).status_code == 400
