"""`wallet-api sync` as a process: killed, stopped, run twice at once, and kept running."""

import random
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote

import pytest
from flask import request

from tests.lib.outages import socket_folder
from tests.lib.waiting import eventually
from tests.stub import faults
from tests.stub.server import Stub
from tests.sync.operator import WAIT_SECONDS, Operator, Start, addresses, now
from tests.sync.worlds import World, make_world
from wallet_api.chain.decoding.swaps import Reason
from wallet_api.chain.sync import report
from wallet_api.chain.sync.session import sole_session
from wallet_api.database import connect


@pytest.fixture
def world(stub: Stub, operator: Operator) -> World:
    """Wallets of all chains, each with several pages."""
    stub.swaps.page_rows = 8
    world = make_world(stub, wallets=20, transactions=20)
    operator.track(*world.wallets)
    return world


def reached(stub: Stub, count: int) -> threading.Event:
    """Return an event that is set by the request to Moralis of this number, from now on."""
    event = threading.Event()
    stub.scenarios["moralis"] = faults.in_turn(*[None] * (count - 1), event.set)
    return event


def test_killed_at_any_instant_a_further_run_gives_the_same(
    stub: Stub, operator: Operator, world: World, start: Start
) -> None:
    chance = random.Random(7)
    for days in (25, 26, 27):
        is_reached = reached(stub, chance.randint(1, 50))
        # Further back each time, so that every wallet is read again.
        running = start("trades", "--since", f"{days}d", SYNC_THREADS="3")
        assert is_reached.wait(WAIT_SECONDS)
        time.sleep(chance.uniform(0, 0.3))
        running.process.kill()
        running.process.wait()
        landed = operator.ledger()
        assert landed.items() <= world.expected.items()
    del stub.scenarios["moralis"]
    done = operator.sync("trades", "--since", "29d")
    counted = operator.sync("status").only["left_out"]
    assert sum(one["total"] for one in counted if one["reason"] in tuple(Reason)) == world.bad
    # Rows that are left out are new to this run, if no earlier one came so far.
    assert (done.only["failed"], done.status) == (0, 3 if done.only["new_left_out"] else 0)
    assert operator.ledger() == world.expected
    assert operator.sync("trades", "--since", "29d").only["changed"] == 0


def test_sigterm_ends_it_between_two_wallets(
    stub: Stub, operator: Operator, world: World, start: Start
) -> None:
    is_reached = reached(stub, 12)
    running = start("trades", "--every", "1", SYNC_REQUESTS_PER_SECOND="20", SYNC_THREADS="2")
    assert is_reached.wait(WAIT_SECONDS)
    status, errors = running.end()
    assert (status, len(errors.splitlines())) == (0, 1)
    assert " INFO Database: " in errors
    summary = running.next_round()
    assert summary["left"] > 0
    landed = operator.ledger()
    for chain, address in world.wallets:
        of_wallet = {key for key in world.expected if key[:2] == (chain, address)}
        assert of_wallet <= landed.keys() or not of_wallet & landed.keys()
    del stub.scenarios["moralis"]
    operator.sync()
    assert operator.ledger() == world.expected


def test_one_at_a_time_and_the_second_says_who_is_the_first(
    operator: Operator, world: World, start: Start
) -> None:
    first = start("trades", "--chain", "solana", "--every", "60")
    first.next_round()
    second = operator.sync()
    assert second.status == 1
    assert "'wallet-api sync trades' already runs on this database" in second.text
    assert f"pid {first.process.pid} on " in second.text
    # Prices are another job, and so is another chain.
    assert operator.sync("prices", "--since", now()).status == 0
    assert operator.sync("trades", "--chain", "bnb").only["synced"] == 4
    heir = start("trades", "--every", "60", "--wait")
    first.process.kill()
    assert heir.next_round()["synced"] == len(world.wallets)
    assert heir.end()[0] == 0


def test_round_after_round_what_happens_comes_in_and_the_database_may_go_away(
    operator: Operator, world: World, start: Start
) -> None:
    running = start("trades", "--every", "1")
    running.next_round()
    for _ in range(3):
        for wallet in world.wallets[:5]:
            world.happen(wallet, datetime.now(UTC).replace(microsecond=0))
        running.until(lambda summary: summary["changed"] > 0)
    gone = operator.fetch(
        "SELECT pg_terminate_backend(pid) AS gone FROM pg_stat_activity"
        " WHERE application_name LIKE 'wallet-api sync trades%%' AND datname = current_database()"
    )
    assert gone == [{"gone": True}]
    for wallet in world.wallets:
        world.happen(wallet, datetime.now(UTC).replace(microsecond=0))
    running.until(lambda summary: operator.ledger() == world.expected)
    assert running.end()[0] == 0


def test_with_wait_it_waits_for_a_database_that_is_not_there_yet(
    operator: Operator, world: World, start: Start, tmp_path: Path
) -> None:
    folder = tmp_path / "postgres"
    url = operator.url.replace(socket_folder(operator.url), str(folder))
    status, errors = start("trades", "--every", "1", DATABASE_URL=url).end(signal.SIGCONT)
    assert (status, "Error: The database cannot be reached" in errors) == (1, True)
    patient = start("trades", "--every", "1", "--wait", DATABASE_URL=url)
    assert patient.process.stderr is not None
    assert " INFO Database: " in patient.process.stderr.readline()
    assert "WARNING sync trades: The database cannot be reached" in patient.process.stderr.readline()
    folder.symlink_to(unquote(socket_folder(operator.url)))
    assert patient.next_round()["synced"] == len(world.wallets)
    assert patient.end()[0] == 0


def test_the_heart_beats_for_each_chain_that_was_read_to_its_end(
    stub: Stub, operator: Operator, world: World
) -> None:
    refuse = faults.status(400)
    stub.scenarios["moralis"] = lambda: refuse() if request.args.get("chain") == "0x2105" else None
    (first_of_eth,) = addresses("eth", 1)
    stub.scenarios[first_of_eth] = lambda: refuse() if request.args["chain"] == "0x1" else None
    operator.sync()
    operator.sync("prices", "--since", "1m")
    with connect(operator.url) as connection:
        syncs = report.read(connection, datetime.now(UTC))["syncs"]
    assert {
        (one["job"], one["blockchain"]): (one["wallets"], one["failed"])
        for one in syncs
        if one["has_succeeded"]
    } == {
        ("prices", "base"): (0, 0),
        ("prices", "bnb"): (0, 0),
        ("prices", "eth"): (0, 0),
        ("prices", "rh"): (0, 0),
        ("prices", "solana"): (0, 0),
        ("trades", "bnb"): (4, 0),
        ("trades", "eth"): (4, 1),
        ("trades", "rh"): (4, 0),
        ("trades", "solana"): (4, 0),
    }
    assert all(0 <= one["age_seconds"] < 60 for one in syncs)


# A version that lists the chains the other way round, and prints those that it may read.
REORDERED = """
import sys
from wallet_api.base import chains
chains.CHAINS = dict(reversed(chains.CHAINS.items()))
from wallet_api.chain.sync.session import SyncRunning, sole_session
for chain in sys.argv[2:]:
    try:
        with sole_session(sys.argv[1], "trades", [chain]):
            print(chain)
    except SyncRunning:
        pass
"""


def test_the_locks_of_chains_do_not_depend_on_their_order(operator: Operator) -> None:
    command = [sys.executable, "-c", REORDERED, operator.url, "solana", "eth", "base"]
    with sole_session(operator.url, "trades", ["solana"]):
        assert subprocess.check_output(command, text=True).split() == ["eth", "base"]


def test_requests_are_counted_and_keep_within_the_limit(stub: Stub, operator: Operator, world: World) -> None:
    done = operator.sync(SYNC_REQUESTS_PER_SECOND="25", SYNC_THREADS="8")
    moments = [call.moment for call in stub.calls if call.name.endswith("/swaps")]
    assert done.only["requests"] == len(moments)
    # Sent evenly; on their way some may catch up with those before.
    for start in range(len(moments) - 50):
        assert moments[start + 50] - moments[start] > 50 / 25 * 0.8
    assert operator.ledger() == world.expected


def test_a_round_whose_report_cannot_be_written_is_followed_by_the_next(
    stub: Stub, operator: Operator, world: World
) -> None:
    with (
        Path("/dev/full").open("wb") as full,
        operator.start("trades", "--every", "1", stdout=full.fileno()) as process,
    ):
        (wallet, *_) = world.wallets
        assert eventually(lambda: operator.ledger() == world.expected)
        world.happen(wallet, datetime.now(UTC).replace(microsecond=0))
        assert eventually(lambda: operator.ledger() == world.expected)
        process.terminate()
        _, errors = process.communicate()
    lines = errors.splitlines()
    assert [line.partition("ERROR ")[2] for line in lines if " ERROR " in line] == [
        "sync trades: reports are dropped: No space left on device"
    ]
