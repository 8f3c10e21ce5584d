"""Measures the ledger: its import against a raw COPY, and its responses at several sizes.

    python -m tests.benchmarks.ledger [--sizes 100000,1000000] [--calls 200] [--keep FOLDER]

All is measured in one run, each size on a server of its own below the folder for temporary files, and the
answers of all sizes in turn, so that ratios may be compared. A kept ledger is used again, with the figures of
its import; its newest trades grow old. What the figures mean: docs/benchmarks.md.
"""

import json
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import click
import psutil

from tests.benchmarks import ledger_report, ledger_world
from tests.benchmarks.ledger_operations import OPERATIONS
from tests.benchmarks.ledger_world import GROUP
from tests.ledger.alone import ledger_alone
from tests.ledger.caller import Caller
from tests.lib.processes import peak_of
from wallet_api.app import create_app
from wallet_api.database import Connection, connect
from wallet_api.queries.leaderboard_page import read_board
from wallet_api.settings import Settings

Figures = dict[str, float]
_ROUNDS = 4
_COPIES = 3
_MANY = 1_000_000
_FEW_CALLS = {ledger_report.MADE: 5} | {own.name: own.calls for own in OPERATIONS if own.calls}


@click.command()
@click.option("--sizes", default="100000,1000000", show_default=True, help="Numbers of trades, with commas.")
@click.option("--calls", default=200, show_default=True, help="Timed calls of each operation.")
@click.option("--keep", type=click.Path(path_type=Path), help="Keep the ledgers below this folder.")
@click.option("--folder", type=click.Path(path_type=Path), default=Path("build"), show_default=True)
def main(sizes: str, calls: int, keep: Path | None, folder: Path) -> None:
    """Print one table of all sizes, and write it as JSON to the folder."""
    with ExitStack() as stack:
        ledgers = {size: stack.enter_context(_ledger(size, keep)) for size in map(int, sizes.split(","))}
        _say("requests of all sizes in turn")
        _ask_in_turn(list(ledgers.values()), calls)
        found = {size: ledger.figures for size, ledger in ledgers.items()}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bench-ledger.json").write_text(json.dumps(found, indent=2) + "\n")
    click.echo(ledger_report.table(found))
    click.echo(f"\nAll figures: {folder}/bench-ledger.json")


@dataclass
class Ledger:
    """A ledger of one size on a server of its own, below the folder `home`; and what was measured of it."""

    home: Path
    settings: Settings
    connection: Connection
    figures: Figures


@contextmanager
def _ledger(trades: int, keep: Path | None) -> Iterator[Ledger]:
    kept_in = keep and keep / str(trades)
    with ledger_alone(kept_in) as settings, connect(str(settings.database_url)) as connection:
        home = Path(settings.wallet_api_home).parent
        kept = home / "figures.json"
        if kept.exists():
            figures: Figures = json.loads(kept.read_text())
        else:
            figures = _made(home, settings, connection, trades)
            kept.write_text(json.dumps(figures))
        yield Ledger(home, settings, connection, figures)


def _made(home: Path, settings: Settings, connection: Connection, trades: int) -> Figures:
    """Make and import a ledger; return the figures of its import."""
    _say(f"{trades:,} trades: making them")
    ledger_world.write(home, trades)
    _say("importing")
    figures = _import(settings, home, trades)
    connection.execute("VACUUM ANALYZE")
    _say("raw COPY")
    figures["raw COPY, rows/s"] = trades / _raw_copy(connection, home, trades)
    figures["import : raw COPY"] = figures["import, rows/s"] / figures["raw COPY, rows/s"]
    return figures


def _import(settings: Settings, home: Path, trades: int) -> Figures:
    for name in ("wallets", "prices", "trades"):
        started = time.monotonic()
        with ledger_world.importing(settings, home, name) as importer:
            with peak_of(psutil.Process(importer.pid)) as peak:
                importer.wait(86_400)
            seconds = time.monotonic() - started
    return {"import, rows/s": trades / seconds, "importer, MB": peak[0] / 1_000_000}


def _raw_copy(connection: Connection, home: Path, trades: int) -> float:
    """How long the rows, by time as in the file, take into a table like the ledger's: median seconds."""
    file = home / "raw.copy"
    by_time = "COPY (SELECT * FROM trades ORDER BY created_at, tx_signature) TO STDOUT"
    with connection.cursor() as cursor, file.open("wb") as output, cursor.copy(by_time) as copy:
        output.writelines(copy)
    times = []
    for _ in range(_COPIES if trades <= _MANY else 1):
        connection.execute("CREATE TABLE raw (LIKE trades INCLUDING ALL)")
        connection.execute("CHECKPOINT")
        started = time.monotonic()
        with (
            connection.cursor() as cursor,
            cursor.copy("COPY raw FROM STDIN") as copy,
            file.open("rb") as rows,
        ):
            for block in _blocks(rows):
                copy.write(block)
        times.append(time.monotonic() - started)
        connection.execute("DROP TABLE raw")
    file.unlink()
    return statistics.median(times)


def _blocks(file: Any) -> Iterator[bytes]:
    while block := file.read(1 << 18):
        yield block


def _ask_in_turn(ledgers: Sequence[Ledger], calls: int) -> None:
    """Time each operation, of one ledger after the other, so that what else the machine does falls on all."""
    with ExitStack() as stack:
        of_all = [stack.enter_context(_questions(ledger)) for ledger in ledgers]
        for name in of_all[0]:
            times: list[list[float]] = [[] for _ in ledgers]
            few = _FEW_CALLS.get(name)
            for _ in range(1 if few else _ROUNDS):
                for questions, taken in zip(of_all, times, strict=True):
                    taken += _times(questions[name], few or calls // _ROUNDS)
            for ledger, taken in zip(ledgers, times, strict=True):
                ledger.figures |= _medians(name, taken)


@contextmanager
def _caller(ledger: Ledger, **settings: float) -> Iterator[Caller]:
    """A caller of an application over a ledger, with key, limit and all, for whom no answer is kept."""
    app = create_app(replace(ledger.settings, answer_ttl_seconds=0.0, **settings))
    with closing(app.extensions["wallet_api"]):
        yield Caller.new(app.test_client(), ledger.connection, f"bench {id(app)}", rate="1000000/second")


def _body(caller: Caller, path: str, arguments: Mapping[str, Any]) -> bytes:
    """Return the body of a successful answer."""
    answer = caller.send(path, **arguments)
    assert answer.status_code == 200, answer.text
    return answer.data


@contextmanager
def _questions(ledger: Ledger) -> Iterator[dict[str, Callable[[], Any]]]:
    """Each operation; of the five, a leaderboard is that of the cache."""

    def make() -> None:
        read_board(ledger.connection, datetime.now(UTC), GROUP | {"period": "30d"})

    with _caller(ledger) as five, _caller(ledger, leaderboard_ttl_seconds=0.0) as caller:

        def reading(path: str, **parameters: Any) -> Callable[[], Any]:
            return partial(_body, five, path, GROUP | parameters)

        yield {
            ledger_report.LIST: partial(_body, caller, "/wallets", GROUP | {"limit": 50}),
            ledger_report.HEAVY: reading("/wallets/history", address=ledger_world.HEAVY),
            ledger_report.LIGHT: reading("/wallets/history", address=ledger_world.LIGHT),
            ledger_report.VOLUME: reading("/transactions/volume"),
            ledger_report.BOARD: reading("/wallet/leaderboard", period="30d", limit=10),
            ledger_report.MADE: make,
            ledger_report.CHANGES: partial(next, _changes(caller)),
            **{own.name: partial(_body, caller, own.path, own.arguments) for own in OPERATIONS},
        }


def _changes(caller: Caller) -> Iterator[None]:
    """Follow the feed of the group from its start, and yield after each page."""
    after = "start"
    while True:
        page = _body(caller, "/transactions/latest", GROUP | {"after": after, "limit": 100})
        # Reading all of the page would take as long as a part of the response.
        after = page.rpartition(b'"next_cursor":"')[2].partition(b'"')[0].decode()
        yield


def _times(read: Callable[[], Any], calls: int) -> list[float]:
    """The milliseconds of so many calls, and of one more before them that is not counted."""
    if calls > 1:
        read()
    times = []
    for _ in range(calls):
        started = time.perf_counter()
        read()
        times.append((time.perf_counter() - started) * 1000)
    return times


def _medians(name: str, times: Sequence[float]) -> Figures:
    figures = {f"{name}, p50 ms": statistics.median(times)}
    if len(times) >= 100:
        figures[f"{name}, p99 ms"] = statistics.quantiles(times, n=100)[98]
    return figures


def _say(what: str) -> None:
    click.echo(f"{what} …", err=True)


if __name__ == "__main__":
    main()
