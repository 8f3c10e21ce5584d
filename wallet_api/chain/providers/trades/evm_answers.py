"""The answers of an EVM node to what a decision depends on: balances, traces, decimals, and orders.

https://geth.ethereum.org/docs/developers/evm-tracing/built-in-tracers#prestate-tracer
"""

import re
from collections.abc import Sequence

import msgspec

from wallet_api.chain.decoding.amounts import UnusableRow
from wallet_api.chain.decoding.evm.evidence import EvmEvidence, Need, Question
from wallet_api.chain.decoding.evm.frames import Frame, Frames, frames_of
from wallet_api.chain.decoding.evm.receipts import address_of
from wallet_api.chain.providers.faults import Broken, Malformed, TimedOut
from wallet_api.chain.providers.jsonrpc import NO_METHOD, Call, NodeResult
from wallet_api.chain.providers.metadata import multicall
from wallet_api.chain.providers.replies import reply_quantity
from wallet_api.chain.providers.trades.evm_node import BEHIND, EvmNode

# A node that has not got as far, as opposed to one that no longer has the state.
_BEHIND = re.compile(r"header not found|unknown block|block not found|after last accepted", re.IGNORECASE)
_DIFFERENCES = {"tracer": "prestateTracer", "tracerConfig": {"diffMode": True}}
_FRAMES = {"tracer": "callTracer", "tracerConfig": {"withLog": True}}
_TRACES = (Need.CHANGES, Need.FRAMES)
# orders(bytes32) of the contracts for orders in native coin: the owner, and until when it is valid.
_PLACED = bytes.fromhex("9c3f1e90")


class _Account(msgspec.Struct):
    balance: str | None = None


class _Sent(msgspec.Struct):
    input: str


class _Trace(msgspec.Struct):
    pre: dict[str, _Account]
    post: dict[str, _Account]


class Answers:
    """Requests what decisions depend on. It remembers whether the node has traces."""

    def __init__(self, node: EvmNode) -> None:
        self._node = node
        self._has_traces = True

    def fill(self, wanted: Sequence[tuple[EvmEvidence, Sequence[Question]]]) -> None:
        """Answer the questions in their evidence. Raise ProviderFault."""
        pairs = [(evidence, question) for evidence, questions in wanted for question in questions]
        mints = {question.subject for _, question in pairs if question.need == Need.DECIMALS}
        decimals = self._node.decimals(sorted(mints)) if mints else {}
        calls: list[list[Call]] = [self._calls(evidence, question) for evidence, question in pairs]
        results = iter(self._node.request([call for each in calls for call in each]))
        for (evidence, question), each in zip(pairs, calls, strict=True):
            if question.need == Need.DECIMALS:
                answer: object = decimals.get(question.subject)
            elif question.need == Need.FRAMES:
                answer = self._frames(evidence)
            else:
                answer = self._read(question, [next(results) for _ in each])
            evidence.answers[question] = answer

    def _frames(self, evidence: EvmEvidence) -> Frames | None:
        """Return what the wallet's own code ran; None if the node has no trace of it.

        Each is a request of its own: a stranger can nest calls so deeply that the response cannot be decoded,
        or that the node fails.
        """
        if not self._has_traces:
            return None
        try:
            results = self._node.request([("debug_traceTransaction", [evidence.signature, _FRAMES])])
        except (Broken, Malformed, TimedOut):
            return None
        if not self._is_there(Need.FRAMES, results):
            return None
        try:
            return frames_of(results[0].read(Frame), evidence.logs.receipt.logs, evidence.wallet.address)
        except (Malformed, UnusableRow, RecursionError):
            return None

    def _calls(self, evidence: EvmEvidence, question: Question) -> list[Call]:
        wallet = evidence.wallet.address
        moments = [hex(evidence.number - 1), hex(evidence.number)]
        match question.need:
            case Need.BALANCES:
                return [("eth_getBalance", [wallet, moment]) for moment in moments]
            case Need.DEPOSITS:
                data = multicall.balance_of(wallet)
                return [multicall.call(question.subject, data, moment) for moment in moments]
            case Need.CHANGES if self._has_traces:
                return [("debug_traceTransaction", [evidence.signature, _DIFFERENCES])]
            case Need.INPUT:
                return [("eth_getTransactionByHash", [evidence.signature])]
            case Need.PLACED_BY:
                return [multicall.call(question.subject, _PLACED + bytes.fromhex(question.id[2:]))]
        return []

    def _read(self, question: Question, results: Sequence[NodeResult]) -> object:
        """Return the answer; None if the node does not have it. Raise Broken if it has not got as far."""
        try:
            return _answer(question, results) if self._is_there(question.need, results) else None
        except Malformed:
            return None

    def _is_there(self, need: Need, results: Sequence[NodeResult]) -> bool:
        """Return whether the node has what is needed. Raise Broken if it has not got as far."""
        for result in results:
            if result.error is not None:
                if result.error.code == NO_METHOD and need in _TRACES:
                    self._has_traces = False
                if not result.error.is_revert and _BEHIND.search(result.error.message):
                    raise Broken(BEHIND)
                return False
        return True


def _answer(question: Question, results: Sequence[NodeResult]) -> object:
    if not results:
        return None
    if question.need == Need.CHANGES:
        return _differences(results[0].read(_Trace))
    if question.need == Need.INPUT:
        return _bytes(results[0].read(_Sent).input)
    words = [result.read(str) for result in results]
    if question.need == Need.PLACED_BY:
        return address_of(words[0][:66]) if len(words[0]) >= 66 else None
    if question.need == Need.DEPOSITS and any(len(word) < 66 for word in words):
        return None
    return tuple(map(reply_quantity, words))


def _bytes(text: str) -> bytes | None:
    """Return hexadecimal digits after 0x as bytes; None if they are none."""
    try:
        return bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        return None


def _differences(trace: _Trace) -> dict[str, int]:
    """Return how the native balances changed. What did not change is absent after, what is new before."""
    none = _Account()
    return {
        owner.lower(): reply_quantity(after.balance) - reply_quantity(trace.pre.get(owner, none).balance)
        for owner, after in trace.post.items()
        if after.balance is not None
    }
