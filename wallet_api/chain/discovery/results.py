"""What a node has returned, in a table, so that a command that is run again does not request it again."""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import msgspec
import orjson

from wallet_api.chain.providers.fetch import Fetch, Limits
from wallet_api.chain.providers.jsonrpc import MAX_BATCH, Call, Node, NodeResult, named
from wallet_api.chain.providers.pace import Pace
from wallet_api.database import Connection, Row, load_statements

_RESULTS = load_statements(__package__, "results")
_NULL = b"null"
# Longer than an operator takes to go on, or to find another node.
_KEPT_FOR = timedelta(days=30)


class Results:
    """The results of a search. Each is there at once, so that a search that is killed loses none.

    What was added or found is trusted once `confirm` says that it was right. One process at a time has those
    of a search, whose session holds its lock. Raises a psycopg error.
    """

    def __init__(self, connection: Connection, search: str) -> None:
        self._connection = connection
        self._search = search
        self._unconfirmed: set[bytes] = set()
        self._run("expire", before=datetime.now(UTC) - _KEPT_FOR)
        [kept] = self._run("kept")
        self.since: datetime | None = kept["since"]
        self._count: int = kept["count"]

    def __len__(self) -> int:
        return self._count

    def _run(self, name: str, **parameters: Any) -> list[Row]:
        cursor = self._connection.execute(_RESULTS[name], parameters | {"search": self._search})
        return cursor.fetchall() if cursor.description else []

    def find(self, calls: Sequence[bytes]) -> dict[bytes, NodeResult]:
        """Return the results of calls, by their hashes, as far as they are there."""
        rows = self._run("find", calls=list(calls))
        self._unconfirmed.update(row["call"] for row in rows)
        return {
            row["call"]: msgspec.json.decode(zlib.decompress(row["result"]), type=NodeResult) for row in rows
        }

    def add(self, results: Mapping[bytes, NodeResult]) -> None:
        """Add results of calls, but for those that may be others later."""
        final: dict[bytes, bytes] = {}
        for call, result in results.items():
            if result.error is None:
                is_final = bytes(result.result) != _NULL
            else:
                is_final, result.result = result.error.is_final, msgspec.Raw(_NULL)
            if is_final:
                final[call] = zlib.compress(msgspec.json.encode(result))
        new = self._run("add", calls=list(final), results=list(final.values()))
        self._unconfirmed.update(final)
        self._count += len(new)

    def confirm(self) -> None:
        """Trust what was added or found until now."""
        self._unconfirmed.clear()

    def discard(self) -> None:
        """Remove what was added or found since the last `confirm`: something of it was wrong."""
        self.remove(self._unconfirmed)
        self.confirm()

    def remove(self, calls: Iterable[bytes]) -> None:
        """Remove the results of these calls."""
        self._count -= len(self._run("remove", calls=list(calls)))

    def clear(self) -> None:
        """Remove all results of the search."""
        self._run("clear")
        self.since, self._count = None, 0


class SavingNode(Node):
    """A node that is requested only what it has not returned before. Results of another URL are not used."""

    def __init__(self, url: str, limits: Limits, pace: Pace, saved: Results) -> None:
        super().__init__(url, limits, pace=pace)
        self._node_url = url.encode()
        self._saved = saved
        self._last: Sequence[bytes] = ()

    def call(self, fetch: Fetch, calls: Sequence[Call]) -> list[NodeResult]:
        """Return the results of the calls as a node."""
        keys = self._last = [sha256(self._node_url + orjson.dumps(call)).digest() for call in calls]
        results = self._saved.find(keys)
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
