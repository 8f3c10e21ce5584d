"""The cache: one computation for all threads, ages, refreshes, failures, sizes."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count

import pytest

from wallet_api.bulkhead import Bulkhead
from wallet_api.cache import Cache, Cached
from wallet_api.errors import Busy


class _Clock:
    """A clock that the test advances."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now

    def compute(self, value: int, seconds: float = 0.0) -> Callable[[], int]:
        """Return a function that returns `value` after so long."""

        def compute() -> int:
            self.now += seconds
            return value

        return compute

    def fail(self) -> int:
        """Raise ValueError."""
        raise ValueError("no")


@pytest.fixture
def clock() -> _Clock:
    return _Clock()


class _Slow:
    """A computation that goes on until it may end."""

    def __init__(self) -> None:
        self.may_end = threading.Event()
        self._begun = threading.Event()
        self._numbers = count(1)

    def __call__(self) -> int:
        """Return how often it was called."""
        number = next(self._numbers)
        self._begun.set()
        assert self.may_end.wait(20)
        return number

    @contextmanager
    def running(self, pool: ThreadPoolExecutor, cache: Cache[int]) -> Iterator[Future[Cached[int]]]:
        """In this block it runs for the key "key"; it ends afterwards."""
        running = pool.submit(cache.get, "key", self)
        assert self._begun.wait(20)
        try:
            yield running
        finally:
            self.may_end.set()


def _seen(cached: Cached[int], clock: _Clock) -> tuple[int, bool, int]:
    return cached.value, cached.hit, cached.age_seconds(clock.now)


def test_an_error_is_raised_in_all_threads_that_wait_and_is_not_cached(clock: _Clock) -> None:
    cache: Cache[int] = Cache(60.0)
    begun, may_end = threading.Event(), threading.Event()

    def fail() -> int:
        begun.set()
        assert may_end.wait(20)
        return clock.fail()

    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(cache.get, "key", fail)]
        assert begun.wait(20)
        waiting.append(pool.submit(cache.get, "key", fail))
        may_end.set()
        for found in waiting:
            with pytest.raises(ValueError, match="no"):
                found.result()
    assert cache.get("key", clock.compute(1)).hit is False


def test_one_thread_computes_the_next_value_before_the_old_one_expires(clock: _Clock) -> None:
    cache: Cache[int] = Cache(10.0, timer=clock)
    cache.get("key", clock.compute(1, 2.0))
    # It took two seconds, and expires at 110.
    clock.now = 105.9
    assert _seen(cache.get("key", clock.compute(2, 1.0)), clock) == (1, True, 5)
    clock.now = 106.1
    assert _seen(cache.get("key", clock.compute(2, 1.0)), clock) == (2, False, 0)
    clock.now = 112.0
    assert _seen(cache.get("key", clock.compute(3, 1.0)), clock) == (2, True, 5)


def test_others_get_the_old_value_meanwhile_and_wait_once_it_has_expired(clock: _Clock) -> None:
    cache: Cache[int] = Cache(10.0, timer=clock)
    cache.get("key", clock.compute(7, 2.0))
    slow = _Slow()
    with ThreadPoolExecutor(2) as pool:
        clock.now = 106.1
        with slow.running(pool, cache) as first:
            clock.now = 109.0
            assert _seen(cache.get("key", clock.compute(3)), clock) == (7, True, 9)
            clock.now = 111.0
            late = pool.submit(cache.get, "key", clock.compute(3))
            assert not late.done()
        assert _seen(first.result(20), clock) == (1, False, 0)
        assert _seen(late.result(20), clock) == (1, True, 4)


def test_a_computation_that_began_too_long_ago_is_not_waited_for(clock: _Clock) -> None:
    cache: Cache[int] = Cache(10.0, timer=clock)
    with ThreadPoolExecutor(1) as pool, _Slow().running(pool, cache):
        clock.now = 110.1
        assert _seen(cache.get("key", clock.compute(2)), clock) == (2, False, 0)


def test_a_refresh_that_fails_leaves_the_old_value_until_it_expires(clock: _Clock) -> None:
    cache: Cache[int] = Cache(10.0, timer=clock)
    cache.get("key", clock.compute(1, 4.0))
    for clock.now in (106.0, 110.0 - 0.1):
        assert cache.get("key", clock.fail).hit
    clock.now = 110.1
    with pytest.raises(ValueError, match="no"):
        cache.get("key", clock.fail)


def test_a_stale_value_is_returned_while_computations_fail(clock: _Clock) -> None:
    cache: Cache[int] = Cache(30.0, serve_stale=True, timer=clock)
    with pytest.raises(ValueError, match="no"):
        cache.get("key", clock.fail)
    values = []
    for now, compute in (
        (100.0, clock.compute(1)),
        (129.0, clock.compute(2)),
        (130.0, clock.compute(2)),
        (161.0, clock.fail),
        (162.0, clock.compute(3)),
    ):
        clock.now = now
        values.append(cache.get("key", compute).value)
    assert values == [1, 1, 2, 2, 3]


def test_an_executor_refreshes_a_value_without_a_wait(clock: _Clock) -> None:
    with ThreadPoolExecutor(2) as pool, ThreadPoolExecutor(1) as executor:
        cache: Cache[int] = Cache(10.0, executor=executor, timer=clock)
        cache.get("key", clock.compute(7, 2.0))
        clock.now = 107.0
        slow = _Slow()
        with slow.running(pool, cache) as first:
            assert first.result(20).value == 7
            assert cache.get("key", slow).value == 7
        executor.submit(lambda: None).result(20)
        assert cache.get("key", slow).value == 1


def test_a_refresh_that_cannot_begin_leaves_the_old_value_and_blocks_no_later_one(clock: _Clock) -> None:
    executor = ThreadPoolExecutor(1)
    cache: Cache[int] = Cache(10.0, executor=executor, timer=clock)
    cache.get("key", clock.compute(1, 2.0))
    executor.shutdown()
    clock.now = 107.0
    assert cache.get("key", clock.compute(2)).value == 1
    clock.now = 111.0
    assert cache.get("key", clock.compute(3)).value == 3


def test_a_computation_without_a_slot_fails_at_once_for_all(clock: _Clock) -> None:
    bulkhead = Bulkhead(4)
    caches: list[Cache[int]] = [Cache(10.0, slot=bulkhead.slot, timer=clock) for _ in range(3)]
    caches[2].get("key", clock.compute(5, 2.0))
    slow = _Slow()
    with ThreadPoolExecutor(2) as pool, slow.running(pool, caches[0]):
        with _Slow().running(pool, caches[1]) as other:
            with pytest.raises(Busy):
                caches[2].get("another key", clock.compute(1))
            # What is cached is returned all the same, and not refreshed.
            clock.now += 5
            assert caches[2].get("key", clock.compute(6)).value == 5
        assert other.result(20).value == 1


def test_values_stay_within_the_size() -> None:
    cache: Cache[str] = Cache(60.0, max_size=1_000, size_of=len)
    for number in range(10):
        cache.get(number, lambda: "x" * 300)
    cache.get("too large", lambda: "x" * 2_000)
    cached = [number for number in range(10) if cache.find(number) is not None]
    assert cached == [7, 8, 9]
    assert cache.find("too large") is None


def test_a_stored_value_is_found_until_it_expires(clock: _Clock) -> None:
    cache: Cache[int] = Cache(10.0, timer=clock)
    cache.put("key", 1, made_at=95.0)
    assert cache.find("key") == 1
    clock.now = 105.0
    assert cache.find("key") is None
    assert cache.find_expired("key") == 1
