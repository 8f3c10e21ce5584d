"""A follower on a sharded ledger gets what a worker commits late; `--citus` provides the cluster."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
from flask import Flask

from tests.ledger.caller import Caller
from tests.ledger.follower import Follower
from tests.ledger.in_process import Importer
from tests.ledger.rows import ANN, BEN, GROUP, WALLETS, trade_row
from tests.lib.cluster import Cluster
from tests.lib.commits import Commits, late_commits
from tests.lib.waiting import eventually
from wallet_api.database import connect, migrations
from wallet_api.database.migrations.placement import place_tables
from wallet_api.settings import Settings

_DATABASE = "late_commits"
_OTHERS = [f"{'1' * 31}{letter}" for letter in "ABCDEFGH"]
# Longer than the service waits before it places what is left, shorter than the cluster recovers.
_LATE_SECONDS = 2.5


@dataclass(frozen=True)
class Ledger:
    """A sharded ledger whose workers are reached through proxies."""

    url: str
    workers: list[Commits]

    def import_some(self, name: str, at: datetime) -> None:
        """Import a trade of each of some wallets, which are on both workers."""
        rows = [trade_row(wallet, f"{name}-{wallet[-1]}", at) for wallet in (ANN, BEN, *_OTHERS)]
        Importer(self.url).trades(rows)

    @property
    def trades(self) -> int:
        """How many trades there are."""
        with connect(self.url) as connection:
            number: int = connection.fetch_value("SELECT count(*) FROM trades")
        return number


@pytest.fixture
def ledger(cluster: Cluster | None) -> Iterator[Ledger]:
    if cluster is None:
        pytest.skip("needs the option --citus, and CITUS_BIN")
    with ExitStack() as stack:
        workers = [stack.enter_context(late_commits(worker.port)) for worker in cluster.workers]
        url = cluster.create(_DATABASE, [worker.port for worker in workers])
        stack.callback(_drop, cluster)
        with connect(url) as connection:
            migrations.migrate(connection)
            place_tables(connection)
        others = [GROUP | {"wallet_address": address} for address in _OTHERS]
        Importer(url).wallets([*WALLETS, *others])
        yield Ledger(url, workers)


def _drop(cluster: Cluster) -> None:
    cluster.freeze(_DATABASE)
    for node in cluster.nodes:
        with connect(node.url()) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {_DATABASE} WITH (FORCE)".encode())


@pytest.fixture
def follower(ledger: Ledger, settings: Settings, make_app: Callable[[Settings], Flask]) -> Follower:
    """A follower from the start, at a service which places what is left."""
    app = make_app(replace(settings, database_url=ledger.url, answer_ttl_seconds=0))
    with connect(ledger.url) as connection:
        caller = Caller.new(app.test_client(), connection)
    return Follower(caller, after="start", **GROUP)


def test_a_change_whose_worker_is_lost_before_it_commits_is_not_skipped(
    ledger: Ledger, follower: Follower
) -> None:
    now = datetime.now(UTC) - timedelta(hours=1)
    for number in range(8):
        # By now the token is known, so that what is cut is of the trades.
        ledger.workers[1].cuts += number == 4
        ledger.import_some(f"cut-{number}", now + timedelta(seconds=number))
        follower.read()
    assert ledger.workers[1].cuts == 0
    expected = 8 * len((ANN, BEN, *_OTHERS))
    # The cluster recovers what it had prepared.
    assert eventually(lambda: ledger.trades == expected), ledger.trades
    assert eventually(lambda: bool(follower.read()) or len(follower.trades) == expected)
    assert len(follower.trades) == expected


def test_changes_that_workers_commit_late_are_not_skipped(ledger: Ledger, follower: Follower) -> None:
    now = datetime.now(UTC) - timedelta(hours=1)
    for worker in ledger.workers:
        worker.delay_seconds = _LATE_SECONDS
    with ThreadPoolExecutor(3) as pool:
        imports = [
            pool.submit(ledger.import_some, f"late-{number}", now + timedelta(seconds=number))
            for number in range(6)
        ]
        while not all(each.done() for each in imports):
            follower.read()
        for each in imports:
            each.result()
    assert min(worker.seen for worker in ledger.workers) > 0
    expected = 6 * len((ANN, BEN, *_OTHERS))
    assert ledger.trades == expected
    assert eventually(lambda: bool(follower.read()) or len(follower.trades) == expected)
    assert len(follower.trades) == expected
