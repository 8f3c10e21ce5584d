"""`type` where a wallet is requested: a wallet of another type is not found, as in a history."""

import pytest

from tests.ledger.caller import Caller
from tests.ledger.rows import EVM, UNTRACKED, WALLETS, WHALE
from tests.lib.serving import Shared

pytestmark = pytest.mark.settings(answer_ttl_seconds=0)

OF_ONE_WALLET = ["/wallets/tracker", "/wallet/pnl_calendar", "/wallets/connections", "/wallets/lookup"]


@pytest.fixture(scope="module")
def caller(shared: Shared) -> Caller:
    """A caller, where the usual wallets are tracked, and an EVM address under a second type."""
    on_base = {"blockchain": "base", "type": "smart", "wallet_address": EVM}
    shared.importer.wallets([*WALLETS, on_base])
    return shared.caller


def test_a_wallet_is_found_under_its_own_type_alone(caller: Caller) -> None:
    for path in OF_ONE_WALLET:
        wallet = {"address": WHALE} | ({} if path.endswith("lookup") else {"blockchain": "solana"})
        assert caller.get(path, **wallet) == caller.get(path, **wallet, type="whale")
        error = caller.document(path, **wallet, type="kol")["error"]
        assert error["reason"] == "wallet_not_found"
        assert error["message"].startswith(
            f"The wallet {WHALE} is not tracked on solana as kol; /v1/wallets/lookup"
        )


def test_a_search_by_type_leaves_other_chains_out(caller: Caller) -> None:
    data = caller.get("/wallets/lookup", address=EVM, type="kol")
    assert data["matches"] == [{"blockchain": "eth", "type": "kol"}]
    assert caller.get("/wallets/lookup", address=UNTRACKED, type="kol") == {
        "found": False,
        "wallet_address": UNTRACKED,
    }


def test_several_addresses_are_answered_in_their_order(caller: Caller) -> None:
    addresses = [EVM.upper().replace("X", "x"), UNTRACKED, WHALE, EVM]
    data = caller.get("/wallets/lookup", address=",".join(addresses))
    alone = [caller.get("/wallets/lookup", address=address) for address in addresses]
    assert data == {"wallets": alone}
    assert [entry["found"] for entry in alone] == [True, False, True, True]
    # One of another type among several is no error.
    data = caller.get("/wallets/lookup", address=",".join(addresses), type="smart")
    assert [entry["found"] for entry in data["wallets"]] == [True, False, False, True]
