"""`type=all`: the wallets of a chain together, in every operation about a group."""

import csv
import io
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.documents.described import Described
from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, BEN, EVM, SMART, WALLETS, WHALE, trade_row

pytestmark = pytest.mark.settings(answer_ttl_seconds=0, leaderboard_ttl_seconds=1)

ALL = {"blockchain": "solana", "type": "all"}
TOKEN = {"mint": mint_of("mint")}
NOW = datetime.now(UTC)
# By operation: its list and what else it needs.
OPERATIONS: dict[str, tuple[str, Row]] = {
    "/wallets": ("wallets", {}),
    "/wallet/leaderboard": ("leaderboard", {"period": "7d"}),
    "/transactions/latest": ("transactions", {}),
    "/transactions/timerange": ("transactions", {}),
    "/tokens/transactions": ("transactions", TOKEN),
    "/tokens/stats": ("traders", TOKEN),
    "/tokens/holders": ("holders", TOKEN),
    "/signals": ("signals", {"mode": "cluster"}),
    "/analytics": ("tokens", {"mode": "most_traded"}),
    "/transactions/volume": ("", {}),
    "/transactions/count": ("", {}),
}
TYPES = {ANN: "kol", BEN: "kol", SMART: "smart", WHALE: "whale"}


@pytest.fixture(autouse=True)
def _traded(importer: Importer) -> None:
    """Four wallets of three types on Solana bought one token, the same wallet on Ethereum another one."""
    importer.trades(
        [trade_row(wallet, f"buy-{wallet}", NOW - timedelta(minutes=9)) for wallet in TYPES]
        + [trade_row(EVM, "0x" + "a" * 64, NOW, blockchain="eth", mint=EVM)]
    )


def _type_of(row: Row) -> Any:
    return row.get("profile", row)["type"]


def _address_of(row: Row) -> Any:
    return row.get("wallet") or row.get("profile", row)["wallet_address"]


def test_every_operation_about_a_group_takes_all_types_and_no_other_does(caller: Caller) -> None:
    described = Described(caller.send("/openapi.json").get_json())
    taking = {
        path.removeprefix("/v1")
        for path in described.keyed_paths
        if described.words(path, "type") == ["kol", "smart", "whale", "all"]
    }
    assert taking - {"/wallets/leaderboard"} == set(OPERATIONS)
    error = caller.refused("/wallets", blockchain="bnb")
    assert (error["parameter"], error["allowed"]) == ("type", ["kol", "smart", "all"])
    error = caller.refused("/wallets/tracker", blockchain="bnb", address=EVM, type="all")
    assert (error["parameter"], error["allowed"]) == ("type", ["kol", "smart"])


def test_all_types_of_a_chain_are_merged(caller: Caller) -> None:
    for path, (name, arguments) in OPERATIONS.items():
        data = caller.get(path, **ALL, **arguments)
        assert data.get("type", "all") == "all"
        rows = data.get(name, ())
        if path in ("/signals", "/analytics"):
            [token] = rows
            assert token.get("wallet_count", token.get("window", {}).get("wallet_count")) == 4
        elif name:
            assert {_address_of(row): _type_of(row) for row in rows} == TYPES
            assert data.get("pagination", {}).get("total", 4) == 4
            table = caller.send(path, **ALL, **arguments, format="csv").text
            cells = [row.get("profile_type") or row["type"] for row in csv.DictReader(io.StringIO(table))]
            assert cells == [_type_of(row) for row in rows]
        else:
            figures = [caller.get(path, blockchain="solana", type=type) for type in ("kol", "smart", "whale")]
            for figure in {"volume", "count", "wallet_count"} & data.keys():
                assert data[figure] == sum(each[figure] for each in figures) == 4
    assert caller.pages("/wallets", "wallets", **ALL, limit=1) == caller.get("/wallets", **ALL)["wallets"]
    # Of one type no row repeats it.
    board = caller.get("/wallet/leaderboard", blockchain="solana", type="kol", period="7d")["leaderboard"]
    assert [row["profile"].get("type") for row in board] == [None, None]


def test_a_wallet_whose_type_changes_stays_where_all_are(caller: Caller, importer: Importer) -> None:
    questions = [
        ("/transactions/latest", {}),
        ("/transactions/volume", {}),
        ("/transactions/count", {}),
        ("/analytics", {"mode": "most_traded", "period": "6h"}),
    ]
    before = [caller.get(path, **ALL, **arguments) for path, arguments in questions]
    after = caller.get("/transactions/latest", **ALL, after="now")["pagination"]["next_cursor"]
    importer.wallets([WALLETS[0] | {"type": "whale"}])
    again = [caller.get(path, **ALL, **arguments) for path, arguments in questions]
    [own] = [row for row in again[0]["transactions"] if row["profile"]["wallet_address"] == ANN]
    assert own["profile"].pop("type") == "whale"
    for row in before[0]["transactions"]:
        if row["profile"]["wallet_address"] == ANN:
            del row["profile"]["type"]
    assert again == before
    # Nobody left the group, so that a follower of it sees nothing but trades.
    events = caller.get("/transactions/latest", **ALL, after=after)["transactions"]
    assert not [event for event in events if event["event"] == "wallet_removal"]
    assert caller.refused("/wallet/leaderboard", **ALL, period="7d", address=EVM)["parameter"] == "address"
    [entry] = caller.get("/wallet/leaderboard", **ALL, period="7d", address=ANN)["leaderboard"]
    assert entry["wallet"] == ANN
