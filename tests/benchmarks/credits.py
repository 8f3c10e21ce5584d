"""How exactly credits are sold: many callers over many workers, while workers and stores are killed.

    python -m tests.benchmarks.credits

prints the figures of docs/credits.md. Takes some minutes.
"""

import random
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import click
from psycopg import OperationalError

from tests.lib.callers import Answers, call_at_once
from tests.lib.outages import Outages, service_with_own_servers
from tests.lib.processes import Gunicorn, start_gunicorn, workers
from wallet_api.api.keys import create_key
from wallet_api.database import DatabaseUnavailable, connect

WORKERS = 8
CALLERS = 32
FAST = "1000000/second"
SEED = 21


@dataclass(frozen=True)
class Run:
    """One line of the table: what happened to a key with so many credits."""

    title: str
    credits: int
    kills: int = 0
    kill: Callable[[Outages, Gunicorn], None] = lambda outages, gunicorn: None


def _kill_worker(outages: Outages, gunicorn: Gunicorn) -> None:
    alive = workers(gunicorn)
    if alive:
        random.choice(alive).kill()


def _kill_server(name: str) -> Callable[[Outages, Gunicorn], None]:
    def kill(outages: Outages, gunicorn: Gunicorn) -> None:
        outages.kill(name)
        time.sleep(0.3)
        outages.bring_back()

    return kill


RUNS = (
    Run("nothing", 300),
    Run("nothing", 5_000),
    Run("nothing", 20_000),
    Run("15 workers killed", 20_000, 15, _kill_worker),
    Run("PostgreSQL killed 5 times", 20_000, 5, _kill_server("postgres")),
    Run("Valkey killed 5 times", 20_000, 5, _kill_server("valkey")),
)


@contextmanager
def _killing(run: Run, outages: Outages, gunicorn: Gunicorn, seconds: float) -> Iterator[None]:
    """While this lasts, one kill after another, spread over about so many seconds."""
    over = threading.Event()

    def work() -> None:
        for _ in range(run.kills):
            if over.wait(seconds / (run.kills + 1)):
                return
            run.kill(outages, gunicorn)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _balance(outages: Outages, name: str) -> int:
    while True:
        try:
            with connect(str(outages.settings.database_url)) as connection:
                row = connection.execute("SELECT credits FROM api_keys WHERE name = %s", [name]).fetchone()
                assert row is not None
                return int(row["credits"])
        except (DatabaseUnavailable, OperationalError):
            time.sleep(0.1)


def _measure(run: Run, number: int, outages: Outages, gunicorn: Gunicorn) -> tuple[int, int, int]:
    """Return what was delivered and charged, and the answers that were lost on their way."""
    name = f"run {number}"
    with connect(str(outages.settings.database_url)) as connection:
        key = create_key(connection, name, credits=run.credits, rate=FAST)
    answers: Answers = Answers()
    with _killing(run, outages, gunicorn, run.credits / 1_000):
        while _balance(outages, name) > 0:
            answers += call_at_once(gunicorn.url, key, 1_000, callers=CALLERS)
    answers += call_at_once(gunicorn.url, key, 500, callers=CALLERS)
    time.sleep(0.5)
    return answers[200], run.credits - _balance(outages, name), answers[None]


@click.command()
def main() -> None:
    """Run all lines of the table, one after the other, and print them."""
    random.seed(SEED)
    print("| meanwhile | credits | delivered | charged | forgiven | connections broken |")
    print("|---|---|---|---|---|---|")
    with (
        tempfile.TemporaryDirectory(prefix="wallet-api-credits-") as home,
        service_with_own_servers(Path(home)) as outages,
    ):
        outages.gunicorn.stop()
        settings = replace(outages.settings, key_cache_seconds=5.0)
        gunicorn = start_gunicorn(settings, Path(home) / "eight.log", workers=WORKERS, threads=4)
        outages.stack.callback(gunicorn.stop)
        for number, run in enumerate(RUNS):
            delivered, charged, broken = _measure(run, number, outages, gunicorn)
            forgiven = max(0, delivered - charged)
            numbers = (run.credits, delivered, charged, forgiven, broken)
            print(f"| {run.title} | {' | '.join(f'{number:,}' for number in numbers)} |", flush=True)


if __name__ == "__main__":
    main()
