"""A JSON-RPC 2.0 node: batches of calls, matched by id, and the faults that its error codes mean.

https://www.jsonrpc.org/specification; the codes of Solana's nodes are in
https://github.com/anza-xyz/agave/blob/master/rpc-client-api/src/custom_error.rs.
"""

import re
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from wallet_api.chain.providers.faults import (
    Broken,
    Malformed,
    Overloaded,
    Oversized,
    ProviderFault,
    QuotaExhausted,
    Rejected,
    TooLarge,
)
from wallet_api.chain.providers.fetch import Fetch, Fetcher, Limits
from wallet_api.chain.providers.metrics import FetchMetrics
from wallet_api.chain.providers.pace import Pace
from wallet_api.chain.providers.replies import MAX_PAUSE_SECONDS, Reply, read_json, refuse, until_midnight

Content = TypeVar("Content")
# A method and its parameters.
Call = tuple[str, list[Any]]

MAX_BATCH = 10
# How long a node that has refused a batch gets single calls.
_SINGLE_SECONDS = 60.0
# The code of a method that the node does not have.
NO_METHOD = -32601

_TOO_LARGE = -32012
# No node has this code: the body of its response is too large.
_OVERSIZED = 1 << 40
# What codes mean with Solana's nodes and with vendors, who also use them for rate limits.
_FAULTS: dict[int, type[ProviderFault]] = {
    _OVERSIZED: Oversized,
    429: Overloaded,
    -32004: Broken,  # block not available yet
    -32005: Overloaded,  # node is behind, or the rate limit
    _TOO_LARGE: TooLarge,  # scan too large
    -32014: Broken,  # status of the block not available yet
    -32016: Broken,  # slot not reached yet, or the rate limit
    -32019: Broken,  # long-term storage unreachable
    -32429: Overloaded,
    -32603: Broken,  # internal error
}
# In words, where the code alone helps nobody.
_WORDS = {
    NO_METHOD: "it does not have this method",
    -32001: "it no longer has this block",
    -32010: "it has no index for this",
    -32011: "it keeps no history of transactions",
    -32602: "it does not accept the parameters",
}
# A result that would be too large, which some nodes report with the code of a rate limit.
_LARGE = re.compile(r"more than \d+ results|block range|response size|exceeds? max", re.IGNORECASE)
_AWAY = re.compile(r"no backend", re.IGNORECASE)
_LIMIT = re.compile(r"rate limit|request limit|too many requests", re.IGNORECASE)
_QUOTA = re.compile(r"max usage reached|daily request count exceeded|capacity limit|quota", re.IGNORECASE)
# Those whose message decides what they mean.
_LIMIT_CODES = frozenset((429, -32005, -32007, -32016, -32429))
# The codes of a contract that failed: of geth and its kind, and of Parity and its kind.
_REVERT_CODES = frozenset((3, -32015))


class Error(msgspec.Struct):
    """The error of a call. `data` is a text if it is what a contract returned."""

    code: int = 0
    message: str = ""
    data: Any = None

    @property
    def is_revert(self) -> bool:
        """Return whether a contract failed, so that the message may have the words of a stranger."""
        return (
            self.code in _REVERT_CODES
            or isinstance(self.data, str)
            or self.message.lower().startswith("execution reverted")
        )

    @property
    def fault(self) -> ProviderFault:
        """Return the fault that the error means, without its message, which may contain a key."""
        words = _WORDS.get(self.code)
        detail = f"code {self.code}, {words}" if words else f"code {self.code}"
        if self.is_revert:
            return Rejected(detail)
        if self.code in _LIMIT_CODES and _QUOTA.search(self.message):
            return QuotaExhausted(detail, retry_after_seconds=min(until_midnight(), MAX_PAUSE_SECONDS))
        if self.code in _LIMIT_CODES and _LIMIT.search(self.message):
            return Overloaded(detail)
        if _LARGE.search(self.message):
            return TooLarge(detail)
        if _AWAY.search(self.message):
            return Broken(detail)
        return _FAULTS.get(self.code, Rejected)(detail)

    @property
    def is_final(self) -> bool:
        """Return whether a repeated call would fail in the same way: no temporary fault, no limit."""
        return isinstance(self.fault, Rejected | TooLarge)


class NodeResult(msgspec.Struct):
    """The outcome of a call: either a result or an error. `method` is never what a node says."""

    id: int | str | None = None
    result: msgspec.Raw = msgspec.Raw(b"")
    error: Error | None = None
    method: str = ""

    def read(self, shape: type[Content]) -> Content:
        """Return the result, decoded as `shape`. Raise the ProviderFault that an error means."""
        if self.error is not None:
            raise self.error.fault.for_method(self.method)
        return read_json(bytes(self.result), shape)


class _BatchRefusedError(Exception):
    """The node accepts single calls only."""


class Node:
    """A node of one chain. One that refuses a batch gets single calls for a while: the fault may pass.

    `methods` counts the calls that are sent, by method.
    """

    def __init__(
        self, url: str, limits: Limits, metrics: FetchMetrics | None = None, pace: Pace | None = None
    ) -> None:
        self.fetcher = Fetcher("rpc", limits, metrics, refuse=_refuse, pace=pace)
        self._url = url
        self._single_until = 0.0
        self.methods: Counter[str] = Counter()

    def call(self, fetch: Fetch, calls: Sequence[Call]) -> list[NodeResult]:
        """Return the results of the calls in their order, errors included. Raise ProviderFault.

        A single call whose response is too large has an error, and does not affect the others.
        """
        results: list[NodeResult] = []
        for start in range(0, len(calls), MAX_BATCH):
            part = calls[start : start + MAX_BATCH]
            try:
                results += self._call_batch(fetch, part)
            except ProviderFault as fault:
                fault.for_method(", ".join(dict.fromkeys(method for method, _ in part)))
                raise
        return named(results, calls)

    def _call_batch(self, fetch: Fetch, calls: Sequence[Call]) -> list[NodeResult]:
        if len(calls) > 1 and time.monotonic() >= self._single_until:
            documents = [_document(number, call) for number, call in enumerate(calls)]
            self.methods.update(method for method, _ in calls)
            try:
                results = fetch.post(self._url, documents, lambda reply: _read_batch(reply, len(calls)))
            except (_BatchRefusedError, Rejected):
                results = [self._call_one(fetch, call) for call in calls]
                # Otherwise a call was refused, and not the batch.
                if all(result.error is None for result in results):
                    self._single_until = time.monotonic() + _SINGLE_SECONDS
                return results
            except TooLarge:
                # Single calls show whether one of them alone is too large.
                pass
            else:
                return [
                    result if result.error is None or result.error.is_final else self._call_one(fetch, call)
                    for call, result in zip(calls, results, strict=True)
                ]
        return [self._call_one(fetch, call) for call in calls]

    def _call_one(self, fetch: Fetch, call: Call) -> NodeResult:
        self.methods[call[0]] += 1
        try:
            return fetch.post(self._url, _document(0, call), _read_one)
        except TooLarge as fault:
            return NodeResult(error=Error(_OVERSIZED if isinstance(fault, Oversized) else _TOO_LARGE))


def named(results: list[NodeResult], calls: Sequence[Call]) -> list[NodeResult]:
    """Return the results of calls, each with the method of its call."""
    for result, (method, _) in zip(results, calls, strict=True):
        result.method = method
    return results


def _document(number: int, call: Call) -> dict[str, Any]:
    method, parameters = call
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}


def _read_one(reply: Reply) -> NodeResult:
    result = _checked(read_json(reply.body, NodeResult))
    if result.error is not None and not result.error.is_final:
        raise result.error.fault
    return result


def _read_batch(reply: Reply, expected: int) -> list[NodeResult]:
    if reply.body.lstrip()[:1] == b"{":
        error = read_json(reply.body, NodeResult).error
        if error is not None and not error.is_final:
            raise error.fault
        raise _BatchRefusedError
    results = {str(result.id): _checked(result) for result in read_json(reply.body, list[NodeResult])}
    if results.keys() != {str(number) for number in range(expected)}:
        raise Malformed("the ids of a batch do not match")
    for result in results.values():
        # A limit applies to all calls.
        if result.error is not None and isinstance(result.error.fault, Overloaded | QuotaExhausted):
            raise result.error.fault
    return [results[str(number)] for number in range(expected)]


def _checked(result: NodeResult) -> NodeResult:
    if result.error is None and not bytes(result.result):
        raise Malformed("neither result nor error")
    return result


def _refuse(reply: Reply) -> ProviderFault:
    """Return the fault of an error response: that of the error in its body, or else that of its status."""
    try:
        error = read_json(reply.body, NodeResult).error if 400 <= reply.status < 500 else None
    except Malformed:
        error = None
    fault = None if error is None else error.fault
    if fault is None or isinstance(fault, Rejected):
        return refuse(reply)
    if reply.status == 429 and not isinstance(fault, QuotaExhausted):
        return refuse(reply)
    fault.retry_after_seconds = fault.retry_after_seconds or reply.retry_after_seconds
    return fault
