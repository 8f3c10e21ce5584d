"""What a worker has spent of its leases, in a file that outlives the worker, even when it is killed.

The file is mapped into memory, so a spent credit is one store of eight bytes, which the kernel keeps when the
process dies. An exclusive lock on the file, which the kernel drops at the death of its holder, says that the
worker lives. Only a crash of the whole machine can lose stores; the identity of the boot tells of that.
"""

import fcntl
import mmap
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID, uuid4

SLOTS = 1024
SUFFIX = ".journal"

# The head names the boot of the machine; each slot is a lease and what was spent of it.
_HEAD = struct.Struct("<64s")
_SLOT = struct.Struct("<Q16s")
_SPENT = struct.Struct("<Q")
_SIZE = _HEAD.size + SLOTS * _SLOT.size
_NO_LEASE = bytes(16)
_BOOT = Path("/proc/sys/kernel/random/boot_id")


class Journal:
    """The journal of this process. Raises OSError where no file can be made, mapped and locked."""

    def __init__(self, folder: Path) -> None:
        self.worker = uuid4()
        self._path = folder / f"{self.worker}{SUFFIX}"
        folder.mkdir(parents=True, exist_ok=True)
        # Under another name until it is locked, so that nobody takes it for that of a dead worker.
        new = self._path.with_suffix(".new")
        self._file = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Written in full: a full disk must be told here, not by a signal at the first credit.
        os.write(self._file, _HEAD.pack(_boot()) + bytes(_SIZE - _HEAD.size))
        self._map = mmap.mmap(self._file, _SIZE)
        new.rename(self._path)
        self._free = [_HEAD.size + number * _SLOT.size for number in reversed(range(SLOTS))]

    def open(self, lease: UUID) -> int | None:
        """A slot for a lease of which nothing is spent; None when there are too many."""
        try:
            slot = self._free.pop()
        except IndexError:
            return None
        _SLOT.pack_into(self._map, slot, 0, lease.bytes)
        return slot

    def write(self, slot: int, spent: int) -> None:
        """What was spent of the lease in `slot`, all in all."""
        _SPENT.pack_into(self._map, slot, spent)

    def free(self, slot: int) -> None:
        """The lease in `slot` was returned."""
        _SLOT.pack_into(self._map, slot, 0, _NO_LEASE)
        self._free.append(slot)

    def close(self) -> None:
        """All leases were returned."""
        self._path.unlink(missing_ok=True)
        os.close(self._file)


@dataclass(frozen=True)
class Remains:
    """The journal of a dead worker; `proven` unless the machine crashed since."""

    path: Path
    worker: UUID
    proven: bool
    spent: dict[UUID, int]


@contextmanager
def remains(path: Path) -> Iterator[Remains | None]:
    """The journal at `path`, locked while it is looked at; None while its worker lives or when it is gone."""
    try:
        file = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        yield None
        return
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
            return
        content = os.pread(file, _SIZE, 0)
        slots = _SLOT.iter_unpack(content[_HEAD.size :])
        yield Remains(
            path=path,
            worker=UUID(path.stem),
            proven=_HEAD.unpack_from(content)[0] == _boot().ljust(_HEAD.size, b"\0"),
            spent={UUID(bytes=lease): spent for spent, lease in slots if lease != _NO_LEASE},
        )
    finally:
        os.close(file)


def journals(folder: Path) -> list[Path]:
    """The journals of all workers, the living and the dead."""
    return sorted(folder.glob(f"*{SUFFIX}"))


def _boot() -> bytes:
    return _BOOT.read_bytes().strip() if _BOOT.exists() else b""
