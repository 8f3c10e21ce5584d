"""Callers at work while something happens to the service, and what they met."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import requests


@dataclass
class Met:
    """What callers met: answers by status, calls that got none, and when each call ended, with its status."""

    statuses: Counter[int] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    answers: list[tuple[float, int, requests.Response]] = field(default_factory=list)

    @property
    def refusals(self) -> list[requests.Response]:
        """The answers that were no success."""
        return [response for _, status, response in self.answers if status != 200]

    def recovered_seconds(self, since: float) -> float:
        """From `since`, on the monotonic clock, to the last answer that was a refusal; 0 if none was."""
        ended = (ended - since for ended, status, _ in self.answers if status != 200)
        return max(0.0, *ended, 0.0)


@contextmanager
def callers(
    call: Callable[[requests.Session], requests.Response], threads: int = 4, pause_seconds: float = 0.0
) -> Iterator[Met]:
    """Callers who call one after the other, each on its own session, as long as this lasts."""
    met = Met()
    stop = threading.Event()

    def work() -> None:
        with requests.Session() as session:
            while not stop.is_set():
                try:
                    response = call(session)
                except requests.RequestException as error:
                    met.failures.append(str(error))
                else:
                    met.statuses[response.status_code] += 1
                    met.answers.append((time.monotonic(), response.status_code, response))
                stop.wait(pause_seconds)

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    try:
        yield met
    finally:
        stop.set()
        for worker in workers:
            worker.join()


def get(url: str, **options: Any) -> Callable[[requests.Session], requests.Response]:
    """One call, of at most 20 seconds."""
    return lambda session: session.get(url, **({"timeout": 20} | options))
