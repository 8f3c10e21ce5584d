"""GET /v1/wallets/lookup: the address on every chain, in the order of chains, tracked or not."""

import pytest

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row

pytestmark = pytest.mark.settings(answer_ttl_seconds=0)

SOLANA = "So11111111111111111111111111111111111111112"
EVM = "0xAbCdEf0123456789aBcDeF0123456789ABCDEF01"
TEXTS = ("name", "image_url", "twitter", "telegram", "copytrade_link")


@pytest.fixture
def importer(database_url: str) -> Importer:
    """Imports rows."""
    return Importer(database_url)


def wallet(blockchain: str, type: str, address: str, **texts: str) -> Row:
    """A row of a wallets file."""
    return {"blockchain": blockchain, "type": type, "wallet_address": address, **texts}


def test_a_tracked_address_is_found_with_its_whole_profile(caller: Caller, importer: Importer) -> None:
    importer.wallets([wallet("solana", "whale", SOLANA, **{text: f"its {text}" for text in TEXTS})])
    assert caller.get("/wallets/lookup", address=SOLANA) == {
        "found": True,
        "wallet_address": SOLANA,
        **{text: f"its {text}" for text in TEXTS},
        "blockchain": "solana",
        "type": "whale",
        "currency": "SOL",
        "matches": [{"blockchain": "solana", "type": "whale"}],
    }


def test_the_first_match_is_that_of_the_first_chain_and_all_are_listed(
    caller: Caller, importer: Importer
) -> None:
    importer.wallets(
        [
            wallet("eth", "kol", EVM, name="on eth"),
            wallet("base", "smart", EVM, name="on base"),
            wallet("bnb", "kol", EVM, name="on bnb"),
        ]
    )
    data = caller.get("/wallets/lookup", address=EVM.upper().replace("X", "x"))
    assert (data["wallet_address"], data["name"], data["blockchain"]) == (EVM.lower(), "on bnb", "bnb")
    assert (data["type"], data["currency"]) == ("kol", "BNB")
    assert data["matches"] == [
        {"blockchain": "bnb", "type": "kol"},
        {"blockchain": "base", "type": "smart"},
        {"blockchain": "eth", "type": "kol"},
    ]
    assert {text: data[text] for text in TEXTS[1:]} == dict.fromkeys(TEXTS[1:], "")


def test_an_address_is_found_as_long_as_a_chain_tracks_it(caller: Caller, importer: Importer) -> None:
    rows = [wallet(chain, "kol", EVM) for chain in ("eth", "base", "bnb")]
    tracked: list[str] = []
    for row in rows:
        importer.wallets([row])
        tracked.insert(0, row["blockchain"])
        data = caller.get("/wallets/lookup", address=EVM)
        assert [match["blockchain"] for match in data["matches"]] == tracked
    for row in reversed(rows):
        importer.remove_wallets([row])
        tracked.remove(row["blockchain"])
        data = caller.get("/wallets/lookup", address=EVM)
        assert [match["blockchain"] for match in data.get("matches", [])] == tracked
    assert data == {"found": False, "wallet_address": EVM.lower()}


def test_an_untracked_address_is_not_found_and_no_error(caller: Caller, importer: Importer) -> None:
    importer.wallets([wallet("eth", "kol", EVM)])
    assert caller.get("/wallets/lookup", address=SOLANA) == {"found": False, "wallet_address": SOLANA}
    other = EVM.replace("01", "02")
    assert caller.get("/wallets/lookup", address=other) == {"found": False, "wallet_address": other.lower()}
