"""Concurrent callers over HTTP: a number of requests at once, or requests until a test has seen enough."""

import http.client
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from urllib.parse import urlsplit

import requests

from tests.lib.waiting import PATIENCE_SECONDS, calm_seconds

WALLETS = "/v1/wallets?blockchain=solana&type=kol"

# The number of responses by status; None counts requests whose connection broke.
Answers = Counter[int | None]


def call_at_once(
    url: str, key: str, calls: int, *, callers: int, after: Callable[[int], None] = lambda _: None
) -> Answers:
    """Send `calls` requests of the list operation from callers that start together.

    Each caller keeps its connection. `after` receives the number of each response, in any caller's thread.
    """
    address = urlsplit(url)
    started = threading.Barrier(callers)
    calls_left = iter(range(calls))
    answers_so_far = count(1)

    def call_until_done() -> Answers:
        answers: Answers = Counter()
        connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=60)
        started.wait()
        for _ in calls_left:
            try:
                connection.request("GET", WALLETS, headers={"Authorization": f"Bearer {key}"})
                response = connection.getresponse()
                response.read()
                answers[response.status] += 1
            except (http.client.HTTPException, OSError):
                answers[None] += 1
                connection.close()
            after(next(answers_so_far))
        connection.close()
        return answers

    with ThreadPoolExecutor(callers) as pool:
        futures = [pool.submit(call_until_done) for _ in range(callers)]
        return sum((future.result() for future in futures), Counter())


@dataclass
class Met:
    """The responses to callers: counts by status, failed requests, and each response with its time.

    Times are by `calm_seconds`.
    """

    statuses: Counter[int] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    answers: list[tuple[float, int, requests.Response]] = field(default_factory=list)
    longest_seconds: float = 0.0

    @property
    def refusals(self) -> list[requests.Response]:
        """The responses with another status than 200."""
        return [response for _, status, response in self.answers if status != 200]

    def recovered_seconds(self, since: float) -> float:
        """Return the seconds from `since` to the last refusal; 0 without one."""
        ended = (ended - since for ended, status, _ in self.answers if status != 200)
        return max([0.0, *ended])


@contextmanager
def callers(
    call: Callable[[requests.Session], requests.Response], threads: int = 4, pause_seconds: float = 0.0
) -> Iterator[Met]:
    """Run callers in this block. Each sends one request after the other on its own session."""
    met = Met()
    stop = threading.Event()

    def work() -> None:
        with requests.Session() as session:
            while not stop.is_set():
                began = calm_seconds()
                try:
                    response = call(session)
                except requests.RequestException as error:
                    met.failures.append(str(error))
                else:
                    met.statuses[response.status_code] += 1
                    ended = calm_seconds()
                    met.answers.append((ended, response.status_code, response))
                    met.longest_seconds = max(met.longest_seconds, ended - began)
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
    """Return a function that sends one request with a timeout."""
    return lambda session: session.get(url, **({"timeout": PATIENCE_SECONDS} | options))
