"""Leadership: one thread at a time does the jobs, and another takes over when it waits or takes long."""

import random
import threading
import time
from collections.abc import Iterator
from queue import Empty, SimpleQueue

import pytest

from tests.waiting import eventually
from wallet_api.serving.leadership import Leadership

FOLLOWERS = 3
LATE_SECONDS = 0.05


class Crew:
    """Threads that do jobs as a worker's do, and one that watches them."""

    def __init__(self) -> None:
        # By name and thread, in the order in which they have begun.
        self.begun: list[tuple[str, str]] = []
        # Of jobs that have not given up the lead; nobody may be relieved where this is asked.
        self.most_at_once = 0
        self._at_once = 0
        self._jobs: SimpleQueue[tuple[str, bool]] = SimpleQueue()
        self._ends: dict[str, threading.Event] = {}
        self._over = False
        self._leadership = Leadership(FOLLOWERS, self._stand_in, LATE_SECONDS)
        self._first = threading.Thread(target=self._be_first, name="first")
        self._watch = threading.Thread(target=self._be_watch)
        self._first.start()

    def watch(self) -> None:
        """From now on, threads with late jobs are relieved."""
        self._watch.start()

    def add(self, name: str, *, giving_up: bool = False) -> None:
        """A job that goes on until it is let."""
        self._ends[name] = threading.Event()
        self._jobs.put((name, giving_up))

    def end(self, *names: str) -> None:
        """Let these jobs end."""
        for name in names:
            self._ends[name].set()

    def have_begun(self, *names: str) -> bool:
        """Whether these jobs, and no others, have begun, in this order, and none comes soon after."""
        assert eventually(lambda: len(self.begun) >= len(names), seconds=10, pause_seconds=0.001)
        time.sleep(3 * LATE_SECONDS)
        return [name for name, _ in self.begun] == list(names)

    def who_did(self, wanted: str) -> str:
        """The name of the thread that did this job."""
        (found,) = (thread for name, thread in self.begun if name == wanted)
        return found

    def stop(self) -> None:
        """End all threads."""
        self._over = True
        self.end(*self._ends)
        self._first.join(10)
        if self._watch.ident is not None:
            self._watch.join(10)
        self._leadership.shutdown()

    def _be_first(self) -> None:
        self._leadership.take()
        while not self._over:
            if not self._do_one():
                self._leadership.take()

    def _stand_in(self) -> None:
        while self._leadership.is_mine and not self._leadership.is_wanted_back and not self._over:
            self._do_one()

    def _do_one(self) -> bool:
        try:
            name, giving_up = self._jobs.get(timeout=0.01)
        except Empty:
            return True
        self._leadership.begin()
        self.begun.append((name, threading.current_thread().name))
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        if giving_up:
            # From now on another one may begin.
            self._at_once -= 1
            self._leadership.give_up()
            time.sleep(0.001)
            self._ends[name].wait(30)
        else:
            self._ends[name].wait(30)
            self._at_once -= 1
        return self._leadership.end()

    def _be_watch(self) -> None:
        while not self._over:
            self._leadership.relieve(0.2)


@pytest.fixture
def crew() -> Iterator[Crew]:
    """A first thread and FOLLOWERS others, whom nobody watches yet."""
    own = Crew()
    yield own
    own.stop()


def test_one_thread_does_all_jobs_in_their_order_as_long_as_none_waits(crew: Crew) -> None:
    for name in "abc":
        crew.add(name)
    assert crew.have_begun("a")
    crew.end("a")
    assert crew.have_begun("a", "b")
    crew.end("b")
    assert crew.have_begun("a", "b", "c")
    assert {thread for _, thread in crew.begun} == {"first"}


def test_who_gives_up_lets_another_lead_until_all_wait(crew: Crew) -> None:
    for name in "abcdef":
        crew.add(name, giving_up=True)
    assert crew.have_begun("a", "b", "c", "d")
    assert len({thread for _, thread in crew.begun}) == 1 + FOLLOWERS
    crew.end("b")
    assert crew.have_begun("a", "b", "c", "d", "e")
    assert crew.who_did("e") == crew.who_did("b")


def test_the_first_thread_takes_the_lead_back(crew: Crew) -> None:
    crew.add("a", giving_up=True)
    crew.add("b")
    assert crew.have_begun("a", "b")
    crew.end("a")
    for name in "cd":
        crew.add(name)
    # Not from under another thread, and before all that wait for it too.
    assert crew.have_begun("a", "b")
    crew.end("b")
    assert crew.have_begun("a", "b", "c")
    assert (crew.who_did("a"), crew.who_did("c")) == ("first", "first")
    assert crew.who_did("b") != "first"


def test_whose_job_is_late_leads_no_more(crew: Crew) -> None:
    for name in "abc":
        crew.add(name)
    assert crew.have_begun("a")
    crew.watch()
    assert crew.have_begun("a", "b", "c")
    crew.end("b")
    crew.add("d")
    assert crew.have_begun("a", "b", "c", "d")
    assert len({crew.who_did(name) for name in "acd"}) == 3


def test_a_late_job_is_seen_however_long_there_was_none_before(crew: Crew) -> None:
    crew.watch()
    names = []
    for number in range(40):
        # The watch rests after a while without jobs, and must not miss the one at whose beginning it does.
        time.sleep(number * 0.006)
        for name in (f"late {number}", f"next {number}"):
            crew.add(name)
            names.append(name)
        began = time.monotonic()
        assert eventually(lambda: len(crew.begun) == len(names), seconds=10, pause_seconds=0.001)
        assert time.monotonic() - began < 4 * LATE_SECONDS
        crew.end(*names[-2:])


def test_every_job_is_done_once_and_none_is_begun_while_another_has_the_lead(crew: Crew) -> None:
    chosen = random.Random(5)
    names = [str(number) for number in range(3_000)]
    for name in names:
        crew.add(name, giving_up=chosen.random() < 0.3)
        crew.end(name)
    assert crew.have_begun(*names)
    assert crew.most_at_once == 1
    assert len({thread for _, thread in crew.begun}) > 1


def test_shutdown_ends_the_followers() -> None:
    def followers() -> int:
        return sum(thread.name.startswith("follower") for thread in threading.enumerate())

    # Those of other tests have been told to end.
    assert eventually(lambda: followers() == 0, seconds=10, pause_seconds=0.001)
    leadership = Leadership(FOLLOWERS, lambda: None, LATE_SECONDS)
    assert followers() == FOLLOWERS
    leadership.shutdown()
    assert eventually(lambda: followers() == 0, seconds=10, pause_seconds=0.001)


def test_only_the_leader_can_give_up_the_lead() -> None:
    leadership = Leadership(0, lambda: None, LATE_SECONDS)
    leadership.take()
    other = threading.Thread(target=leadership.give_up)
    other.start()
    other.join()
    assert leadership.is_mine
    leadership.give_up()
    assert not leadership.is_mine


def test_those_who_step_aside_are_replaced_up_to_a_number() -> None:
    leadership = Leadership(FOLLOWERS, lambda: None, LATE_SECONDS, most_aside=2)
    before = threading.active_count()
    for _ in range(2):
        with leadership.step_aside() as one, leadership.step_aside() as two, leadership.step_aside() as three:
            assert [one, two, three] == [True, True, False]
            assert leadership.aside == 2
        assert leadership.aside == 0
    # Those made the first time are there the second time.
    assert threading.active_count() == before + 2
    leadership.shutdown()
