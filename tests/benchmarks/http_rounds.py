"""Rounds of measurements: one case after the other, the yardstick just before and after each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.benchmarks.http_cases import Case, write_calls
from tests.benchmarks.http_load import Measured, measure, send
from tests.benchmarks.http_servers import Server

# In some runs of stock gthread one worker takes all connections; these are repeated, but not for ever.
_EVEN_SHARE = 0.75
_MOST_TRIES = 6
_WARM_UP_SECONDS = 2
_LONGEST_LEAD_IN_SECONDS = 30

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Run:
    """A round: each case, and the calls per second of the yardstick just before and after it."""

    cases: dict[str, Measured]
    yardsticks: dict[str, float]

    def of_yardstick(self, name: str) -> float:
        """Return a case's share of the yardstick beside it: machines change their speed within seconds."""
        return self.cases[name].calls_per_second / self.yardsticks[name]


class Bench:
    """Cases by name, and the servers and stores with which they are measured."""

    def __init__(
        self,
        wrk: str,
        servers: Mapping[str, Server],
        stores: Mapping[str, list[psutil.Process]],
        cases: Mapping[str, Case],
        folder: Path,
    ) -> None:
        self._wrk = wrk
        self._servers = servers
        self._stores = stores
        self._cases = cases
        self._rates: dict[str, float] = {}
        self._files = {
            name: write_calls(folder / f"calls-{place}", case.calls)
            for place, (name, case) in enumerate(cases.items())
        }

    def warm_up(self, name: str) -> None:
        """Send a case's requests for a while: plans and caches get warm."""
        self._rates[name] = self._send(name, _WARM_UP_SECONDS) / _WARM_UP_SECONDS

    def lead_in(self, name: str) -> None:
        """Send the requests that come before a measurement of this case: its keys get warm."""
        wanted = self._cases[name].lead_in_calls
        if wanted:
            self._send(name, min(round(wanted / self._rates[name]) + 1, _LONGEST_LEAD_IN_SECONDS))

    def _send(self, name: str, seconds: int) -> int:
        return send(self._wrk, self._servers[self._cases[name].server], self._files[name], seconds)["calls"]

    def measure(self, name: str, seconds: int) -> Measured:
        """Measure one case."""
        server = self._servers[self._cases[name].server]
        found = measure(self._wrk, server, self._stores, self._files[name], max(1, seconds))
        self._rates[name] = found.calls_per_second
        return found

    def measure_evenly(self, name: str, seconds: int) -> Measured:
        """Measure one case, again when one worker did nearly all of the work."""
        tries = (self.measure(name, seconds) for _ in range(_MOST_TRIES))
        found = next(tries)
        while found.busiest_share > _EVEN_SHARE:
            best = next(tries, None)
            if best is None:
                break
            found = min(found, best, key=lambda measured: measured.busiest_share)
        return found

    def round(self, yardstick: str, seconds: int, progress: Progress) -> Run:
        """Measure all cases once."""
        run = Run({}, {})
        beside = None
        for name, case in self._cases.items():
            progress(name)
            if case.lead_in_calls:
                self.lead_in(name)
                beside = None
            before = beside or self.measure_evenly(yardstick, seconds // 2)
            run.cases[name] = (
                self.measure_evenly(name, seconds) if name == yardstick else self.measure(name, seconds)
            )
            beside = self.measure_evenly(yardstick, seconds // 2)
            run.yardsticks[name] = (before.calls_per_second + beside.calls_per_second) / 2
        return run
