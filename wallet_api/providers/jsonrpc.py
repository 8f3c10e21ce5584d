"""A JSON-RPC 2.0 node: batches of calls, matched by id, and the faults that its error codes mean.

https://www.jsonrpc.org/specification; the codes of Solana's nodes are in
https://github.com/anza-xyz/agave/blob/master/rpc-client-api/src/custom_error.rs.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from wallet_api.providers.faults import (
    Broken,
    Malformed,
    Overloaded,
    ProviderFault,
    Rejected,
    TooLarge,
)
from wallet_api.providers.fetch import Fetch, Fetcher, Limits
from wallet_api.providers.metrics import FetchMetrics
from wallet_api.providers.pace import Pace
from wallet_api.providers.replies import Reply, read_json, refuse

Shape = TypeVar("Shape")
# A method and its parameters.
Call = tuple[str, list[Any]]

MAX_BATCH = 10

_RETRIED: dict[int, type[ProviderFault]] = {
    -32005: Overloaded,  # node is behind; with some vendors the rate limit
    -32016: Broken,  # slot not reached yet
    -32603: Broken,  # internal error
}
_SCAN_TOO_LARGE = -32012


class Error(msgspec.Struct):
    """The error of a call."""

    code: int = 0
    message: str = ""


class Result(msgspec.Struct):
    """The outcome of a call: either a result or an error."""

    id: int | str | None = None
    result: msgspec.Raw = msgspec.Raw(b"")
    error: Error | None = None

    def read(self, shape: type[Shape]) -> Shape:
        """Return the result, decoded as `shape`. Raise the ProviderFault that an error means."""
        if self.error is not None:
            raise _fault(self.error)
        return read_json(bytes(self.result), shape)


class _BatchRefusedError(Exception):
    """The node accepts single calls only."""


class Node:
    """A node of one chain. One that refuses a batch gets single calls from then on."""

    def __init__(self, url: str, limits: Limits, metrics: FetchMetrics, pace: Pace | None = None) -> None:
        self.fetcher = Fetcher("rpc", limits, metrics, refuse=_refuse, pace=pace)
        self._url = url
        self._takes_batches = True

    def call(self, fetch: Fetch, calls: Sequence[Call]) -> list[Result]:
        """Return the results of the calls in their order, errors included. Raise ProviderFault."""
        results: list[Result] = []
        for start in range(0, len(calls), MAX_BATCH):
            results += self._call_batch(fetch, calls[start : start + MAX_BATCH])
        return results

    def _call_batch(self, fetch: Fetch, calls: Sequence[Call]) -> list[Result]:
        if len(calls) > 1 and self._takes_batches:
            documents = [_document(number, call) for number, call in enumerate(calls)]
            try:
                results = fetch.post(self._url, documents, lambda reply: _read_batch(reply, len(calls)))
            except (_BatchRefusedError, Rejected):
                self._takes_batches = False
            except TooLarge:
                # Single calls show whether one of them alone is too large.
                pass
            else:
                return [
                    self._call_one(fetch, call) if _is_retried(result.error) else result
                    for call, result in zip(calls, results, strict=True)
                ]
        return [self._call_one(fetch, call) for call in calls]

    def _call_one(self, fetch: Fetch, call: Call) -> Result:
        return fetch.post(self._url, _document(0, call), _read_one)


def _document(number: int, call: Call) -> dict[str, Any]:
    method, parameters = call
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}


def _read_one(reply: Reply) -> Result:
    result = _checked(read_json(reply.body, Result))
    if result.error is not None and _is_retried(result.error):
        raise _fault(result.error)
    return result


def _read_batch(reply: Reply, expected: int) -> list[Result]:
    if reply.body.lstrip()[:1] == b"{":
        error = read_json(reply.body, Result).error
        if error is not None and _is_retried(error):
            raise _fault(error)
        raise _BatchRefusedError
    results = {str(result.id): _checked(result) for result in read_json(reply.body, list[Result])}
    if results.keys() != {str(number) for number in range(expected)}:
        raise Malformed("the ids of a batch do not match")
    return [results[str(number)] for number in range(expected)]


def _checked(result: Result) -> Result:
    if result.error is None and not bytes(result.result):
        raise Malformed("neither result nor error")
    return result


def _is_retried(error: Error | None) -> bool:
    return error is not None and error.code in _RETRIED


def _fault(error: Error) -> ProviderFault:
    detail = f"code {error.code}"
    if error.code == _SCAN_TOO_LARGE:
        return TooLarge(detail)
    return _RETRIED.get(error.code, Rejected)(detail)


def _refuse(reply: Reply) -> ProviderFault:
    if 400 <= reply.status < 500:
        try:
            error = read_json(reply.body, Result).error
        except Malformed:
            error = None
        if error is not None and error.code == _SCAN_TOO_LARGE:
            return _fault(error)
    return refuse(reply)
