"""A ledger that many sessions change at once, some of them killed, and followers that stop and resume."""

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count, cycle
from typing import Any

import psycopg
from flask import Flask

from tests.ledger.caller import Caller
from tests.ledger.follower import Follower, Row, identity, stored, trades_of
from tests.ledger.in_process import Importer
from tests.ledger.mints import mint_of
from tests.ledger.random_trades import wallets
from tests.ledger.rows import GROUP, trade_row
from tests.lib.waiting import eventually
from wallet_api.base.errors import ApiError
from wallet_api.database import connect
from wallet_api.ledger.merge import WalletRemoved

# What kills a command, one at random, and a batch without a place.
KILL = """
SELECT pg_terminate_backend(pid)
  FROM pg_stat_activity
 WHERE application_name = 'wallet-api command'
   AND datname = current_database()
   AND pid <> pg_backend_pid()
 ORDER BY random()
 LIMIT 1
"""
UNPLACED = "SELECT FROM arrivals WHERE place IS NULL"
_SIGNATURES = 300
_MOST_TRIES = 30
_MOST_SECONDS = 150
_WALLETS = [row for row in wallets(18) if row["type"] == GROUP["type"]]
_FEEDS: tuple[tuple[str, Row], ...] = (
    ("/transactions/latest", {}),
    ("/tokens/transactions", {"mint": mint_of("mint-0")}),
)


class Contended:
    """What writers and followers share. No two versions of a trade have the same value."""

    def __init__(self, url: str, apps: Sequence[Flask], key: str, importers: int = 2) -> None:
        self.done = Counter[str]()
        self._url = url
        self._apps = cycle(apps)
        self._key = key
        self._importers = importers
        self._start = datetime.now(UTC).replace(microsecond=0) - timedelta(days=1)
        self._versions = count(1)
        self._is_over = threading.Event()
        self._is_final = threading.Event()

    def run(self, seconds: float, landed: int = 40) -> None:
        """Change the ledger and follow it; then each follower has exactly its trades.

        It takes so long, and until so many imports have landed: longer on a busy machine, but not for ever.
        """
        Importer(self._url).wallets(_WALLETS)
        writing = [*[self._imports] * self._importers, self._removes, self._wallets]
        following = [self._follows] * 3
        with ThreadPoolExecutor(len(writing) + len(following)) as pool:
            writers, followers = (
                [pool.submit(work, number) for number, work in enumerate(works)]
                for works in (writing, following)
            )
            try:
                self._kill_until(time.monotonic() + seconds, landed)
                for writer in writers:
                    writer.result()
            finally:
                self._is_over.set()
                # The service places what killed writers left.
                with connect(self._url) as connection:
                    all_placed = eventually(lambda: connection.execute(UNPLACED).fetchone() is None)
                self._is_final.set()
            assert all_placed
            for follower in followers:
                follower.result()

    def _kill_until(self, end: float, landed: int) -> None:
        chance = random.Random(0)
        latest = time.monotonic() + _MOST_SECONDS
        with connect(self._url, application_name="killer") as connection:
            while time.monotonic() < (end if self.done["landed"] >= landed else latest):
                time.sleep(chance.uniform(0, 0.3))
                # Where the machine is slow, hardly any import would land between two kills.
                if self.done["kills"] <= 2 * self.done["landed"]:
                    self.done["kills"] += len(connection.execute(KILL).fetchall())
        self._is_over.set()

    def _turns(self, number: int, name: str, until: threading.Event | None = None) -> Iterator[random.Random]:
        """Yield until the time is over, and count."""
        chance = random.Random(number)
        while not (until or self._is_over).is_set():
            yield chance
            self.done[name] += 1

    def _imports(self, number: int) -> None:
        for chance in self._turns(number, "imports"):
            importer = Importer(self._url, batch_rows=chance.choice((5, 50, 400)))
            with _may_be_killed():
                importer.trades(self._trades(chance, 1, 10, 300))
                self.done["landed"] += 1

    def _removes(self, number: int) -> None:
        for chance in self._turns(number, "removals"):
            with _may_be_killed():
                Importer(self._url).remove_trades(self._trades(chance, 1, 40))

    def _wallets(self, number: int) -> None:
        for chance in self._turns(number, "wallets removed"):
            time.sleep(chance.uniform(0.2, 1))
            wallet = chance.choice(_WALLETS)
            with _may_be_killed():
                Importer(self._url).remove_wallets([wallet])
            while True:
                with _may_be_killed():
                    Importer(self._url).wallets([wallet])
                    break

    def _trades(self, chance: random.Random, *sizes: int) -> list[Row]:
        """Trades of one wallet, so that imports of others run at the same time."""
        address = chance.choice(_WALLETS)["wallet_address"]
        return [self._trade(chance, address) for _ in range(chance.choice(sizes))]

    def _trade(self, chance: random.Random, address: str) -> Row:
        signature = chance.randrange(_SIGNATURES)
        return trade_row(
            address,
            f"s{signature}",
            self._start + timedelta(minutes=chance.randrange(600)),
            mint=mint_of(f"mint-{signature % 2}"),
            transaction_type=("buy", "sell")[signature % 3 == 0],
            value=str(next(self._versions)),
        )

    def _follows(self, number: int) -> None:
        """Follow, now and then with another process of the service, and compare in the end."""
        path, question = _FEEDS[number % 2]
        follower = Follower(self._caller(), path, **GROUP, **question)
        for chance in self._turns(number, "pages", self._is_final):
            next(follower.pages(chance.choice((1, 20, 1000))))
            if chance.random() < 0.02:
                follower = follower.resumed(self._caller())
                self.done["resumptions"] += 1
        follower.read()
        assert stored(follower.trades) == trades_of(follower.caller, **GROUP, **question)
        versions = Counter((identity(row), row["value"]) for row in follower.changes if "value" in row)
        assert set(versions.values()) <= {1}, "a change came twice"
        assert [row["arrived_at"] for row in follower.changes] == sorted(
            row["arrived_at"] for row in follower.changes
        )
        self.done["changes"] += len(follower.changes)

    def _caller(self) -> Caller:
        return _Patient(next(self._apps).test_client(), self._key, self.done)


@dataclass(frozen=True)
class _Patient(Caller):
    """Sends a request again a second after a 503, as callers do; `done` counts them."""

    done: Counter[str]

    def document(self, path: str, **parameters: Any) -> Row:
        for _ in range(_MOST_TRIES):
            document = super().document(path, **parameters)
            if document["success"] or document["error"]["code"] != "service_unavailable":
                break
            self.done["responses 503"] += 1
            time.sleep(1)
        return document


def _may_be_killed() -> "suppress":
    """A command that another session kills, or whose wallet is not tracked at the moment."""
    return suppress(psycopg.Error, ApiError, WalletRemoved, AssertionError)
