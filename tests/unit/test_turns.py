"""Turns: how many threads work at once, in which order, and who takes over when one waits."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, wait

import pytest

from wallet_api.turns import Turns, give_up

THREADS = 6
AT_ONCE = 2


class Jobs:
    """Jobs that go on until they are let, and tell which of them have begun."""

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self.begun: list[int] = []
        self.ends: dict[int, threading.Event] = {}
        self.done: dict[int, Future[None]] = {}

    def add(self, number: int, *, giving_up: bool = False) -> None:
        """Submit job `number`."""
        end = self.ends[number] = threading.Event()

        def work() -> None:
            self.begun.append(number)
            if giving_up:
                give_up()
            assert end.wait(30)

        self.done[number] = self.turns.submit(work)

    def end(self, *numbers: int) -> None:
        """Let these jobs end."""
        for number in numbers:
            self.ends[number].set()
            self.done[number].result(30)

    def have_begun(self, *numbers: int) -> bool:
        """Whether these jobs, and no others, have begun, in this order, and none comes after."""
        deadline = time.monotonic() + 10
        while len(self.begun) < len(numbers) and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(0.05)
        return self.begun == list(numbers)


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    """Jobs for THREADS threads, AT_ONCE of which work."""
    turns = Turns(THREADS, AT_ONCE)
    own = Jobs(turns)
    yield own
    for end in own.ends.values():
        end.set()
    turns.shutdown()


def test_a_few_work_at_once_and_the_others_follow_in_their_order(jobs: Jobs) -> None:
    for number in range(5):
        jobs.add(number)
    assert jobs.have_begun(0, 1)
    assert jobs.turns.waiting
    jobs.end(1)
    assert jobs.have_begun(0, 1, 2)
    jobs.end(2, 0)
    assert jobs.have_begun(0, 1, 2, 3, 4)
    assert not jobs.turns.waiting


def test_who_gives_up_lets_another_work_and_every_thread_can(jobs: Jobs) -> None:
    for number in range(THREADS + 2):
        jobs.add(number, giving_up=True)
    assert jobs.have_begun(*range(THREADS))
    jobs.end(0, 1, 2)
    assert jobs.have_begun(*range(THREADS + 2))


def test_turns_that_were_given_up_are_not_more_afterwards(jobs: Jobs) -> None:
    for number in range(4):
        jobs.add(number, giving_up=True)
    assert jobs.have_begun(0, 1, 2, 3)
    jobs.end(0, 1, 2, 3)
    for number in range(4, 8):
        jobs.add(number)
    assert jobs.have_begun(0, 1, 2, 3, 4, 5)


def test_a_turn_had_for_long_is_taken_while_others_wait(jobs: Jobs) -> None:
    for number in range(2):
        jobs.add(number)
    assert jobs.have_begun(0, 1)
    jobs.turns.relieve(0.0)
    for number in range(2, 5):
        jobs.add(number)
    assert jobs.have_begun(0, 1)
    jobs.turns.relieve(60.0)
    assert jobs.have_begun(0, 1)
    jobs.turns.relieve(0.01)
    assert jobs.have_begun(0, 1, 2, 3)
    jobs.end(0, 1)
    assert jobs.have_begun(0, 1, 2, 3)
    jobs.end(2)
    assert jobs.have_begun(0, 1, 2, 3, 4)


def test_results_and_errors_come_to_who_submitted(jobs: Jobs) -> None:
    assert jobs.turns.submit(divmod, 7, 2).result(10) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        jobs.turns.submit(divmod, 7, 0).result(10)
    with pytest.raises(SystemExit):
        jobs.turns.submit(exit, 3).result(10)
    results = [jobs.turns.submit(pow, number, 2) for number in range(500)]
    assert [result.result(10) for result in results] == [number**2 for number in range(500)]


def test_shutdown_ends_every_thread_when_all_is_done(jobs: Jobs) -> None:
    before = threading.active_count()
    other = Turns(THREADS, AT_ONCE)
    results = [other.submit(time.sleep, 0.01) for _ in range(20)]
    other.shutdown()
    assert wait(results, 0).not_done == set()
    assert threading.active_count() == before


def test_giving_up_elsewhere_than_in_a_job_is_nothing() -> None:
    give_up()
