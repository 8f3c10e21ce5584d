"""`wallet-api discover` on Solana: two launches made of the shapes of recorded transactions."""

import gzip
import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.lib.processes import run_command
from tests.stub import faults
from tests.stub.server import Stub
from tests.sync.discover import discover, sums
from tests.sync.launches import BEGAN, FED, LUCKY, POOL, SNIPER, STEADY, TOKEN, Launches, two_launches
from tests.sync.operator import Operator
from tests.sync.solana import BONK, FART
from wallet_api.chain.discovery.solana import PUMP, curve_of
from wallet_api.chain.sync.session import locked_session
from wallet_api.settings import Settings

RECORDED = Path(__file__).parent.parent / "data" / "solana" / "more.ndjson.gz"
READ = {"encoding": "jsonParsed", "commitment": "finalized", "maxSupportedTransactionVersion": 1}
OF_BOTH = (FART, BONK, "--chain", "solana")


@pytest.fixture
def launches(stub: Stub, operator: Operator) -> Launches:
    """Six wallets in two launches. What each gains is computed by hand below."""
    operator.environment |= stub.node_environment
    del operator.environment["MORALIS_API_KEY"]
    return two_launches(stub)


@pytest.mark.parametrize("has_history", [False, True])
def test_wallets_are_ranked_by_what_they_gained_in_several_tokens(
    operator: Operator, stub: Stub, launches: Launches, tmp_path: Path, has_history: bool
) -> None:
    stub.transactions.has_history = has_history
    stub.transactions.history_rows = 3
    found = discover(operator, tmp_path, *OF_BOTH)
    assert found.status == 0, found.notes
    names = ("won", "realized", "in_first_block", "fast_txn", "sold_unbought", "still_holding")
    assert [(row["address"], *sums(row, *names)) for row in found.document["wallets"]] == [
        # 1.5 - 1, twice, each within twenty seconds, and in the first slot.
        (SNIPER, 2, "1", 2, 2, 0, 0),
        # 1.25 - 1 and 1.5 - 1.
        (STEADY, 2, "0.75", 0, 0, 0, 0),
        # Half cost 0.5: 10 - 0.5, and 0.5 - 1.
        (LUCKY, 1, "9", 0, 0, 0, 1),
        # Of the 200 that brought 3 only 100 were bought, for 1: 1.5 - 1.
        (FED, 1, "0.5", 0, 0, 1, 1),
    ]
    assert [token["place"] for token in found.of(LUCKY)["of_tokens"]] == [3, 3]
    assert found.wallets == [SNIPER, STEADY, LUCKY, FED]


def test_the_curve_is_read_in_place_of_the_mint_where_there_is_one(
    operator: Operator, stub: Stub, launches: Launches, tmp_path: Path
) -> None:
    assert discover(operator, tmp_path, *OF_BOTH).status == 0
    listed = set(stub.requests_of("getSignaturesForAddress"))
    assert {curve_of(FART), BONK} <= listed
    assert not {FART, curve_of(BONK)} & listed


def test_a_node_that_no_longer_lists_the_creation_ranks_nobody_as_first(
    operator: Operator, stub: Stub, launches: Launches, tmp_path: Path
) -> None:
    stub.transactions.drop("S1")
    found = discover(operator, tmp_path, *OF_BOTH)
    fart, bonk = found.document["tokens"]
    assert "earlier ones are missing" in fart["why"]
    assert bonk["beginning"]["is_given"] is False
    assert (found.status, found.wallets) == (3, [])
    # Its beginning can be given: a time, or a pool.
    moment = (BEGAN - timedelta(hours=1)).isoformat()
    given = discover(operator, tmp_path, *OF_BOTH, "--since", f"{FART}={moment}", "--afresh")
    assert given.wallets == [SNIPER, STEADY, LUCKY, FED]
    for number in range(2, 8):
        signature = f"S{number}"
        stub.transactions.add(POOL, signature, stub.transactions.transaction(signature, READ) or {})
    pool = discover(operator, tmp_path, *OF_BOTH, "--since", f"{FART}={POOL}")
    assert pool.wallets == given.wallets
    block = discover(operator, tmp_path, *OF_BOTH, "--since", "1000")
    assert all("cannot be given" in token["why"] for token in block.document["tokens"])


def test_a_fault_in_between_costs_no_truth_and_no_second_payment(
    operator: Operator, stub: Stub, launches: Launches, tmp_path: Path
) -> None:
    truth = discover(operator, tmp_path, *OF_BOTH).document
    stub.scenarios["rpc"] = faults.in_turn(*[None] * 12, *[faults.status(503)] * 40)
    ended = discover(operator, tmp_path, *OF_BOTH)
    assert ended.status == 1
    assert "run the command again" in ended.notes
    assert "NODE-SECRET" not in ended.notes
    stub.scenarios.clear()
    found = discover(operator, tmp_path, *OF_BOTH)
    assert found.document["wallets"] == truth["wallets"]
    assert found.document["requests"]["sent"] == truth["requests"]["sent"] - 12


def test_a_search_that_another_process_runs_spends_nothing_and_says_so(
    operator: Operator, stub: Stub, launches: Launches, tmp_path: Path
) -> None:
    with locked_session(operator.url, "discover", ["discover found.ndjson"], ""):
        refused = discover(operator, tmp_path, *OF_BOTH)
    assert refused.status == 1
    assert "'wallet-api discover' already runs on this database (wallet-api discover pid" in refused.notes
    assert stub.requests_of("getSignaturesForAddress") == []


NO_HISTORY = "getSignaturesForAddress: code -32011, it keeps no history of transactions"


def test_what_a_node_refuses_of_one_token_is_named_and_the_other_is_read(
    operator: Operator, stub: Stub, launches: Launches, tmp_path: Path
) -> None:
    refused = faults.rpc_error(-32011, "Transaction history is not available from this node NODE-SECRET")
    for address in (BONK, curve_of(BONK)):
        stub.scenarios[address] = refused
    found = discover(operator, tmp_path, *OF_BOTH, "--min-tokens", "1")
    assert found.status == 3
    assert f"{BONK}: nobody is ranked as first: the node refused {NO_HISTORY}; " in found.notes
    assert "run the command again" not in found.notes
    assert found.wallets
    assert "NODE-SECRET" not in found.notes


def test_a_node_that_refuses_all_is_named_by_its_setting_with_method_and_code(
    operator: Operator, stub: Stub, launches: Launches, tmp_path: Path
) -> None:
    stub.scenarios["getSignaturesForAddress"] = faults.rpc_error(-32011)
    refused = discover(operator, tmp_path, *OF_BOTH)
    assert refused.status == 1
    told = f"Error: solana: The provider of SOLANA_RPC_URL refused the request ({NO_HISTORY})."
    assert told in refused.notes, refused.notes
    assert "run the command again" not in refused.notes
    away = discover(operator, tmp_path, *OF_BOTH, SOLANA_RPC_URL="http://127.0.0.1:9")
    assert away.status == 1
    assert re.search(r"The provider of SOLANA_RPC_URL cannot be reached \(get\w+: \w+\)", away.notes)
    assert "run the command again to go on" in away.notes


def test_an_unreadable_transaction_is_counted_beside_its_wallet(
    operator: Operator, stub: Stub, launches: Launches, tmp_path: Path
) -> None:
    signature = f"S{launches.number}"
    stub.scenarios[signature] = faults.document({"jsonrpc": "2.0", "id": 0, "result": {"meta": 1}})
    found = discover(operator, tmp_path, *OF_BOTH)
    assert found.of(FED)["left_out"] == {"unreadable": 1}
    assert found.of(FED)["realized"] == "0"
    assert found.of(STEADY)["left_out"] == {}


@pytest.mark.parametrize("result", [None, [], {"meta": 1}])
def test_a_transaction_that_a_node_did_not_return_once_is_requested_again(
    operator: Operator, stub: Stub, launches: Launches, tmp_path: Path, result: Any
) -> None:
    truth = discover(operator, tmp_path, *OF_BOTH).document
    stub.scenarios["S4"] = faults.in_turn(
        faults.document({"jsonrpc": "2.0", "id": 0, "result": result}), *[None] * 9
    )
    found = discover(operator, tmp_path, *OF_BOTH).document
    assert found["wallets"] == truth["wallets"]
    assert found["tokens"] == truth["tokens"]
    assert found["requests"]["sent"] == truth["requests"]["sent"] + 1


def test_an_unreadable_transaction_before_the_last_first_buyer_is_said(
    operator: Operator, stub: Stub, launches: Launches, tmp_path: Path
) -> None:
    # STEADY's buy of FART.
    stub.scenarios["S4"] = faults.document({"jsonrpc": "2.0", "id": 0, "result": {"meta": 1}})
    found = discover(operator, tmp_path, *OF_BOTH)
    fart, bonk = found.document["tokens"]
    assert (fart["left_out"], bonk["left_out"]) == ({"unreadable": 1}, {})
    assert "perhaps earlier ones: 1 unreadable" in found.notes
    assert STEADY not in found.wallets


def test_a_recorded_creation_of_pump_fun_with_a_buy_is_the_first_buy_in_the_first_slot(
    operator: Operator, stub: Stub, tmp_path: Path
) -> None:
    """The recorded transaction, with the instruction of its mint, which the record leaves out."""
    with gzip.open(RECORDED, "rt") as lines:
        row = next(row for row in map(json.loads, lines) if row["signature"].startswith("a9tyifZay3"))
    wallet, of = next((wallet, of) for wallet, of in row["wallets"].items() if of["trades"])
    ((mint, _, amount, value, _, _),) = of["trades"]
    result = row["result"]
    parsed = {"type": "initializeMint2", "info": {"mint": mint, "decimals": 6}}
    result["transaction"]["message"]["instructions"].append({"programId": TOKEN, "parsed": parsed})
    operator.environment |= stub.node_environment
    stub.nodes.names = {mint: "Recorded"}
    stub.nodes.owners = {curve_of(mint): str(PUMP)}
    stub.transactions.add(curve_of(mint), row["signature"], result)
    found = discover(operator, tmp_path, mint, "--chain", "solana", "--min-tokens", "1")
    (token,) = found.of(wallet)["of_tokens"]
    assert sums(token, "place", "is_in_first_block", "bought_tokens", "invested") == (1, True, amount, value)
    # This node lists nothing of its own account, so that sells may be missing.
    assert found.of(wallet)["left_out"] == {"unlisted": 1}


def test_a_list_has_a_name_by_which_an_import_reads_it() -> None:
    for name in ("wallets.csv", "wallets", "wallets.ndjson.gz"):
        refused = run_command("discover", *OF_BOTH, "--output", name, settings=Settings())
        assert refused.exit_code == 2
        assert "--output is NDJSON: its name ends in .ndjson or .jsonl." in refused.stderr
