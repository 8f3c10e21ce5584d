"""Leader/Followers: one thread of a worker takes requests, and hands over before it blocks."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Leadership:
    """Decide which thread leads: the first one, or one of `followers` others, which then calls `stand_in`.

    The leader waits for jobs and does them itself, since handing a job to another thread takes longer than
    most jobs do. It gives the lead up before it blocks (`give_up`), and loses it when a job takes longer than
    `late_seconds` (`relieve`). For up to `most_aside` threads that have stepped aside there are others.
    """

    def __init__(
        self, followers: int, stand_in: Callable[[], None], late_seconds: float, most_aside: int = 0
    ) -> None:
        self._stand_in = stand_in
        self._most_aside = most_aside
        # Threads that have stepped aside, and those made for them, which stay.
        self.aside = 0
        self._made = 0
        self._late_seconds = late_seconds
        self._lock = threading.Lock()
        self._first_may = threading.Condition(self._lock)
        self._others_may = threading.Condition(self._lock)
        self._leader: int | None = None
        # Nobody leads before the first thread has.
        self._first_waits = True
        self._ended = False
        # Since when the leader has done the job in hand.
        self._since: float | None = None
        self._begun = threading.Event()
        for number in range(followers):
            self._add_follower(f"follower {number}")

    def take(self) -> None:
        """Take the lead as soon as it is free, before any follower. For the first thread."""
        with self._lock:
            self._first_waits = True
            while self._leader is not None:
                self._first_may.wait()
            self._first_waits = False
            self._lead()

    @property
    def is_mine(self) -> bool:
        """Whether this thread leads."""
        return self._leader == threading.get_ident()

    @property
    def is_wanted_back(self) -> bool:
        """Whether the first thread waits for the lead."""
        return self._first_waits

    def begin(self) -> None:
        """Note that the leader begins a job."""
        self._since = time.monotonic()
        if not self._begun.is_set():
            self._begun.set()

    def end(self) -> bool:
        """Note that this thread has ended its job, and return whether it still leads."""
        with self._lock:
            if not self.is_mine:
                return False
            self._since = None
            return True

    def relieve(self, timeout: float) -> None:
        """Take the lead from a thread whose job is late. To be called in a loop by a thread of its own.

        Blocks for a moment; while no job is begun, up to `timeout` seconds.
        """
        if self._begun.wait(timeout):
            time.sleep(self._late_seconds)
        with self._lock:
            if self._since is None:
                self._begun.clear()
            elif time.monotonic() - self._since > self._late_seconds:
                self._hand_over()
        # Begun just before it was cleared.
        if self._since is not None:
            self._begun.set()

    def shutdown(self, wait: bool = False) -> None:
        """End the followers: idle ones now, others after their jobs."""
        with self._lock:
            self._ended = True
            self._others_may.notify_all()
        self._begun.set()

    def _lead(self) -> None:
        self._leader = threading.get_ident()

    def give_up(self) -> None:
        """Hand the lead over if this thread has it: it is about to block."""
        if self.is_mine:
            with self._lock:
                if self.is_mine:
                    self._hand_over()

    @contextmanager
    def step_aside(self) -> Iterator[bool]:
        """Have a further thread do jobs while this one waits in this block. Yield whether there is one."""
        is_replaced = self._replace()
        try:
            yield is_replaced
        finally:
            if is_replaced:
                with self._lock:
                    self.aside -= 1

    def _replace(self) -> bool:
        with self._lock:
            if self.aside == self._most_aside:
                return False
            if self.aside == self._made:
                try:
                    self._add_follower("follower of another")
                except RuntimeError:
                    # The system has no more threads.
                    return False
                self._made += 1
            self.aside += 1
            return True

    def _add_follower(self, name: str) -> None:
        threading.Thread(target=self._follow, name=name, daemon=True).start()

    def _hand_over(self) -> None:
        self._leader = None
        self._since = None
        (self._first_may if self._first_waits else self._others_may).notify()

    def _follow(self) -> None:
        while True:
            with self._lock:
                while not self._ended and (self._leader is not None or self._first_waits):
                    self._others_may.wait()
                if self._ended:
                    return
                self._lead()
            try:
                self._stand_in()
            finally:
                self.give_up()
