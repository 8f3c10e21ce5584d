"""The journal of spent credits: what it proves of a worker that is gone, and no doubt about a living one."""

import multiprocessing
import os
import signal
from multiprocessing.connection import Connection
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from wallet_api.access import journal
from wallet_api.access.journal import Journal, journals, remains


def _spend_until_killed(folder: Path, lease: UUID, tell: Connection) -> None:
    own = Journal(folder)
    slot = own.open(lease)
    other = own.open(uuid4())
    assert slot is not None
    assert other is not None
    own.free(other)
    for spent in range(1, 1001):
        own.write(slot, spent)
    tell.send(own.worker)
    signal.pause()


@pytest.fixture
def killed(tmp_path: Path) -> tuple[Path, UUID, UUID]:
    """The folder with the journal of a killed worker, the worker, and the lease it spent 1000 of."""
    lease = uuid4()
    context = multiprocessing.get_context("spawn")
    told, tell = context.Pipe(duplex=False)
    process = context.Process(target=_spend_until_killed, args=(tmp_path, lease, tell))
    process.start()
    worker = told.recv()
    (path,) = journals(tmp_path)
    with remains(path) as alive:
        assert alive is None
    process.kill()
    process.join()
    told.close()
    tell.close()
    return tmp_path, worker, lease


def test_a_killed_worker_leaves_what_it_spent_to_the_last_credit(killed: tuple[Path, UUID, UUID]) -> None:
    folder, worker, lease = killed
    (path,) = journals(folder)
    with remains(path) as dead:
        assert dead is not None
        assert dead.worker == worker
        assert dead.spent == {lease: 1000}
        assert dead.proven


def test_two_do_not_look_at_the_same_remains_at_once(killed: tuple[Path, UUID, UUID]) -> None:
    (path,) = journals(killed[0])
    with remains(path) as dead, remains(path) as second:
        assert dead is not None
        assert second is None


def test_after_a_crash_of_the_machine_nothing_is_proven(
    killed: tuple[Path, UUID, UUID],
) -> None:
    (path,) = journals(killed[0])
    with path.open("r+b") as file:
        file.write(b"another boot".ljust(64, b"\0"))
    with remains(path) as dead:
        assert dead is not None
        assert not dead.proven


def test_an_ended_worker_leaves_nothing(tmp_path: Path) -> None:
    own = Journal(tmp_path)
    (path,) = journals(tmp_path)
    own.close()
    assert journals(tmp_path) == []
    with remains(path) as gone:
        assert gone is None


def test_slots_are_used_again_and_their_number_is_limited(tmp_path: Path) -> None:
    own = Journal(tmp_path)
    slots = [own.open(uuid4()) for _ in range(journal.SLOTS)]
    assert len(set(slots)) == journal.SLOTS
    assert own.open(uuid4()) is None
    assert slots[5] is not None
    own.free(slots[5])
    assert own.open(uuid4()) == slots[5]
    own.close()


def test_a_folder_that_cannot_be_made_is_an_os_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        Journal(tmp_path / "file" / "below")
    assert os.listdir(tmp_path) == ["file"]
