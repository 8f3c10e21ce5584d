"""The rate of requests: even, and lower when the provider refuses."""

import threading
import time

from wallet_api.providers.pace import Pace


def turns(pace: Pace, count: int, threads: int) -> list[float]:
    """Return the times of `count` turns of several threads."""
    moments: list[float] = []
    lock = threading.Lock()

    def take() -> None:
        for _ in range(count // threads):
            pace.wait()
            with lock:
                moments.append(time.monotonic())

    workers = [threading.Thread(target=take) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sorted(moments)


def test_many_threads_together_keep_the_pace() -> None:
    pace = Pace(100, hold_seconds=1.0)
    moments = turns(pace, 40, threads=8)
    assert pace.calls == 40
    assert moments[-1] - moments[0] >= 0.38


def test_a_refusal_holds_everybody_back_and_a_second_one_for_longer() -> None:
    pace = Pace(1000, hold_seconds=0.2)
    pace.refused(None)
    # Said to calls that had gone out before: no reason to wait longer.
    pace.refused(None)
    began = time.monotonic()
    (first,) = turns(pace, 1, threads=1)
    assert 0.15 <= first - began < 0.35
    pace.refused(None)
    (second,) = turns(pace, 1, threads=1)
    assert second - first >= 0.38
    pace.accepted()
    pace.refused(None)
    (third,) = turns(pace, 1, threads=1)
    assert 0.15 <= third - second < 0.35
