"""The cache: when a value is computed again, what others get meanwhile, failures, sizes.

That concurrent requests wait for one computation is in tests/api/test_leaderboard.py, and that they are
refused without a slot in tests/integration/test_bulkhead.py.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import count

import pytest

from wallet_api.base.cache import Cache, Cached


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


@pytest.fixture
def clock() -> _Clock:
    return _Clock()


def _fail() -> int:
    raise ValueError("no")


class _Slow:
    """A computation that goes on until it may end."""

    def __init__(self, end: Callable[[], int] | None = None) -> None:
        self._end = end or partial(next, count(1))
        self._may_end = threading.Event()
        self._begun = threading.Event()

    def __call__(self) -> int:
        """Return how often it was called, or what `end` returns."""
        self._begun.set()
        assert self._may_end.wait(20)
        return self._end()

    @contextmanager
    def running(self, pool: ThreadPoolExecutor, cache: Cache[int]) -> Iterator[Future[Cached[int]]]:
        """In this block it runs for the key "key"; it ends afterwards."""
        running = pool.submit(cache.get, "key", self)
        assert self._begun.wait(20)
        try:
            yield running
        finally:
            self._may_end.set()


def _seen(cached: Cached[int], clock: _Clock) -> tuple[int, bool, int]:
    return cached.value, cached.hit, cached.age_seconds(clock.now)


def test_an_error_is_raised_in_all_threads_that_wait_and_is_not_cached(clock: _Clock) -> None:
    cache: Cache[int] = Cache(60.0)
    slow = _Slow(_fail)
    with ThreadPoolExecutor(2) as pool:
        with slow.running(pool, cache) as first:
            waiting = [first, pool.submit(cache.get, "key", slow)]
        for found in waiting:
            with pytest.raises(ValueError, match="no"):
                found.result()
    assert cache.get("key", clock.compute(1)).hit is False


def test_one_thread_computes_the_next_value_before_the_old_one_expires(clock: _Clock) -> None:
    cache: Cache[int] = Cache(10.0, timer=clock)
    cache.get("key", clock.compute(1, 2.0))
    # It took two seconds, and expires at 110.
    for clock.now, value, expected in (
        (105.9, 2, (1, True, 5)),
        (106.1, 2, (2, False, 0)),
        (112.0, 3, (2, True, 5)),
    ):
        assert _seen(cache.get("key", clock.compute(value, 1.0)), clock) == expected


def test_others_get_the_old_value_meanwhile_and_wait_once_it_has_expired(clock: _Clock) -> None:
    cache: Cache[int] = Cache(10.0, timer=clock)
    cache.get("key", clock.compute(7, 2.0))
    with ThreadPoolExecutor(2) as pool:
        clock.now = 106.1
        with _Slow().running(pool, cache) as first:
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


@pytest.mark.parametrize("serve_stale", [False, True])
def test_a_failed_refresh_leaves_the_old_value_until_it_expires_or_longer(
    clock: _Clock, serve_stale: bool
) -> None:
    cache: Cache[int] = Cache(10.0, serve_stale=serve_stale, timer=clock)
    with pytest.raises(ValueError, match="no"):
        cache.get("key", _fail)
    cache.get("key", clock.compute(1, 4.0))
    for clock.now in (106.0, 109.9):
        assert cache.get("key", _fail).hit
    clock.now = 110.1
    if serve_stale:
        assert cache.get("key", _fail).value == 1
    else:
        with pytest.raises(ValueError, match="no"):
            cache.get("key", _fail)
    assert cache.get("key", clock.compute(2)).value == 2


def test_an_executor_refreshes_without_a_wait_and_then_does_so_again(clock: _Clock) -> None:
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
    clock.now = 116.9
    assert cache.get("key", clock.compute(2)).value == 1
    clock.now = 121.0
    assert cache.get("key", clock.compute(3)).value == 3


def test_values_stay_within_the_size_and_are_found_until_they_expire(clock: _Clock) -> None:
    cache: Cache[str] = Cache(10.0, max_size=1_000, size_of=len, timer=clock)
    for number in range(10):
        cache.get(number, lambda: "x" * 300)
    cache.get("too large", lambda: "x" * 2_000)
    assert cache.find("too large") is None
    assert [number for number in range(10) if cache.find(number) is not None] == [7, 8, 9]
    cache.put(9, "made elsewhere", made_at=95.0)
    assert cache.find(9) == "made elsewhere"
    clock.now = 105.0
    assert (cache.find(9), cache.find_expired(9)) == (None, "made elsewhere")
    # Nobody has requested it for a while.
    clock.now = 108.0
    assert cache.find_expired(9) is None
