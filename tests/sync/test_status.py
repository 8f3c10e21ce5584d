"""`wallet-api sync status`, and what the rounds before it left out."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from flask import request

from tests.ledger.in_process import Row
from tests.lib.waiting import PATIENCE_SECONDS, calm_seconds, eventually
from tests.stub import faults
from tests.stub.evm import EvmChain
from tests.stub.server import Stub
from tests.stub.transactions import Move, now, transaction
from tests.sync.operator import Operator, Start, addresses
from tests.sync.solana import BONK, FART, USDC, WALLET, buy, own, pool, read_from
from wallet_api.chain.sync import report, rounds
from wallet_api.chain.sync.metrics import sync_metrics
from wallet_api.database import connect

AT = now() - timedelta(minutes=50)
DELAY = "SELECT last AS delay_seconds FROM sync_report WHERE name = 'delay_seconds'"


def status(operator: Operator, *options: str) -> str:
    """Run the command, and return its output."""
    result = operator.run("sync", "status", *options)
    assert result.exit_code == 0
    return result.stdout


def unclear() -> Row:
    """Return a transaction of two tokens that nothing values."""
    return transaction(AT, WALLET, own(BONK, -9), own(FART, 7), pool(BONK, 9), pool(FART, -7))


def test_before_the_first_round_it_says_what_to_run(operator: Operator) -> None:
    assert "wallet-api sync trades" in status(operator)


def test_a_sync_that_never_succeeded_says_since_when_it_is_tried(stub: Stub, operator: Operator) -> None:
    read_from(stub, operator)
    stub.scenarios["rpc"] = faults.status(401)
    for _ in range(2):
        operator.sync("trades", "--chain", "solana")
    (line,) = (line for line in status(operator).splitlines() if line.startswith("trades"))
    assert "never, first tried 0:00:" in line
    (sync,) = json.loads(status(operator, "--json"))["syncs"]
    assert (sync["blockchain"], sync["has_succeeded"]) == ("solana", False)
    assert (sync["wallets"], sync["failed"]) == (1, 1)
    assert 0 < sync["age_seconds"] < 60


def test_a_round_that_fails_is_shown_beside_the_last_success(stub: Stub, operator: Operator) -> None:
    operator.track(*(("solana", address) for address in addresses("solana", 2)))
    failed = []
    for fault in (None, faults.status(401), None):
        stub.scenarios["moralis"] = fault
        operator.sync("trades", "--chain", "solana")
        (sync,) = json.loads(status(operator, "--json"))["syncs"]
        assert (sync["has_succeeded"], sync["wallets"]) == (True, 2)
        failed.append(sync["failed"])
    assert failed == [0, 2, 0]


def test_a_round_under_way_shows_how_far_it_is_and_is_not_late(
    stub: Stub, operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "_PROGRESS_SECONDS", 0.0)
    operator.track(*(("solana", address) for address in addresses("solana", 2)))
    calls: list[None] = []
    seen: list[tuple[str, dict[str, float]]] = []

    def while_the_last_is_read() -> None:
        calls.append(None)
        if len(calls) < 2:
            return
        deadline = calm_seconds() + PATIENCE_SECONDS
        while not seen and calm_seconds() < deadline:
            with closing(connect(operator.url)) as connection:
                connection.execute(
                    "UPDATE sync_report SET at = at - interval '1 day'"
                    " WHERE name = 'rounds' AND total = 0 AND at > now() - interval '1 hour'"
                )
                metrics = sync_metrics(connection, datetime.now(UTC))
            now = {
                sample.name: sample.value
                for metric in metrics
                for sample in metric.samples
                if sample.labels.get("blockchain") == "solana"
            }
            if now.get("wallet_api_sync_round_read_wallets") == 1:
                # In a process of its own, while another one runs in this.
                seen.append((operator.start("status").communicate()[0], now))
            time.sleep(0.02)

    stub.scenarios["moralis"] = while_the_last_is_read
    outcome = operator.sync("trades", "--chain", "solana", SYNC_THREADS="1")
    ((line, metric),) = seen
    assert metric["wallet_api_sync_round_wallets"] == 2
    assert metric["wallet_api_sync_round_trades"] == 0
    # Though no round has ended since a day.
    assert metric["wallet_api_sync_age_seconds"] < 60
    assert "1 of 2 wallets, 0 trades" in line
    assert "solana: 1 of 2 wallets are read, with 0 trades" in outcome.text
    # It has ended.
    (sync,) = json.loads(status(operator, "--json"))["syncs"]
    assert (sync["has_succeeded"], sync["round_wallets"]) == (True, None)


def test_a_sync_that_is_no_longer_run_can_be_forgotten(stub: Stub, operator: Operator) -> None:
    operator.track(*(("solana", address) for address in addresses("solana", 2)))
    operator.sync("trades")
    operator.sync("prices")

    def forget(name: str) -> str:
        result = operator.run("sync", "forget", name)
        assert result.exit_code == 0, result.output
        return result.stdout

    def syncs() -> set[tuple[str, str]]:
        read = json.loads(status(operator, "--json"))["syncs"]
        # A chain without wallets is not late.
        assert all(sync["has_succeeded"] for sync in read)
        return {(sync["job"], sync["blockchain"]) for sync in read}

    before = syncs()
    assert forget("base") == "Forgot the sync of trades on base.\n"
    assert syncs() == before - {("trades", "base")}
    assert forget("prices") == "Forgot the sync of prices.\n"
    assert syncs() == {("trades", chain) for chain in ("bnb", "eth", "rh", "solana")}
    assert forget("tokens") == "There is no sync of tokens.\n"
    # It still runs.
    operator.sync("trades")
    assert ("trades", "base") in syncs()


def test_it_counts_each_transaction_once_and_shows_what_is_kept(stub: Stub, operator: Operator) -> None:
    read_from(stub, operator)
    gift = transaction(AT, WALLET, own(FART, 5), Move("friend", FART, -5))
    for signature, sent in (("good", buy(AT)), ("unclear", unclear()), ("gift", gift)):
        stub.transactions.add(WALLET, signature, sent)
    assert [operator.sync().status for _ in range(3)] == [3, 0, 0]
    lines = [line.split() for line in status(operator).splitlines()]
    assert lines[0][:2] == ["SYNC", "CHAIN"]
    assert lines[1][:2] == ["trades", "solana"]
    assert lines[1][-2:] == ["1", "0"]
    # Total, last round, kept. Each start reads again what is no trade and still in the overlap.
    assert ["solana", "no_value", "1", "1", "1"] in lines
    assert ["solana", "no_trade", "3", "1", "0"] in lines


def test_what_a_killed_round_left_out_is_counted_once(stub: Stub, operator: Operator, start: Start) -> None:
    read_from(stub, operator)
    (other,) = addresses("solana", 1)
    operator.track(("solana", other))
    gift = transaction(AT, WALLET, own(FART, 5), Move("friend", FART, -5))
    for signature, sent in (("unclear", unclear()), ("gift", gift)):
        stub.transactions.add(WALLET, signature, sent)
    is_over = threading.Event()

    def wait_at_the_other() -> None:
        if other.encode() in request.get_data():
            is_over.wait(30)

    stub.scenarios["rpc"] = wait_at_the_other
    running = start("trades", SYNC_THREADS="1")
    read = "SELECT FROM sync_wallets WHERE synced_until IS NOT NULL"
    assert eventually(lambda: operator.fetch(read) != [])
    running.process.kill()
    running.process.wait()
    is_over.set()
    del stub.scenarios["rpc"]
    operator.sync(SYNC_OVERLAP_SECONDS="0")
    counts = json.loads(status(operator, "--json"))["left_out"]
    totals = {one["reason"]: one["total"] for one in counts if one["blockchain"] == "solana"}
    assert (totals["no_value"], totals["no_trade"]) == (1, 1)


def test_what_is_added_at_the_same_time_is_all_counted(operator: Operator) -> None:
    keys = [(chain, reason) for chain in ("eth", "solana") for reason in ("no_trade", "unclear")]

    def add(order: int) -> None:
        with closing(connect(operator.url)) as connection:
            for _ in range(50):
                report.add(connection, report.count_facts("left_out", dict.fromkeys(keys[::order], 1)))

    with ThreadPoolExecutor(4) as executor:
        list(executor.map(add, (1, -1, 1, -1)))
    counts = json.loads(status(operator, "--json"))["left_out"]
    assert {(one["blockchain"], one["reason"]): one["total"] for one in counts} == dict.fromkeys(keys, 200)


def test_the_delay_is_that_of_new_trades(stub: Stub, operator: Operator) -> None:
    read_from(stub, operator)
    stub.transactions.add(WALLET, "old", buy(now() - timedelta(minutes=30)))
    operator.sync()
    assert operator.fetch(DELAY) == []
    # What was read before is not new when it is read again.
    operator.fetch("UPDATE sync_wallets SET synced_until = synced_until - interval '1 hour' RETURNING 1")
    operator.sync()
    assert operator.fetch(DELAY) == []
    stub.transactions.add(WALLET, "late", buy(now() - timedelta(minutes=30)))
    operator.fetch("UPDATE sync_wallets SET synced_until = synced_until - interval '1 hour' RETURNING 1")
    operator.sync()
    (row,) = operator.fetch(DELAY)
    assert 1800 <= row["delay_seconds"] < 1860
    operator.sync()
    assert operator.fetch(DELAY) == [row]
    assert '"delay_seconds":' in status(operator, "--json")


def test_the_delay_of_what_was_not_final_when_its_wallet_was_read_counts_once(
    stub: Stub, operator: Operator
) -> None:
    read_from(stub, operator)
    operator.sync()
    stub.transactions.unfinal.add("soon")
    stub.transactions.add(WALLET, "soon", buy(now() - timedelta(minutes=4)))
    operator.sync()
    assert json.loads(status(operator, "--json"))["delays"] == []
    stub.transactions.unfinal.clear()
    # It is older than the last fetch, which did not find it.
    for _ in range(2):
        operator.sync()
    (delays,) = json.loads(status(operator, "--json"))["delays"]
    assert (delays["trades"], delays["nine_of_ten_seconds"]) == (1, 300.0)


def test_the_delay_of_what_is_left_out_does_not_count(stub: Stub, operator: Operator) -> None:
    read_from(stub, operator)
    operator.sync()
    # In dollars, and there is no price of SOL.
    sent = transaction(AT, WALLET, own(USDC, -9), own(FART, 7), pool(USDC, 9), pool(FART, -7))
    stub.transactions.add(WALLET, "dollars", sent)
    # One of each side.
    assert operator.sync().only["left_out"] == 2
    assert json.loads(status(operator, "--json"))["delays"] == []


def test_what_is_left_out_of_a_removed_wallet_is_forgotten(stub: Stub, operator: Operator) -> None:
    read_from(stub, operator)
    stub.transactions.add(WALLET, "unclear", unclear())
    operator.sync()
    operator.fetch("DELETE FROM wallets RETURNING 1")
    assert operator.fetch("SELECT * FROM sync_left_out") == []


def test_what_is_left_out_is_tried_again_once_a_day(stub: Stub, operator: Operator, start: Start) -> None:
    read_from(stub, operator)
    stub.transactions.newest_version = 0
    stub.transactions.add(WALLET, "new", buy(AT) | {"version": 1})
    running = start("trades", "--every", "1", SYNC_OVERLAP_SECONDS="0")
    assert running.next_round()["unreadable"] == 1
    stub.transactions.newest_version = 1
    for _ in range(2):
        assert running.next_round()["unreadable"] == 1
    operator.fetch("UPDATE sync_left_out SET tried_at = tried_at - interval '25 hours' RETURNING 1")
    rounds = [running.next_round() for _ in range(2)]
    assert (sum(one["changed"] for one in rounds), rounds[-1]["unreadable"]) == (1, 0)
    assert operator.signatures() == {"new"}


def test_it_shows_how_far_nodes_were_read_and_what_they_were_asked(stub: Stub, operator: Operator) -> None:
    operator.environment |= stub.evm_environment("eth")
    operator.track(("eth", f"0x{'12' * 20}"))
    chain = stub.nodes.blocks["eth"] = EvmChain(start=4711)
    chain.add(now() - timedelta(minutes=2))
    operator.sync("trades", "--chain", "eth", "--since", "2m")
    (line,) = (line for line in status(operator).splitlines() if "eth_getLogs" in line)
    assert line.split()[:2] == ["eth", "4711"]
    document = json.loads(status(operator, "--json"))
    (block,) = document["blocks"]
    assert (block["blockchain"], block["number"]) == ("eth", 4711)
    assert 120 <= block["age_seconds"] < 180
    counts = {one["method"]: one["total"] for one in document["methods"]}
    assert (counts["eth_getLogs"], counts["eth_blockNumber"]) == (2, 1)
    operator.sync("trades", "--chain", "eth", "--since", "2m")
    counts = {one["method"]: one["total"] for one in json.loads(status(operator, "--json"))["methods"]}
    assert counts["eth_getLogs"] == 4
