"""The threads that fetch wallets: waiting for their results."""

import os
import signal
import threading
import time
from types import FrameType

from wallet_api.chain.sync.pool import Pool

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
