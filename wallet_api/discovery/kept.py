"""What a node has returned, in a file, so that a command that is run again does not request it again."""

import errno
import sqlite3
import zlib
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import msgspec
import orjson

from wallet_api.providers.fetch import Fetch, Limits
from wallet_api.providers.jsonrpc import MAX_BATCH, Call, Error, Node, NodeResult
from wallet_api.providers.metrics import FetchMetrics
from wallet_api.providers.pace import Pace

_OPEN = (
    # What is lost with the machine is requested again.
    "PRAGMA synchronous = OFF",
    # For one process alone, until it is closed.
    "PRAGMA locking_mode = EXCLUSIVE",
    "BEGIN EXCLUSIVE",
    "CREATE TABLE IF NOT EXISTS results (call BLOB PRIMARY KEY, result BLOB NOT NULL) WITHOUT ROWID",
    "COMMIT",
)


class Kept:
    """The results of one file. They are added when `keep` says that they were right, until then they wait.

    Raise OSError if the file cannot be used, or another process uses it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.since = datetime.fromtimestamp(path.stat().st_mtime, UTC) if path.exists() else None
        try:
            self._file = sqlite3.connect(path, isolation_level=None, timeout=1.0)
            for statement in _OPEN:
                self._file.execute(statement)
        except sqlite3.Error as error:
            fault = f"cannot be used ({error}): its folder is missing, or another search uses it"
            raise OSError(errno.EIO, fault, str(path)) from error
        self._waiting: dict[bytes, bytes] = {}

    def __len__(self) -> int:
        (count,) = self._file.execute("SELECT count(*) FROM results").fetchone()
        return int(count) + len(self._waiting)

    def find(self, key: bytes) -> NodeResult | None:
        """Return the result of a call, or None."""
        body = self._waiting.get(key)
        if body is None:
            with closing(self._file.execute("SELECT result FROM results WHERE call = ?", (key,))) as rows:
                (body,) = rows.fetchone() or (None,)
        return None if body is None else _read(zlib.decompress(body))

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
        if self._waiting:
            self._file.execute("BEGIN")
            self._file.executemany("INSERT OR REPLACE INTO results VALUES (?, ?)", self._waiting.items())
            self._file.execute("COMMIT")
            self._waiting = {}

    def discard(self) -> None:
        """Forget what waits, of which something was wrong."""
        self._waiting = {}

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

    def call(self, fetch: Fetch, calls: Sequence[Call]) -> list[NodeResult]:
        """Return the results of the calls as a node."""
        keys = [sha256(self._of + orjson.dumps(call)).digest() for call in calls]
        results = {key: found for key in keys if (found := self._kept.find(key)) is not None}
        missing = {key: call for key, call in zip(keys, calls, strict=True) if key not in results}
        wanted = list(missing)
        for start in range(0, len(wanted), MAX_BATCH):
            part = wanted[start : start + MAX_BATCH]
            for key, result in zip(part, super().call(fetch, [missing[key] for key in part]), strict=True):
                self._kept.add(key, result)
                results[key] = result
        return [results[key] for key in keys]


def _read(body: bytes) -> NodeResult:
    if body[:1] == b"!":
        return NodeResult(error=msgspec.json.decode(body[1:], type=Error))
    return NodeResult(result=msgspec.Raw(body))
