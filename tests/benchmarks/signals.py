"""Signals at random instants: does each command that runs on end?

    python -m tests.benchmarks.signals [--runs 60] [COMMAND …]

Each command is sent SIGTERM, SIGINT or SIGHUP RUNS times, at any instant of its first seconds. Ends with
status 0 if each command ended within LIMIT_SECONDS and left no process, shared memory or lock file. What the
threads of one do that did not end is printed.
"""

import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
import msgspec
import psutil

from tests.ledger.alone import ledger_alone
from tests.ledger.in_process import Importer
from tests.lib.processes import Process, environment_of, kill, processes_of
from tests.lib.running_up import free_port
from tests.lib.waiting import eventually
from tests.stub.evm import EvmChain, now
from tests.stub.server import Stub
from tests.sync.operator import Operator
from tests.sync.worlds import make_world
from wallet_api.operate.demo.world import World
from wallet_api.settings import Settings

LIMIT_SECONDS = 15.0
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
# Runs a module that writes the stacks of all threads at SIGPROF, which nothing else uses.
_WITH_STACKS = """
import faulthandler, os, runpy, signal, sys, tempfile
name = os.path.join(tempfile.gettempdir(), f"wallet-api-stacks-{os.getpid()}")
descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
os.set_inheritable(descriptor, False)
faulthandler.register(signal.SIGPROF, file=descriptor, all_threads=True)
del sys.argv[0]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""
_SHARED = Path("/dev/shm")


def leftovers(home: Path, shared: set[str] | None) -> list[str]:
    """Return what a command has left behind: processes, a lock file, shared memory that nobody uses.

    `shared` is what was unused before; None if the command has no server of its own.
    """
    left = [process.name() for process in processes_of(home)]
    left += [file.name for file in home.glob("postgres*/postmaster.pid")]
    left += [file.name for file in home.glob("postgres.new")]
    if shared is None:
        return left
    new = unused_memory() - shared
    deadline = time.monotonic() + 5
    # Of another server, it may just come or go.
    while new and time.monotonic() < deadline:
        time.sleep(0.2)
        new &= unused_memory()
    return left + sorted(new)


def unused_memory() -> set[str]:
    """Return PostgreSQL's shared memory of which no process is left."""
    files = {str(file) for file in _SHARED.glob("PostgreSQL.*")}
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            files -= {mapped.path for mapped in process.memory_maps()}
    rows = [line.split() for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]]
    return files | {f"segment {row[1]}" for row in rows if row[3] == "56" and row[6] == "0"}


Start = Callable[[], Process[str]]


@contextmanager
def commands(home: Path) -> Iterator[dict[str, Start]]:
    """Yield the commands that run on; each call starts one."""
    with ledger_alone(home / "ledger") as settings, closing(Stub()) as stub:
        operator = Operator(stub, str(settings.database_url))
        stub.swaps.page_rows = 8
        operator.track(*make_world(stub, wallets=16, transactions=25).wallets)
        chain = stub.nodes.blocks["eth"] = EvmChain()
        chain.add(now() - timedelta(minutes=1))
        node = (
            stub.environment | stub.node_environment | stub.evm_environment("eth") | {"FOLLOW_SECONDS": "0.3"}
        )

        def sync(job: str, *options: str, **more: str) -> Start:
            environment = environment_of(settings) | stub.environment | more
            environment |= {"NO_PROXY": "127.0.0.1", "SYNC_REQUESTS_PER_SECOND": "50"}
            return lambda: _start(environment, "sync", job, *options)

        def up(folder: str, *options: str) -> Start:
            place = home / folder
            environment = environment_of(Settings(wallet_api_home=str(place), web_concurrency=1))
            return lambda: _start(environment, "up", "--port", str(free_port()), *options)

        served = replace(settings, web_concurrency=2)
        world = World(datetime.now(UTC), wallets=24, trades=100_000, days=5)
        Importer(operator.url).wallets(map(msgspec.to_builtins, world.wallet_rows()))
        trades = home / "trades.ndjson"
        trades.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in world.trade_rows()))
        yield {
            "follow": sync("trades", "--follow", "--since", "1h", **node),
            "trades": sync("trades", "--every", "1"),
            "prices": sync("prices", "--every", "1", "--since", "1h"),
            "tokens": sync("tokens", "--every", "1", **node),
            "import": lambda: _start(environment_of(settings), "import", "trades", str(trades)),
            "up": up("own", "--no-demo"),
            "demo": up("demo"),
            "gunicorn": lambda: _gunicorn(served),
        }


def _start(environment: dict[str, str], *arguments: str) -> Process[str]:
    return _quiet(environment, "wallet_api", *arguments)


def _gunicorn(settings: Settings) -> Process[str]:
    options = ("--config", "python:wallet_api.serving.settings", "--bind", "127.0.0.1:0")
    return _quiet(environment_of(settings), "gunicorn", *options, "wallet_api.app:create_app()")


def _quiet(environment: dict[str, str], *module: str) -> Process[str]:
    output = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return Process([sys.executable, "-c", _WITH_STACKS, *module], env=environment, **output)


def stacks_of(process: Process[str]) -> str:
    """Return what each thread of a command that does not end is doing."""
    file = stack_file(process)
    process.send_signal(signal.SIGPROF)
    eventually(lambda: file.exists() and file.stat().st_size > 0, 5)
    time.sleep(0.5)
    return file.read_text() if file.exists() else "(it has not begun)"


def stack_file(process: Process[str]) -> Path:
    """Return the file into which a command writes its stacks."""
    return Path(tempfile.gettempdir()) / f"wallet-api-stacks-{process.pid}"


def measure(name: str, start: Start, home: Path, runs: int, fresh: Path | None) -> bool:
    """Send signals to a command, print a line of how it ended, and return whether always well."""
    took, statuses, left = [], Counter[int](), Counter[str]()
    hung = 0
    for run in range(runs):
        shared = unused_memory() if fresh else None
        started = time.monotonic()
        process = start()
        time.sleep(random.uniform(0.0, 9.0))
        number = random.choice(_SIGNALS[:2] if name == "gunicorn" else _SIGNALS)
        began = time.monotonic()
        process.send_signal(number)
        if eventually(lambda: process.poll() is not None, LIMIT_SECONDS):  # noqa: B023
            statuses[process.wait()] += 1
        else:
            hung += 1
            click.echo(
                f"{name}, {signal.Signals(number).name} after {began - started:.2f} s:\n{stacks_of(process)}"
            )
            kill([psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)])
            process.wait()
        took.append(time.monotonic() - began)
        stack_file(process).unlink(missing_ok=True)
        left.update(leftovers(fresh or home, shared))
        if fresh and run % 2:
            if processes := processes_of(fresh):
                kill(processes)
            # Half of the runs create their folder.
            os.system(f"rm -rf '{fresh}'")
    click.echo(
        f"{name:<9} {runs:>4} signals, {hung} hung; "
        f"median {statistics.median(took):.2f} s, longest {max(took):.2f} s; "
        f"statuses {dict(statuses)}; left {dict(left) or 'nothing'}"
    )
    return not hung and not left


@click.command()
@click.option("--runs", default=60, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.argument("names", nargs=-1, metavar="[COMMAND]…")
def main(runs: int, seed: int, names: tuple[str, ...]) -> None:
    """Signals at random instants."""
    random.seed(seed)
    # A shell starts background jobs with SIGINT ignored, nohup with SIGHUP, and commands would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    good = True
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        home.chmod(0o711)
        starts = stack.enter_context(commands(home))
        for name in names or starts:
            fresh = {"up": home / "own", "demo": home / "demo"}.get(name)
            good = measure(name, starts[name], home / "none", runs, fresh) and good
    sys.exit(not good)


if __name__ == "__main__":
    main()
