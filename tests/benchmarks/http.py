"""Measures the HTTP side: `make bench`, or `python -m tests.benchmarks.http --help`.

The cases are measured one after the other, round by round, each between two runs of bare Flask, so
that other load of the machine affects all of them; ratios are made within a round. How to read the figures:
docs/benchmarks.md.
"""

import json
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import click
import psutil

from tests.benchmarks.http_cases import TARGETS, Call, Keys, cases, make_keys, write_calls
from tests.benchmarks.http_servers import (
    ROOT,
    Measured,
    MeasurementError,
    behind_nginx,
    gunicorn,
    measure,
)
from tests.benchmarks.http_world import crowd_cursors, fill, write_files
from tests.lib.processes import Gunicorn, running_valkey
from wallet_api.operate import embedded
from wallet_api.settings import Settings

ENOUGH_ROUNDS = 6
# Enough that keys with few credits last, however fast the service is.
_MOST_CALLS_PER_SECOND = 8_000
_WARM_UP_SECONDS = 2


@dataclass(frozen=True)
class Side:
    """A checkout that is measured: the service, bare Flask beside it, and the file of each case."""

    folder: Path
    service: Gunicorn
    flask: Gunicorn
    constant: Path
    files: dict[str, Path]

    def flask_rate(self, seconds: int) -> float:
        """Return the requests per second of bare Flask now: machines change their speed within seconds."""
        return measure(self.flask, self.folder, self.constant, max(1, seconds)).calls_per_second


@dataclass(frozen=True)
class Run:
    """A case in one round, and its share of bare Flask."""

    measured: Measured
    of_flask: float


Runs = dict[str, list[Run]]


@contextmanager
def _side(files: Path, keys: Keys, tree: Path, *, nginx: bool) -> Iterator[Side]:
    """Run a checkout with stores of its own, which have the world of `files` and the keys."""
    with ExitStack() as stack:
        # Short: a socket's address has room for a hundred characters.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wallet-bench-")))
        # The embedded servers of root run as another user, who has to pass through.
        folder.chmod(0o711)
        settings = stack.enter_context(embedded.running(Settings(wallet_api_home=str(folder))))
        environment = {
            "DATABASE_URL": str(settings.database_url),
            "VALKEY_URL": stack.enter_context(running_valkey(folder)),
            "WALLET_API_HOME": str(folder),
            "DEFAULT_RATE": "300/minute",
            # The snapshots of this database are as old as it is, and there is no provider.
            "HOLDINGS_TTL_SECONDS": "86400",
            "PROXY_HOPS": "1" if nginx else "0",
        }
        _show(f"filling the database of {tree}")
        fill(tree, environment, files)
        keys.save(environment["DATABASE_URL"])
        service = stack.enter_context(gunicorn("service", "wsgi:app", folder, environment, tree))
        flask = stack.enter_context(
            gunicorn("flask", "tests.benchmarks.bare_flask:app", folder, environment, tree)
        )
        # Each database seals its own cursors.
        made = cases(tuple(crowd_cursors(service, keys.hot[0])), keys)
        if nginx:
            service, flask = (stack.enter_context(behind_nginx(one, folder)) for one in (service, flask))
        calls = {name: write_calls(folder / f"calls-{n}", made[name]) for n, name in enumerate(made)}
        yield Side(folder, service, flask, write_calls(folder / "constant", [Call("/")]), calls)


def _measured(sides: Sequence[Side], names: Sequence[str], rounds: int, seconds: int) -> list[Runs]:
    """Measure each case of each side in each round. Which side comes first changes from round to round."""
    found: list[Runs] = [{name: [] for name in names} for _ in sides]
    pairs = list(zip(sides, found, strict=True))
    for side in sides:
        for name in names:
            _show(f"warming up: {name}")
            measure(side.service, side.folder, side.files[name], _WARM_UP_SECONDS)
    for number in range(rounds):
        for name in names:
            for side, runs in pairs if number % 2 else pairs[::-1]:
                _show(f"round {number + 1} of {rounds}: {name}")
                # Its keys and caches get warm again.
                measure(side.service, side.folder, side.files[name], 1)
                before = side.flask_rate(seconds // 2)
                case = measure(side.service, side.folder, side.files[name], seconds)
                flask = (before + side.flask_rate(seconds // 2)) / 2
                runs[name].append(Run(case, case.calls_per_second / flask))
    return found


def _table(found: Sequence[Runs]) -> Iterator[str]:
    """Yield the lines of a table in Markdown: medians, a line for each side, and the ratio of both."""
    head = ["case", "requests/s", "× Flask", "target", "server µs", "PostgreSQL µs", "Valkey µs", "p50 ms"]
    yield f"| {' | '.join([*head, 'p99 ms', 'worker MB', 'this : other'])} |"
    yield f"|---|{'---:|' * 10}"
    for name in found[0]:
        for side, runs in enumerate(found):
            one = {
                field: statistics.median(asdict(run.measured)[field] for run in runs[name])
                for field in _SHOWN
            }
            least = None if side else TARGETS.get(name)
            cells = [
                name if not side else "– the other checkout",
                f"{one['calls_per_second']:,.0f}",
                f"{statistics.median(run.of_flask for run in runs[name]):.2f}",
                f"≥ {least}" if least else "",
                *(f"{one[field]:,.0f}" for field in ("server_us", "postgres_us", "valkey_us")),
                *(f"{one[field]:.1f}" for field in ("p50_ms", "p99_ms")),
                f"{one['worker_mb']:.0f}",
                _ratios(found, name) if len(found) > 1 and not side else "",
            ]
            yield f"| {' | '.join(cells)} |"


_SHOWN = tuple(Measured.__dataclass_fields__)


def _ratios(found: Sequence[Runs], name: str) -> str:
    """Return the ratio of the rates in the median round, and in the lowest and the highest."""
    rounds = zip(found[0][name], found[1][name], strict=True)
    ratios = sorted(one.measured.calls_per_second / other.measured.calls_per_second for one, other in rounds)
    return f"{statistics.median(ratios):.3f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"


def _show(text: str) -> None:
    """Show what is done now, on one line of a terminal."""
    if sys.stderr.isatty():
        click.echo(f"\r{text:70}\r", nl=False, err=True)


@click.command()
@click.option("--only", default="", help="Only cases whose name contains one of these, separated by '|'.")
@click.option("--rounds", type=int, help="How often each case is measured.  [default: 3; 6 with --against]")
@click.option("--seconds", default=3, show_default=True, help="How long each time.")
@click.option("--nginx", is_flag=True, help="With config/nginx.conf in front of each server.")
@click.option(
    "--against",
    type=click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path),
    help="Compare with another checkout, by default in the cases of 1,500 keys.",
)
@click.option("--list", "listed", is_flag=True, help="Print the names of all cases and stop.")
@click.option(
    "--json",
    "json_file",
    type=click.Path(path_type=Path),
    default=Path("build/bench-http.json"),
    show_default=True,
    help="Where all figures are written.",
)
def main(
    only: str,
    rounds: int | None,
    seconds: int,
    nginx: bool,
    against: Path | None,
    listed: bool,
    json_file: Path,
) -> None:
    """Measure the HTTP side: a table on standard output, all figures in a JSON file.

    Each case is measured for --seconds in each of --rounds, between two runs of bare Flask of half that time.
    """
    rounds = rounds or (ENOUGH_ROUNDS if against else 3)
    # Warm-ups take as much as the measurements, or less.
    keys = make_keys(_MOST_CALLS_PER_SECOND * (2 * seconds * rounds + 2) // 1_000)
    names = list(cases(("",), keys))
    if listed:
        click.echo("\n".join(names))
        return
    if only or against:
        parts = only.split("|") if only else list(TARGETS)
        names = [name for name in names if any(part in name for part in parts)]
    try:
        with ExitStack() as stack:
            files = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            write_files(files)
            trees = [ROOT, against] if against else [ROOT]
            sides = [stack.enter_context(_side(files, keys, tree, nginx=nginx)) for tree in trees]
            found = _measured(sides, names, rounds, seconds)
    except MeasurementError as error:
        raise click.ClickException(str(error)) from error
    _show("")
    click.echo("\n".join(_table(found)))
    if against and rounds < ENOUGH_ROUNDS:
        click.echo(f"{rounds} rounds: too few to decide anything by; {ENOUGH_ROUNDS} are the least.")
    json_file.parent.mkdir(parents=True, exist_ok=True)
    machine = {"cores": psutil.cpu_count(), "load": os.getloadavg(), "python": sys.version}
    sides_found = [{name: [asdict(run) for run in runs] for name, runs in side.items()} for side in found]
    json_file.write_text(json.dumps({"machine": machine, "sides": sides_found}, indent=2) + "\n")
    click.echo(f"All figures: {json_file}")


if __name__ == "__main__":
    main()
