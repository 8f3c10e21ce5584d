"""Keys that are bound to chains, types of wallets or operations: all else is a 403, and costs nothing."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.api.conftest import NewCaller
from tests.documents.described import Described
from tests.ledger.caller import LIST, Caller
from tests.ledger.in_process import Importer
from tests.ledger.rows import ANN, BEN, EVM, SMART, UNTRACKED, WHALE, trade_row
from wallet_api.database import Connection

pytestmark = pytest.mark.settings(answer_ttl_seconds=0)

# What is about no wallet, so that a type does not bind it.
OF_NO_WALLET = {"/v1/key", "/v1/tokens/prices"}
# They leave out, or refuse, the wallets that the key may not read.
LEAVING_OUT = {"/v1/wallets/lookup"}
BY_THE_WALLET = {"/v1/wallets/holdings", "/v1/search"}
# The only operation that a bound key may always use.
FREE = "/v1/key"
NOW = datetime.now(UTC)


@pytest.fixture(autouse=True)
def _tracked(importer: Importer) -> None:
    """Five wallets, of which those on Solana traded one token."""
    importer.trades(
        [trade_row(wallet, f"buy-{wallet}", NOW - timedelta(hours=1)) for wallet in (ANN, BEN, SMART, WHALE)]
    )


def _operations(described: Described) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each operation with a key, and what it requires."""
    for path in described.keyed_paths:
        if path != FREE:
            yield path, described.required(path)


def _reason(caller: Caller, path: str, arguments: dict[str, Any]) -> tuple[int, Any, Any]:
    """Return the status of a response, the reason of its error, and the argument that it names."""
    response = caller.send(path.removeprefix("/v1"), **arguments)
    error = response.get_json().get("error", {})
    return response.status_code, error.get("reason"), error.get("parameter")


def test_every_operation_refuses_a_key_for_another_one(described: Described, new_caller: NewCaller) -> None:
    other = new_caller("other", operations=["get_key"], credits=1)
    for path, required in _operations(described):
        assert _reason(other, path, required) == (403, "out_of_scope", None), path
    state = other.get("/key")
    assert state["scope"] == {"chains": None, "types": None, "operations": ["get_key"]}
    assert state["credits"]["left"] == 1
    message = other.refused(LIST)["message"]
    assert message == "This API key is bound: list_wallets is none of its operations, get_key."


def test_every_operation_with_a_chain_refuses_another_one(
    described: Described, new_caller: NewCaller
) -> None:
    other, own = new_caller("other", chains=["bnb", "eth"], credits=1), new_caller("own", chains=["solana"])
    for path, required in _operations(described):
        if "blockchain" in described.parameters(path):
            assert _reason(other, path, required) == (403, "out_of_scope", "blockchain"), path
        else:
            assert path in LEAVING_OUT
        # A search could leave it out, so that a bound key has to name it.
        named = {"blockchain": "solana"} if path == "/v1/search" else {}
        assert _reason(own, path, required | named)[1] != "out_of_scope", path
    error = other.refused(LIST)
    assert error["allowed"] == ["bnb", "eth"]
    assert error["message"] == "This API key is bound: blockchain must be bnb or eth."
    assert other.get("/key")["credits"]["left"] == 1


def test_every_operation_about_wallets_refuses_another_type_or_leaves_it_out(
    described: Described, new_caller: NewCaller
) -> None:
    other, own = new_caller("other", types=["whale"], credits=1), new_caller("own", types=["kol"])
    for path, required in _operations(described):
        if "type" in described.parameters(path):
            assert _reason(other, path, required | {"type": "kol"}) == (403, "out_of_scope", "type"), path
            # All types together are more than the key reads, where they are allowed.
            assert _reason(own, path, required | {"type": "all"}) in (
                (403, "out_of_scope", "type"),
                (400, None, "type"),
            ), path
        else:
            assert path in OF_NO_WALLET | BY_THE_WALLET, path
        assert _reason(own, path, required | _type(described, path))[1] != "out_of_scope", path
    assert other.get("/key")["credits"]["left"] == 1


def _type(described: Described, path: str) -> dict[str, str]:
    return {"type": "kol"} if "type" in described.parameters(path) else {}


def test_what_an_operation_could_leave_out_a_bound_key_has_to_name(
    described: Described, new_caller: NewCaller
) -> None:
    bound = new_caller("bound", types=["kol", "smart"])
    for path, required in _operations(described):
        if "type" in described.parameters(path) - set(required) and path not in LEAVING_OUT:
            assert _reason(bound, path, required) == (403, "out_of_scope", "type"), path
    error = bound.refused("/wallets/tracker", blockchain="solana", address=ANN)
    assert error["message"] == "This API key is bound: add type=kol or smart."
    assert error["allowed"] == ["kol", "smart"]
    # With `after` a feed may leave out both.
    on_a_chain = new_caller("chain", chains=["solana"])
    assert on_a_chain.refused("/transactions/latest", after="now")["parameter"] == "blockchain"
    assert on_a_chain.get("/transactions/latest", after="now", blockchain="solana")["count"] == 0
    assert bound.refused("/transactions/latest", after="now", blockchain="solana")["parameter"] == "type"


def test_balances_of_a_wallet_of_another_type_are_refused_after_it_was_found(new_caller: NewCaller) -> None:
    bound = new_caller(types=["kol"], credits=1)
    statuses = [
        _reason(bound, "/v1/wallets/holdings", {"blockchain": "solana", "address": address})
        for address in (UNTRACKED, WHALE)
    ]
    assert statuses == [(404, "wallet_not_found", None), (403, "out_of_scope", None)]
    # Of its own type, but without a provider.
    assert _reason(bound, "/v1/wallets/holdings", {"blockchain": "solana", "address": ANN})[0] == 503
    assert bound.get("/key")["credits"]["left"] == 1


def test_a_lookup_leaves_out_what_the_key_may_not_read(new_caller: NewCaller, caller: Caller) -> None:
    kol, on_eth = new_caller("kol", types=["kol"]), new_caller("eth", chains=["eth"], types=["kol"])
    assert kol.get("/wallets/lookup", address=ANN) == caller.get("/wallets/lookup", address=ANN)
    hidden = {"found": False, "wallet_address": WHALE}
    assert kol.get("/wallets/lookup", address=WHALE) == hidden
    assert kol.get("/wallets/lookup", address=WHALE, type="kol") == hidden
    found = on_eth.get("/wallets/lookup", address=f"{ANN},{EVM}")["wallets"]
    assert [one["found"] for one in found] == [False, True]
    # What one key gets is not what another one does.
    assert caller.get("/wallets/lookup", address=WHALE)["found"]


def test_a_search_leaves_out_what_the_key_may_not_read(new_caller: NewCaller, caller: Caller) -> None:
    kol, on_eth = new_caller("kol", types=["kol"]), new_caller("eth", chains=["eth"])
    found = {
        who: [
            [row["wallet_address"] for row in asks.get("/search", q=address[:5], **of_chain)["wallets"]]
            for address in (ANN, WHALE, EVM)
        ]
        for who, asks, of_chain in (
            ("any", caller, {}),
            ("kol", kol, {}),
            ("eth", on_eth, {"blockchain": "eth"}),
        )
    }
    assert found == {
        "any": [[ANN], [WHALE], [EVM.lower()]],
        "kol": [[ANN], [], [EVM.lower()]],
        "eth": [[], [], [EVM.lower()]],
    }
    for of_chain in ({}, {"blockchain": "solana"}):
        assert on_eth.refused("/search", q="Ann", **of_chain)["reason"] == "out_of_scope"


def test_connections_leave_out_wallets_of_other_types(new_caller: NewCaller, caller: Caller) -> None:
    wallet = {"blockchain": "solana", "address": ANN, "type": "kol"}
    bound = new_caller("kol", types=["kol"])
    for asks, others in ((caller, {BEN, SMART, WHALE}), (bound, {BEN}), (caller, {BEN, SMART, WHALE})):
        data = asks.get("/wallets/connections", **wallet)
        assert {one["wallet_address"] for one in data["connections"]} == others
        assert data["total"] == len(others)


@pytest.mark.settings(key_cache_seconds=0)
def test_a_key_out_of_scope_is_told_before_credits_and_limit_and_after_the_key(
    new_caller: NewCaller, connection: Connection
) -> None:
    spent = new_caller("spent", operations=["get_volume"], credits=0, rate="1/day")
    assert [spent.refused(LIST)["reason"] for _ in range(2)] == ["out_of_scope"] * 2
    spent = new_caller("poor", chains=["bnb"], credits=0)
    assert spent.refused(LIST)["reason"] == "insufficient_credits"
    connection.execute("UPDATE api_keys SET revoked_at = now()")
    assert spent.refused(LIST)["reason"] == "revoked_api_key"
    # What is wrong with the arguments comes first.
    wrong = new_caller("wrong", chains=["bnb"])
    assert wrong.refused(f"{LIST}&limit=0")["code"] == "invalid_parameter"
