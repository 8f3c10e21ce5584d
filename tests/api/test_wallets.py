"""GET /v1/wallets and /v1/wallets/lookup: profiles in the stored form, by group and by address."""

import pytest

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.rows import ANN, EVM, GROUP, UNTRACKED, WALLETS, WHALE
from tests.lib.serving import Shared
from wallet_api.database import Connection

pytestmark = pytest.mark.settings(answer_ttl_seconds=0, leaderboard_ttl_seconds=0)

TEXTS = ("name", "image_url", "twitter", "telegram", "copytrade_link")
FULL = {
    "blockchain": "solana",
    "type": "whale",
    "wallet_address": ANN,
    "name": 'a "b" \\ <c> é 🦈',
    "image_url": "https://images.example/a.png",
    "twitter": "https://x.com/a",
    "telegram": "https://t.me/a",
    "copytrade_link": "https://copy.example/a",
}


def wallet(blockchain: str, type: str, **texts: str) -> Row:
    """A row of a wallet with an EVM address."""
    return {"blockchain": blockchain, "type": type, "wallet_address": EVM, **texts}


def test_a_profile_is_complete_and_unset_texts_are_empty(caller: Caller, database_url: str) -> None:
    importer = Importer(database_url)
    importer.wallets([FULL, wallet("bnb", "smart")])
    whale = FULL | {"currency": "SOL"}
    assert caller.get("/wallets", blockchain="solana", type="whale") == {
        "blockchain": "solana",
        "type": "whale",
        "currency": "SOL",
        "pagination": {"total": 1, "limit": 1, "next_cursor": None, "has_more": False},
        "wallets": [whale],
    }
    match = {"blockchain": "solana", "type": "whale"}
    assert caller.get("/wallets/lookup", address=ANN) == {"found": True, "matches": [match], **whale}
    bare = wallet("bnb", "smart", **dict.fromkeys(TEXTS, "")) | {
        "wallet_address": EVM.lower(),
        "currency": "BNB",
    }
    assert caller.get("/wallets", blockchain="bnb", type="smart")["wallets"] == [bare]


def test_an_address_is_found_on_each_chain_and_has_the_profile_of_the_first(
    caller: Caller, database_url: str
) -> None:
    importer = Importer(database_url)
    rows = [wallet(chain, "kol", name=f"on {chain}") for chain in ("eth", "base", "bnb")]
    tracked: list[str] = []
    for row in rows:
        importer.wallets([row])
        tracked.insert(0, row["blockchain"])
        data = caller.get("/wallets/lookup", address=EVM)
        assert [match["blockchain"] for match in data["matches"]] == tracked
        assert (data["blockchain"], data["name"]) == (tracked[0], f"on {tracked[0]}")
    for row in reversed(rows):
        importer.remove_wallets([row])
        tracked.remove(row["blockchain"])
        data = caller.get("/wallets/lookup", address=EVM)
        assert [match["blockchain"] for match in data.get("matches", [])] == tracked
    assert data == {"found": False, "wallet_address": EVM.lower()}


def test_a_wallet_has_the_record_of_its_current_type_only(caller: Caller, importer: Importer) -> None:
    def types() -> list[str]:
        """Return the types of which the wallet has a history."""
        found = []
        for type in ("kol", "smart"):
            document = caller.document("/wallets/history", blockchain="solana", type=type, address=UNTRACKED)
            if document["success"]:
                found.append(document["data"]["profile"]["type"])
            else:
                assert document["error"]["reason"] == "wallet_not_found"
        return found

    row = GROUP | {"wallet_address": UNTRACKED}
    assert types() == []
    importer.wallets([row])
    assert types() == ["kol"]
    importer.wallets([row | {"type": "smart"}])
    assert types() == ["smart"]
    importer.remove_wallets([row])
    assert types() == []
    importer.wallets([row | {"type": "smart"}])
    assert types() == ["smart"]


def test_a_wallet_says_over_what_time_its_trades_have_been_read(
    caller: Caller, connection: Connection, database_url: str
) -> None:
    Importer(database_url).wallets([wallet("bnb", "smart"), wallet("base", "kol"), wallet("eth", "kol")])
    # The first reading of one is under way, one is read with its chain, and one by nobody.
    connection.execute(
        "INSERT INTO sync_wallets (wallet_id, synced_from, synced_until, tried_at, is_with_chain)"
        " SELECT wallet_id, '2026-10-01T00:00Z', '2026-10-05T06:00Z', now(), blockchain = 'base'"
        " FROM wallets WHERE blockchain <> 'eth'"
    )
    connection.execute("INSERT INTO sync_chains VALUES ('base', now(), now())")
    since = {"history_since": "2026-10-01T00:00:00Z"}
    until = {"history_until": "2026-10-05T06:00:00Z"}
    for chain, type, expected in (
        ("bnb", "smart", since | until),
        ("base", "kol", since),
        ("eth", "kol", {}),
    ):
        of = {"blockchain": chain, "address": EVM}
        shown = [
            *caller.get("/wallets", blockchain=chain, type=type)["wallets"],
            caller.get("/wallets/history", **of, type=type)["profile"],
            caller.get("/wallets/brief", **of),
            next(
                match
                for match in caller.get("/wallets/lookup", address=EVM)["matches"]
                if match["blockchain"] == chain
            ),
        ]
        for one in shown:
            assert {name: one[name] for name in one if name.startswith("history_")} == expected
    # A chain that is no longer read.
    connection.execute("UPDATE sync_chains SET synced_until = '2026-11-01T00:00Z'")
    [stopped] = caller.get("/wallets", blockchain="base", type="kol")["wallets"]
    assert stopped["history_until"] == "2026-11-01T00:00:00Z"


@pytest.fixture(scope="module")
def shared_types(shared: Shared) -> Caller:
    """A caller, where the usual wallets are tracked, and an EVM address under a second type."""
    on_base = {"blockchain": "base", "type": "smart", "wallet_address": EVM}
    shared.importer.wallets([*WALLETS, on_base])
    return shared.caller


def test_a_wallet_is_found_under_its_own_type_alone(shared_types: Caller) -> None:
    for path in ("/wallets/tracker", "/wallet/pnl_calendar", "/wallets/connections", "/wallets/lookup"):
        wallet = {"address": WHALE} | ({} if path.endswith("lookup") else {"blockchain": "solana"})
        assert shared_types.get(path, **wallet) == shared_types.get(path, **wallet, type="whale")
        error = shared_types.document(path, **wallet, type="kol")["error"]
        assert error["reason"] == "wallet_not_found"
        assert error["message"].startswith(
            f"The wallet {WHALE} is not tracked on solana as kol; /v1/wallets/lookup"
        )


def test_a_search_by_type_leaves_other_chains_out(shared_types: Caller) -> None:
    data = shared_types.get("/wallets/lookup", address=EVM, type="kol")
    assert data["matches"] == [{"blockchain": "eth", "type": "kol"}]
    assert shared_types.get("/wallets/lookup", address=UNTRACKED, type="kol") == {
        "found": False,
        "wallet_address": UNTRACKED,
    }


def test_several_addresses_are_answered_in_their_order(shared_types: Caller) -> None:
    addresses = [EVM.upper().replace("X", "x"), UNTRACKED, WHALE, EVM]
    data = shared_types.get("/wallets/lookup", address=",".join(addresses))
    alone = [shared_types.get("/wallets/lookup", address=address) for address in addresses]
    assert data == {"wallets": alone}
    assert [entry["found"] for entry in alone] == [True, False, True, True]
    # One of another type among several is no error.
    data = shared_types.get("/wallets/lookup", address=",".join(addresses), type="smart")
    assert [entry["found"] for entry in data["wallets"]] == [True, False, False, True]
