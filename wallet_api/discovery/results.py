"""What a node has returned, in a file, so that a command that is run again does not request it again."""

import errno
import sqlite3
import zlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import orjson

from wallet_api.providers.fetch import Fetch, Limits
from wallet_api.providers.jsonrpc import MAX_BATCH, Call, Node, NodeResult, named
from wallet_api.providers.metrics import FetchMetrics
from wallet_api.providers.pace import Pace

_NULL = b"null"


class Results:
    """The results of one file of SQLite. Each is there at once, so that a search that is killed loses none.

    What was added or found is trusted once `confirm` says that it was right. Raise OSError if the file cannot
    be used, or another process uses it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.since = datetime.fromtimestamp(path.stat().st_mtime, UTC) if path.exists() else None
        self._unconfirmed: set[bytes] = set()
        try:
            self._file = sqlite3.connect(path, isolation_level=None, timeout=0)
        except sqlite3.Error as error:
            raise OSError(errno.EIO, f"cannot be used: {error}", str(path)) from error
        try:
            # The lock of the transaction is kept until the file is closed.
            self._execute("PRAGMA locking_mode = EXCLUSIVE")
            self._execute("BEGIN EXCLUSIVE")
            self._execute("CREATE TABLE IF NOT EXISTS results (call BLOB PRIMARY KEY, result BLOB NOT NULL)")
            self._execute("COMMIT")
        except OSError:
            self.close()
            raise

    def _execute(self, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
        try:
            return self._file.execute(statement, parameters).fetchall()
        except sqlite3.Error as error:
            is_busy = error.sqlite_errorcode == sqlite3.SQLITE_BUSY
            reason = "another search uses it" if is_busy else error
            raise OSError(errno.EIO, f"cannot be used: {reason}", str(self.path)) from error

    def __len__(self) -> int:
        ((count,),) = self._execute("SELECT count(*) FROM results")
        return int(count)

    def find(self, call: bytes) -> NodeResult | None:
        """Return the result of a call, by its hash, or None."""
        found = self._execute("SELECT result FROM results WHERE call = ?", call)
        if not found:
            return None
        self._unconfirmed.add(call)
        return msgspec.json.decode(zlib.decompress(found[0][0]), type=NodeResult)

    def add(self, results: Mapping[bytes, NodeResult]) -> None:
        """Add results of calls, but for those that may be others later."""
        self._execute("BEGIN")
        for call, result in results.items():
            if result.error is None:
                is_final = bytes(result.result) != _NULL
            else:
                is_final, result.result = result.error.is_final, msgspec.Raw(_NULL)
            if is_final:
                body = zlib.compress(msgspec.json.encode(result))
                self._execute("INSERT OR REPLACE INTO results VALUES (?, ?)", call, body)
                self._unconfirmed.add(call)
        self._execute("COMMIT")

    def confirm(self) -> None:
        """Trust what was added or found until now."""
        self._unconfirmed.clear()

    def discard(self) -> None:
        """Remove what was added or found since the last `confirm`: something of it was wrong."""
        self.remove(self._unconfirmed)
        self.confirm()

    def remove(self, calls: Iterable[bytes]) -> None:
        """Remove the results of these calls."""
        for call in calls:
            self._execute("DELETE FROM results WHERE call = ?", call)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class SavingNode(Node):
    """A node that is requested only what it has not returned before. Results of another URL are not used."""

    def __init__(self, url: str, limits: Limits, metrics: FetchMetrics, pace: Pace, saved: Results) -> None:
        super().__init__(url, limits, metrics, pace)
        self._node_url = url.encode()
        self._saved = saved
        self._last: Sequence[bytes] = ()

    def call(self, fetch: Fetch, calls: Sequence[Call]) -> list[NodeResult]:
        """Return the results of the calls as a node."""
        keys = self._last = [sha256(self._node_url + orjson.dumps(call)).digest() for call in calls]
        results = {key: found for key in keys if (found := self._saved.find(key)) is not None}
        wanted = dict(zip(keys, calls, strict=True))
        missing = [(key, call) for key, call in wanted.items() if key not in results]
        for start in range(0, len(missing), MAX_BATCH):
            part = missing[start : start + MAX_BATCH]
            returned = super().call(fetch, [call for _, call in part])
            got = {key: result for (key, _), result in zip(part, returned, strict=True)}
            self._saved.add(got)
            results |= got
        return named([results[key] for key in keys], calls)

    def forget(self) -> None:
        """Request the last calls again when they are made again."""
        self._saved.remove(self._last)
