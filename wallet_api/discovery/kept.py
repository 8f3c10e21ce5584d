"""What a node has returned, in a file, so that a command that is run again does not request it again."""

import errno
import fcntl
import os
import struct
import zlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import msgspec
import orjson

from wallet_api.providers.fetch import Fetch, Limits
from wallet_api.providers.jsonrpc import MAX_BATCH, Call, Error, Node, NodeResult, named
from wallet_api.providers.metrics import FetchMetrics
from wallet_api.providers.pace import Pace

# Before each result: the hash of its call, and its length.
_HEAD = struct.Struct(">32sI")


class Kept:
    """The results of one file. They are added when `keep` says that they were right, until then they wait.

    A search that ends adds what waits, too: so what was found in the file is trusted no more than what waits.
    Results are only appended; a last one that is not whole, of a killed search, is cut off. Raise OSError if
    the file cannot be used, or another process uses it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.since = datetime.fromtimestamp(path.stat().st_mtime, UTC) if path.exists() else None
        if not path.parent.is_dir():
            raise OSError(errno.EIO, "cannot be used: its folder is missing", str(path))
        self._file = path.open("a+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            raise OSError(errno.EIO, "cannot be used: another search uses it", str(path)) from error
        self._places = self._read_places()
        self._waiting: dict[bytes, bytes] = {}
        self._used: set[bytes] = set()

    def _read_places(self) -> dict[bytes, tuple[int, int]]:
        """Return where the result of each call is, and cut off what is not whole."""
        places: dict[bytes, tuple[int, int]] = {}
        size, end = os.fstat(self._file.fileno()).st_size, 0
        while end + _HEAD.size <= size:
            key, length = _HEAD.unpack(os.pread(self._file.fileno(), _HEAD.size, end))
            start = end + _HEAD.size
            if start + length > size:
                break
            places[key] = (start, length)
            end = start + length
        self._file.truncate(end)
        return places

    def __len__(self) -> int:
        return len(self._places.keys() | self._waiting.keys())

    def find(self, key: bytes) -> NodeResult | None:
        """Return the result of a call, or None."""
        body = self._waiting.get(key)
        if body is None:
            if key not in self._places:
                return None
            self._used.add(key)
            start, length = self._places[key]
            body = os.pread(self._file.fileno(), length, start)
        return _read(zlib.decompress(body))

    def add(self, key: bytes, result: NodeResult) -> None:
        """Let a result wait, unless the same call may have another one later."""
        body = bytes(result.result)
        if result.error is not None:
            if not result.error.is_final:
                return
            body = b"!" + msgspec.json.encode(result.error)
        elif body == b"null":
            return
        self._waiting[key] = zlib.compress(body)

    def keep(self) -> None:
        """Add what waits to the file."""
        for key, body in self._waiting.items():
            start = self._file.tell() + _HEAD.size
            self._file.write(_HEAD.pack(key, len(body)) + body)
            self._places[key] = (start, len(body))
        self._file.flush()
        self._waiting = {}
        self._used.clear()

    def discard(self) -> None:
        """Forget what waits, and what was found since the last `keep`: something of it was wrong."""
        self._waiting = {}
        for key in self._used:
            del self._places[key]
        self._used.clear()

    def drop(self, keys: Iterable[bytes]) -> None:
        """Forget the results of these calls."""
        for key in keys:
            self._waiting.pop(key, None)
            self._places.pop(key, None)
            self._used.discard(key)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def remove(self) -> None:
        """Remove the file."""
        self.close()
        self.path.unlink(missing_ok=True)


class KeptNode(Node):
    """A node that is requested only what it has not returned before. Results of another URL are not used."""

    def __init__(self, url: str, limits: Limits, metrics: FetchMetrics, pace: Pace, kept: Kept) -> None:
        super().__init__(url, limits, metrics, pace)
        self._of = url.encode()
        self._kept = kept
        self._last: Sequence[bytes] = ()

    def call(self, fetch: Fetch, calls: Sequence[Call]) -> list[NodeResult]:
        """Return the results of the calls as a node."""
        keys = self._last = [sha256(self._of + orjson.dumps(call)).digest() for call in calls]
        results = {key: found for key in keys if (found := self._kept.find(key)) is not None}
        missing = {key: call for key, call in zip(keys, calls, strict=True) if key not in results}
        wanted = list(missing)
        for start in range(0, len(wanted), MAX_BATCH):
            part = wanted[start : start + MAX_BATCH]
            for key, result in zip(part, super().call(fetch, [missing[key] for key in part]), strict=True):
                self._kept.add(key, result)
                results[key] = result
        return named([results[key] for key in keys], calls)

    def forget(self) -> None:
        """Request the last calls again when they are made again."""
        self._kept.drop(self._last)


def _read(body: bytes) -> NodeResult:
    if body[:1] == b"!":
        return NodeResult(error=msgspec.json.decode(body[1:], type=Error))
    return NodeResult(result=msgspec.Raw(body))
