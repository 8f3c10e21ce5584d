"""Work that several threads want at the same time is done once."""

import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor

import pytest

from wallet_api.single_flight import SingleFlight


def test_those_who_join_get_the_result_of_the_one_who_runs() -> None:
    flights: SingleFlight[int] = SingleFlight()
    flight, is_new = flights.join("key")
    assert is_new
    assert flights.find("key") is flight
    with ThreadPoolExecutor(3) as pool:
        joined = [pool.submit(flights.join, "key").result() for _ in range(3)]
        assert joined == [(flight, False)] * 3
        waiting = [pool.submit(flight.result, 20) for _ in range(3)]
        assert flights.run("key", flight, lambda: 7) == 7
        assert [future.result() for future in waiting] == [7, 7, 7]
    assert flights.find("key") is None


def test_an_error_is_raised_to_all_and_the_next_one_starts_anew() -> None:
    flights: SingleFlight[int] = SingleFlight()
    flight, _ = flights.join("key")

    def fail() -> int:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        flights.run("key", flight, fail)
    with pytest.raises(ValueError, match="no"):
        flight.result()
    assert flights.join("key") != (flight, False)


def test_a_flight_that_started_too_early_is_not_joined_and_does_not_end_the_next_one() -> None:
    flights: SingleFlight[str] = SingleFlight()
    early, _ = flights.join("key", started_at=1.0)
    late, is_new = flights.join("key", started_at=5.0, oldest=2.0)
    assert is_new
    assert late is not early
    flights.run("key", early, lambda: "early")
    assert flights.find("key") is late
    assert flights.run("key", late, lambda: "late") == "late"


def test_keys_do_not_wait_for_each_other() -> None:
    flights: SingleFlight[str] = SingleFlight()
    slow, _ = flights.join("slow")
    may_end = threading.Event()

    def wait() -> str:
        assert may_end.wait(20)
        return "slow"

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(flights.run, "slow", slow, wait)
        quick, is_new = flights.join("quick")
        assert is_new
        assert flights.run("quick", quick, lambda: "quick") == "quick"
        may_end.set()
        assert running.result(20) == "slow"


def test_a_flight_that_cannot_be_started_or_is_cancelled_ends_for_all_who_wait() -> None:
    flights: SingleFlight[int] = SingleFlight()
    flight, _ = flights.join("no threads")

    def refuse(run: Callable[[], object]) -> None:
        raise RuntimeError("can't start new thread")

    with pytest.raises(RuntimeError):
        flights.start("no threads", flight, lambda: 1, refuse)
    with pytest.raises(RuntimeError):
        flight.result(20)
    assert flights.find("no threads") is None
    pool = ThreadPoolExecutor(1)
    may_end = threading.Event()
    pool.submit(may_end.wait, 20)
    queued, _ = flights.join("queued")
    flights.start("queued", queued, lambda: 1, pool.submit)
    pool.shutdown(wait=False, cancel_futures=True)
    may_end.set()
    with pytest.raises(CancelledError):
        queued.result(20)
    assert flights.find("queued") is None
