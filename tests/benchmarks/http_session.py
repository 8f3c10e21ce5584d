"""One run of the HTTP benchmark: its databases, its servers, and the table that it prints."""

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import click
import psutil

from tests.benchmarks import http_against, http_mix, http_report
from tests.benchmarks.http_cases import Case
from tests.benchmarks.http_keys import Keys
from tests.benchmarks.http_load import find_wrk
from tests.benchmarks.http_rounds import Bench
from tests.benchmarks.http_stage import Stage, staged
from tests.benchmarks.http_world import Made, crowd_cursors, write_files


@dataclass(frozen=True)
class Session:
    """How long is measured, and which cases: those with one of `parts` in their names, or all."""

    rounds: int
    seconds: int
    parts: Sequence[str]
    keys: Keys

    def table(self, *, nginx: bool) -> dict[str, Any]:
        """Measure and print the table of all cases. Raises MeasurementError."""
        wrk = find_wrk()
        with _folder() as home:
            show("filling the database")
            made = write_files(home)
            with staged(home, home, self.keys, nginx=nginx) as stage:
                made = self._with_cursors(made, stage)
                cases = {
                    name: case
                    for name, case in http_mix.ordinary_cases(made, self.keys).items()
                    if name == http_mix.YARDSTICK or self._wants(name)
                }
                with stage.servers({case.server for case in cases.values()}, nginx=nginx) as servers:
                    bench = Bench(wrk, servers, stage.stores, cases, stage.folder)
                    for name in cases:
                        show(f"warming up: {name}")
                        bench.warm_up(name)
                    runs = []
                    for number in range(1, self.rounds + 1):
                        show(f"round {number} of {self.rounds}")
                        runs.append(bench.round(http_mix.YARDSTICK, self.seconds, show))
        show("")
        found = http_report.figures(cases, runs)
        click.echo(f"Ordinary keys{', behind nginx' if nginx else ''}\n")
        click.echo(f"{http_report.table(found, nginx=nginx)}\n")
        click.echo(f"Targets missed: {'; '.join(http_report.missed(found)) or 'none'}\n")
        return _machine() | {"cases": found, "rounds": [asdict(run) for run in runs]}

    def against(self, other: Path, *, nginx: bool) -> dict[str, Any]:
        """Measure and print this checkout beside another. Raises MeasurementError."""
        wrk = find_wrk()
        with ExitStack() as stack:
            homes = [stack.enter_context(_folder()) for _ in range(2)]
            show("filling two databases")
            made = write_files(homes[0])
            stages = [
                stack.enter_context(staged(homes[0], homes[0], self.keys, nginx=nginx)),
                stack.enter_context(staged(homes[1], homes[0], self.keys, other, nginx=nginx)),
            ]
            # Each database seals its own cursors.
            cases = [self._compared(self._with_cursors(made, stage)) for stage in stages]
            with stages[1].servers({"service"}) as servers:
                refused = http_against.refused(servers["service"], cases[1])
            cases = [http_against.without(of_stage, refused) for of_stage in cases]
            ours, others = (
                Bench(
                    wrk,
                    stack.enter_context(stage.servers({"service"}, nginx=nginx)),
                    stage.stores,
                    of_stage,
                    stage.folder,
                )
                for stage, of_stage in zip(stages, cases, strict=True)
            )
            pairs = http_against.compare(ours, others, list(cases[0]), self.rounds, self.seconds, show)
        show("")
        found = http_against.figures(pairs)
        click.echo(f"This checkout : {other}\n\n{http_against.table(found, self.rounds)}\n")
        click.echo(f"Left out, refused by the other: {', '.join(sorted(refused)) or 'none'}\n")
        return _machine() | {"against": str(other), "refused": sorted(refused), "cases": found}

    def _with_cursors(self, made: Made, stage: Stage) -> Made:
        with stage.servers({"service"}) as servers:
            return replace(made, crowd_cursors=tuple(crowd_cursors(servers["service"], self.keys.hot)))

    def _compared(self, made: Made) -> dict[str, Case]:
        return {
            name: case
            for name, case in http_mix.ordinary_cases(made, self.keys).items()
            if case.server == "service" and (self._wants(name) if self.parts else name in http_mix.DECISIVE)
        }

    def _wants(self, name: str) -> bool:
        return not self.parts or any(part in name for part in self.parts)


def show(text: str) -> None:
    """Show what is done now, on one line of a terminal."""
    if sys.stderr.isatty():
        click.echo(f"\r{text:70}\r", nl=False, err=True)


def _machine() -> dict[str, Any]:
    return {"machine": {"cores": psutil.cpu_count(), "load": os.getloadavg(), "python": sys.version}}


@contextmanager
def _folder() -> Iterator[Path]:
    # Short: a socket's address has room for a hundred characters.
    with tempfile.TemporaryDirectory(prefix="wallet-bench-") as folder:
        path = Path(folder)
        # The embedded servers of root run as another user, who has to pass through.
        path.chmod(0o711)
        yield path
