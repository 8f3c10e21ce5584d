"""The rate of requests, the beginnings and the end of rounds, and the wait for the threads of one.

That requests keep within the limit, and that a refusal holds all threads, is in tests/sync.
"""

import os
import signal
import threading
import time
from types import FrameType

import pytest

from tests.lib.waiting import calm_seconds
from wallet_api.chain.providers.pace import Pace
from wallet_api.chain.sync.pool import Pool
from wallet_api.chain.sync.schedule import next_due, stopped_by_signals


def test_a_refusal_holds_requests_back_and_a_second_one_for_longer() -> None:
    pace = Pace(1000, hold_seconds=0.2)

    def held(least: float, most: float = float("inf")) -> bool:
        began, calm = time.monotonic(), calm_seconds()
        pace.wait()
        return time.monotonic() - began >= least and calm_seconds() - calm < most

    pace.refused(None)
    # Said to calls that had gone out before: no reason to wait longer.
    pace.refused(None)
    assert held(0.15, 0.35)
    pace.refused(None)
    assert held(0.38)
    pace.accepted()
    pace.refused(None)
    assert held(0.15, 0.35)


def test_an_urgent_request_is_sent_before_those_that_wait() -> None:
    pace = Pace(10, hold_seconds=0.2)
    sent: list[str] = []

    def send(name: str, *, urgent: bool = False) -> None:
        with pace.work(urgent=urgent):
            pace.wait()
        sent.append(name)

    pace.wait()
    polls = [threading.Thread(target=send, args=("poll",)) for _ in range(5)]
    notice = threading.Thread(target=send, args=("notice",), kwargs={"urgent": True})
    for thread in (*polls, notice):
        thread.start()
    for thread in (*polls, notice):
        thread.join()
    assert sent == ["notice", *["poll"] * 5]


@pytest.mark.parametrize(
    ("due", "now", "begins"),
    [
        (0.0, 0.0, 60.0),
        (0.0, 59.9, 60.0),
        # A long round is followed at once, and the grid stays.
        (0.0, 61.0, 60.0),
        (60.0, 119.0, 120.0),
        (0.0, 150.0, 120.0),
    ],
)
def test_rounds_begin_at_even_intervals_however_long_they_take(due: float, now: float, begins: float) -> None:
    assert next_due(due, now, 60.0) == begins


@pytest.mark.timeout(60)
def test_a_signal_ends_the_rounds_at_whatever_instant_it_comes() -> None:
    for number in range(20):
        with stopped_by_signals() as stopping:
            threading.Timer(number / 1000, os.kill, [os.getpid(), signal.SIGTERM]).start()
            while not stopping.wait(0):
                pass


_WAIT_SECONDS = 0.1


def test_a_wait_ends_though_the_handler_of_a_signal_outlasts_it() -> None:
    # queue.SimpleQueue waits for ever then, until Python 3.13. The second signal ends such a wait.
    signals = iter((lambda: time.sleep(2 * _WAIT_SECONDS), _fail))

    def handle(number: int, frame: FrameType | None) -> None:
        next(signals)()

    before = signal.signal(signal.SIGUSR1, handle)
    timers = [
        threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGUSR1)) for seconds in (_WAIT_SECONDS / 2, 5)
    ]
    try:
        for timer in timers:
            timer.start()
        assert Pool(None, 0).results(_WAIT_SECONDS) == []  # type: ignore[arg-type]
    finally:
        for timer in timers:
            timer.cancel()
            timer.join()
        signal.signal(signal.SIGUSR1, before)


def _fail() -> None:
    raise AssertionError("the wait did not end")
