"""Leadership: of a worker's threads one leads, and hands over before it waits for something."""

import threading
import time
from collections.abc import Callable


class Leadership:
    """Who leads: the first thread, or one of `followers` others, which then calls `stand_in`.

    The leader finds jobs and does them itself: to hand each to another thread takes longer than many of them
    do, and of several busy threads Python runs the next without regard to who has waited longest. Before it
    waits for something it gives up the lead (`give_up`), and a job that takes longer than `late_seconds`
    costs it the lead (`relieve`). The pattern is known as Leader/Followers.
    """

    def __init__(self, followers: int, stand_in: Callable[[], None], late_seconds: float) -> None:
        self._stand_in = stand_in
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
            threading.Thread(target=self._follow, name=f"follower {number}", daemon=True).start()

    def take(self) -> None:
        """Take the lead, before any follower, as soon as nobody has it; for the first thread."""
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
        """To be called by the leader before each job."""
        self._since = time.monotonic()
        if not self._begun.is_set():
            self._begun.set()

    def end(self) -> bool:
        """To be called by the same thread after the job; whether it leads still."""
        with self._lock:
            if not self.is_mine:
                return False
            self._since = None
            return True

    def relieve(self, timeout: float) -> None:
        """Take the lead from a thread whose job is late; to be repeated by a thread that does nothing else.

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
        """Let the followers end that do nothing; the others do after their jobs."""
        with self._lock:
            self._ended = True
            self._others_may.notify_all()
        self._begun.set()

    def _lead(self) -> None:
        self._leader = threading.get_ident()

    def give_up(self) -> None:
        """Let another thread lead, if this one does: it is about to wait for long."""
        if self.is_mine:
            with self._lock:
                if self.is_mine:
                    self._hand_over()

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
