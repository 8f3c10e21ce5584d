"""`wallet-api sync trades` with a node that has getTransactionsForAddress: much is read in pages."""

import json
from datetime import timedelta

import pytest

from tests.stub import faults
from tests.stub.faults import Scenario
from tests.stub.server import Stub
from tests.stub.swaps import Row
from tests.stub.transactions import now
from tests.sync.operator import Operator, addresses
from tests.sync.solana import SOL, WALLET, buy, read_from
from tests.sync.test_status import status

HISTORY = "getTransactionsForAddress"
LIST = "getSignaturesForAddress"
ONE = "getTransaction"
AT = now() - timedelta(days=2)


@pytest.fixture(autouse=True)
def _tracked(operator: Operator, stub: Stub) -> None:
    read_from(stub, operator)
    stub.transactions.has_history = True


def trade(stub: Stub, count: int) -> set[str]:
    """Add trades, four in a second, and return their signatures."""
    for number in range(count):
        row = buy(AT + timedelta(seconds=number // 4), lamports=SOL + number)
        stub.transactions.add(WALLET, f"t{number}", row)
    return {f"t{number}" for number in range(count)}


def test_a_first_fetch_takes_a_request_for_each_page(stub: Stub, operator: Operator) -> None:
    trade(stub, 250)
    stub.transactions.add(WALLET, "failed", buy(AT, err={"InstructionError": [2, {"Custom": 6001}]}))
    stub.transactions.add(WALLET, "too old", buy(now() - timedelta(days=40)))
    assert operator.sync().only["changed"] == 250
    assert len(stub.requests_of(HISTORY)) == 3
    assert stub.requests_of(LIST) == stub.requests_of(ONE) == []
    in_pages = operator.ledger()
    methods = {one["method"]: one["total"] for one in json.loads(status(operator, "--json"))["methods"]}
    assert methods[HISTORY] == 3
    # One by one, they are the same.
    operator.fetch("UPDATE sync_wallets SET synced_from = now() RETURNING 1")
    stub.transactions.has_history = False
    done = operator.sync()
    assert (done.only["swaps"], done.only["changed"]) == (250, 0)
    assert operator.ledger() == in_pages


def test_what_is_new_since_the_last_round_is_listed(stub: Stub, operator: Operator) -> None:
    trade(stub, 5)
    operator.sync()
    stub.calls.clear()
    stub.transactions.add(WALLET, "new", buy(now()))
    assert operator.sync().only["changed"] == 1
    assert (stub.requests_of(HISTORY), stub.requests_of(ONE)) == ([], ["new"])


def test_after_an_outage_what_was_missed_comes_in_pages(stub: Stub, operator: Operator) -> None:
    operator.sync()
    operator.fetch("UPDATE sync_wallets SET synced_until = synced_until - interval '3 days' RETURNING 1")
    trade(stub, 120)
    stub.calls.clear()
    assert operator.sync().only["changed"] == 120
    assert (len(stub.requests_of(HISTORY)), stub.requests_of(ONE)) == (2, [])


def test_a_page_that_fails_is_read_again_from_the_one_before(stub: Stub, operator: Operator) -> None:
    expected = trade(stub, 250)
    stub.scenarios[HISTORY] = faults.in_turn(None, *[faults.status(500)] * 4)
    assert operator.sync().only["failures"] == {"server_error": 1}
    assert len(operator.ledger()) == 100
    stub.calls.clear()
    assert operator.sync(SYNC_OVERLAP_SECONDS="0").only["changed"] == 150
    assert operator.signatures() == expected
    assert (len(stub.requests_of(HISTORY)), stub.requests_of(ONE)) == (2, [])


@pytest.mark.parametrize(
    "refusal",
    [
        faults.rpc_error(-32601, "Method not found"),
        faults.rpc_error(-32602, "Invalid params"),
        faults.rpc_error(-32403, "not on this plan"),
        faults.status(403),
    ],
)
def test_a_node_that_refuses_it_is_asked_for_each_transaction(
    stub: Stub, operator: Operator, refusal: Scenario
) -> None:
    operator.track(*(("solana", other) for other in addresses("solana", 4)))
    expected = trade(stub, 60)
    stub.scenarios[HISTORY] = refusal
    done = operator.sync("trades", "-v", SYNC_THREADS="1")
    assert (done.status, operator.signatures()) == (0, expected)
    assert len(stub.requests_of(ONE)) == 60
    # Once, or once more without the version; and once in the log.
    assert len(stub.requests_of(HISTORY)) <= 2
    assert done.text.count(f"the node has no {HISTORY}") == 1


def test_it_goes_on_one_by_one_where_the_node_stops(stub: Stub, operator: Operator) -> None:
    expected = trade(stub, 150)
    stub.scenarios[HISTORY] = faults.in_turn(None, faults.status(413))
    assert operator.sync().only["changed"] == 150
    assert operator.signatures() == expected
    # Those of the second in which the page ended are known.
    assert len(stub.requests_of(ONE)) == 50


def test_a_token_that_comes_again_fails_the_wallet(stub: Stub, operator: Operator) -> None:
    page = {"data": [], "paginationToken": "1:1"}
    stub.scenarios[HISTORY] = faults.document({"jsonrpc": "2.0", "id": 0, "result": page})
    assert operator.sync().only["failures"] == {"malformed": 1}
    assert len(stub.requests_of(HISTORY)) == 2


def test_what_names_only_a_token_account_of_the_wallet_is_read(stub: Stub, operator: Operator) -> None:
    stub.transactions.add(WALLET, "named", buy(AT))
    stub.transactions.add(WALLET, "of an account", buy(AT))
    stub.transactions.of_accounts = {"of an account"}
    assert operator.sync().only["changed"] == 2


@pytest.mark.parametrize("newest", [0, 1, 127])
def test_versions_are_as_the_node_returns_them(stub: Stub, operator: Operator, newest: int) -> None:
    for version in (0, 1, 2):
        stub.transactions.add(WALLET, f"version {version}", buy(AT) | {"version": version})
    stub.transactions.newest_version = newest
    done = operator.sync()
    read = {f"version {version}" for version in (0, 1, 2) if version <= newest}
    assert operator.signatures() == read
    assert done.only["unreadable"] == 3 - len(read)


META = buy(AT)["meta"]
ODD: dict[str, Row] = {
    "fee": {"meta": {"fee": "much", "err": None}},
    "empty": {"meta": META | {"postBalances": []}},
    "short": {"meta": META | {"preBalances": META["preBalances"][:-1]}},
    "negative": {"meta": META | {"postBalances": [-1, *META["postBalances"][1:]]}},
    "never": {"blockTime": 10**13},
}


@pytest.mark.parametrize("has_history", [True, False])
def test_one_of_an_unknown_form_or_an_impossible_time_costs_no_other(
    stub: Stub, operator: Operator, has_history: bool
) -> None:
    stub.transactions.has_history = has_history
    trade(stub, 3)
    for name, odd in ODD.items():
        stub.transactions.add(WALLET, name, buy(AT) | odd)
    done = operator.sync()
    assert (done.status, done.only["unreadable"], done.only["changed"]) == (3, len(ODD), 3)
    left_out = operator.fetch("SELECT tx_signature FROM sync_left_out")
    assert {row["tx_signature"] for row in left_out} == set(ODD)
    # It is tried again with the next start, and forgotten when it is readable.
    for name in ODD:
        stub.transactions.drop(name)
        stub.transactions.add(WALLET, name, buy(AT))
    done = operator.sync()
    assert (done.status, done.only["unreadable"], done.only["changed"]) == (0, 0, len(ODD))
