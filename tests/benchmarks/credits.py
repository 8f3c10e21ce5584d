"""Count what is delivered and charged for a balance, undisturbed and while workers and stores are killed.

    python -m tests.benchmarks.credits [--only workers] [--credits 20000]

Eight workers serve one key to 32 callers until its credits are used up. The figures come from outside: the
responses that callers received, and the balance that `wallet-api keys list` prints. Without kills N credits
have to give exactly N responses; with them, no more may be charged beyond what was delivered than connections
broke. Prints the table of docs/credits.md; the exit status is 1 if one of these does not hold.
"""

import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from tests.benchmarks.credits_callers import Received, use_up
from tests.benchmarks.credits_service import Service, running_service
from tests.benchmarks.http_report import markdown

_HEAD = ["", "credits", "delivered", "charged", "forgiven", "lost", "503", "broken", "seconds"]


@dataclass(frozen=True)
class Outcome:
    """What became of one key's credits."""

    credits: int
    left: int
    received: Received
    seconds: float

    @property
    def charged(self) -> int:
        """The credits that were taken from the balance."""
        return self.credits - self.left

    @property
    def forgiven(self) -> int:
        """The responses that were delivered and never charged, on balance."""
        return max(0, self.received.delivered - self.charged)

    @property
    def lost(self) -> int:
        """The credits that were charged for responses that did not arrive, on balance."""
        return max(0, self.charged - self.received.delivered)

    def is_kept(self, *, exactly: bool) -> bool:
        """Whether the promise holds: for exactly N credits N responses, or else nothing taken."""
        if exactly:
            return self.left == 0 and self.received.delivered == self.credits
        return self.left == 0 and self.lost <= self.received.broken

    def row(self, name: str) -> list[str]:
        """Return the line of the table."""
        counts = (self.credits, self.received.delivered, self.charged, self.forgiven, self.lost)
        others = (self.received.unavailable, self.received.broken)
        return [name, *(f"{count:,}" for count in (*counts, *others)), f"{self.seconds:.0f}"]


@dataclass(frozen=True)
class Schedule:
    """What is done to the service, how often, while the credits of one key are used up."""

    name: str
    credits: int
    times: int = 0
    disturb: Callable[[Service], None] = lambda service: None

    def run(self, service: Service) -> Outcome:
        """Use up a new key's credits."""
        key = service.create_key(self.name, self.credits)
        started = time.monotonic()
        steps = [self.credits * (number + 1) // (self.times + 1) for number in range(self.times)]
        received = use_up(service.url, key, steps, lambda: self.disturb(service))
        seconds = time.monotonic() - started
        # A worker's last charges are settled within a second.
        time.sleep(1.5)
        return Outcome(self.credits, service.credits_left(self.name), received, seconds)


def _schedules(exact: list[int], credits: int, kills: int, store_kills: int, seed: int) -> Iterator[Schedule]:
    chance = random.Random(seed)
    for count in exact:
        yield Schedule(f"undisturbed, {count:,}", count)
    many = (
        (f"{kills} workers killed", kills, lambda service: service.kill_worker(chance)),
        (f"{store_kills} reloads", store_kills, Service.reload),
        (f"PostgreSQL killed {store_kills} times", store_kills, Service.kill_postgres),
        (f"PostgreSQL restarted {store_kills} times", store_kills, Service.restart_postgres),
        (f"Valkey killed {store_kills} times", store_kills, Service.kill_valkey),
    )
    for name, times, disturb in many:
        yield Schedule(name, credits, times, disturb)


@click.command()
@click.option("--exact", default="300,5000,20000", show_default=True, help="Credits of the undisturbed keys.")
@click.option(
    "--credits", default=20_000, show_default=True, help="Credits of the key of each kill schedule."
)
@click.option("--kills", default=15, show_default=True, help="How many workers are killed.")
@click.option("--store-kills", default=5, show_default=True, help="How often each store is killed.")
@click.option("--only", default="", help="Only the schedules with this in their names.")
@click.option("--seed", default=1, show_default=True, help="Decides which workers are killed.")
def main(exact: str, credits: int, kills: int, store_kills: int, only: str, seed: int) -> None:
    """Use up the credits of keys, and count."""
    rows, broken = [], []
    numbers = [int(number) for number in exact.split(",")]
    with _folder() as home, running_service(home) as service:
        for schedule in _schedules(numbers, credits, kills, store_kills, seed):
            if only not in schedule.name:
                continue
            click.echo(f"{schedule.name} …", err=True)
            outcome = schedule.run(service)
            rows.append(outcome.row(schedule.name))
            if not outcome.is_kept(exactly=schedule.times == 0):
                broken.append(f"{schedule.name}: {outcome}")
    click.echo(markdown(_HEAD, rows))
    click.echo(f"\nPromises broken: {'; '.join(broken) or 'none'}")
    sys.exit(1 if broken else 0)


@contextmanager
def _folder() -> Iterator[Path]:
    with TemporaryDirectory(prefix="wallet-credits-") as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)


if __name__ == "__main__":
    main()
