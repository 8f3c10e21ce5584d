"""Rounds begin at even intervals, however long they take."""

import threading
import time

import pytest

from wallet_api.sync.schedule import next_due, repeat


@pytest.mark.parametrize(
    ("due", "now", "begins"),
    [
        (0.0, 0.0, 60.0),
        (0.0, 59.9, 60.0),
        # A long one is followed at once, and the grid stays.
        (0.0, 61.0, 60.0),
        (60.0, 119.0, 120.0),
        (0.0, 150.0, 120.0),
    ],
)
def test_beginnings_stay_on_the_grid(due: float, now: float, begins: float) -> None:
    assert next_due(due, now, 60.0) == begins


def test_thousands_of_rounds_do_not_drift() -> None:
    due = now = 1000.0
    for number in range(100_000):
        now = max(due, now) + (number % 7) * 0.9
        due = next_due(due, now, 5.0)
        assert (due - 1000.0) % 5.0 == 0
        assert due > now - 5.0
    assert due <= now + 5.0


def test_a_pause_is_respected_and_a_stop_ends_it() -> None:
    stopping = threading.Event()
    rounds: list[float] = []

    def work() -> float:
        rounds.append(time.monotonic())
        if len(rounds) == 2:
            stopping.set()
        return 0.3

    repeat(work, 0.01, stopping)
    assert len(rounds) == 2
    assert rounds[1] - rounds[0] >= 0.3
    repeat(work, None, threading.Event())
    assert len(rounds) == 3
