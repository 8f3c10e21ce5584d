"""Do work once for all threads that need its result at the same time."""

from collections.abc import Callable, Hashable
from concurrent.futures import CancelledError, Future
from functools import partial
from threading import Lock
from typing import Generic, TypeVar

Result = TypeVar("Result")


class Flight(Future[Result]):
    """Work in progress. `started_at` is a time on the callers' clock."""

    started_at = 0.0


class SingleFlight(Generic[Result]):
    """One flight per key at a time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._flights: dict[Hashable, Flight[Result]] = {}

    def find(self, key: Hashable, oldest: float = 0.0) -> Flight[Result] | None:
        """Return the flight of `key`, if one is in progress that was not started before `oldest`."""
        flight = self._flights.get(key)
        return flight if flight is not None and flight.started_at >= oldest else None

    def join(
        self, key: Hashable, started_at: float = 0.0, oldest: float = 0.0
    ) -> tuple[Flight[Result], bool]:
        """Return the flight in progress, or a new one if there is none or it was started before `oldest`.

        The second value is whether the flight is new. The caller must run() a new flight.
        """
        with self._lock:
            flight = self.find(key, oldest)
            if flight is not None:
                return flight, False
            flight = self._flights[key] = Flight()
            flight.started_at = started_at
            return flight, True

    def run(self, key: Hashable, flight: Flight[Result], work: Callable[[], Result]) -> Result:
        """Do the work of a new flight. Its result or error goes to all threads that wait for it."""
        try:
            result = work()
        except BaseException as error:
            self._give_up(key, flight, error)
            raise
        self._land(key, flight)
        flight.set_result(result)
        return result

    def start(
        self,
        key: Hashable,
        flight: Flight[Result],
        work: Callable[[], Result],
        begin: Callable[[Callable[[], object]], object],
    ) -> None:
        """Have `begin` run the work of a new flight in another thread.

        If that cannot be started, or is cancelled, the flight ends with that error: nobody waits for ever.
        """
        try:
            begun = begin(partial(self.run, key, flight, work))
        except BaseException as error:
            self._give_up(key, flight, error)
            raise
        if isinstance(begun, Future):
            begun.add_done_callback(
                lambda done: self._give_up(key, flight, CancelledError()) if done.cancelled() else None
            )

    def _give_up(self, key: Hashable, flight: Flight[Result], error: BaseException) -> None:
        self._land(key, flight)
        flight.set_exception(error)

    def _land(self, key: Hashable, flight: Flight[Result]) -> None:
        with self._lock:
            # A newer flight may have replaced this one.
            if self._flights.get(key) is flight:
                del self._flights[key]
