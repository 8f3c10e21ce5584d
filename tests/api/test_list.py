"""GET /v1/wallets: the profiles of a group, complete and in the stored form."""

from flask.testing import FlaskClient

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer
from wallet_api.chains import CHAINS
from wallet_api.database import Connection

SOLANA = "So11111111111111111111111111111111111111112"
EVM = "0xAbCdEf0123456789aBcDeF0123456789ABCDEF01"


def test_a_profile_is_complete_and_unset_texts_are_empty(
    client: FlaskClient, connection: Connection, database_url: str
) -> None:
    odd = 'a "b" \\ <c> é 🦈 \u2028'
    full = {
        "blockchain": "solana",
        "type": "whale",
        "wallet_address": SOLANA,
        "name": odd,
        "image_url": "https://images.example/a.png",
        "twitter": "https://x.com/a",
        "telegram": "https://t.me/a",
        "copytrade_link": "https://copy.example/a",
    }
    bare = {"blockchain": "bnb", "type": "smart", "wallet_address": EVM}
    Importer(database_url).wallets([full, bare])
    caller = Caller.new(client, connection)
    whales = caller.get("/wallets", blockchain="solana", type="whale")
    assert whales == {
        "blockchain": "solana",
        "type": "whale",
        "currency": "SOL",
        "pagination": {"total": 1, "limit": 1, "next_cursor": None, "has_more": False},
        "wallets": [full | {"currency": "SOL"}],
    }
    texts = ("name", "image_url", "twitter", "telegram", "copytrade_link")
    smart = caller.get("/wallets", blockchain="bnb", type="smart")
    assert smart["wallets"] == [
        bare | dict.fromkeys(texts, "") | {"wallet_address": EVM.lower(), "currency": "BNB"}
    ]


def test_every_group_can_be_listed_also_when_it_is_empty(client: FlaskClient, connection: Connection) -> None:
    caller = Caller.new(client, connection)
    for chain in CHAINS.values():
        for type in chain.types:
            data = caller.get("/wallets", blockchain=chain.name, type=type)
            assert (data["currency"], data["wallets"]) == (chain.currency, [])
            assert data["pagination"]["total"] == 0
