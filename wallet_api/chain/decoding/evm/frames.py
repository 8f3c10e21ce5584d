"""What the code of an account ran in an EVM transaction, by the frames of a trace.

https://geth.ethereum.org/docs/developers/evm-tracing/built-in-tracers#call-tracer, with logs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from wallet_api.chain.decoding.amounts import quantity
from wallet_api.chain.decoding.evm.receipts import ZERO, Log

# Only an account's own code makes such a call in its name; other kinds run code within a call.
_CALLS = frozenset(("CALL", "CREATE", "CREATE2"))
_PAYING = _CALLS | {"SELFDESTRUCT"}


class _FrameLog(msgspec.Struct):
    """A log of a frame; `position` is how many calls the frame had made before."""

    address: str
    topics: list[str]
    position: str
    data: str = "0x"


class Frame(msgspec.Struct):
    """A call, and those that it made."""

    kind: str = msgspec.field(name="type")
    sender: str = msgspec.field(name="from")
    to: str | None = None
    value: str | None = None
    error: str | None = None
    calls: list["Frame"] = []
    logs: list[_FrameLog] = []


@dataclass(frozen=True, slots=True)
class Frames:
    """The first and last logs of each call that an account made, and the native coin that it got in these."""

    spans: Sequence[tuple[int, int]]
    coin: int


def frames_of(trace: Frame, logs: Sequence[Log], account: str) -> Frames | None:
    """Return what an account ran; None if the trace does not have the logs of the receipt in their order.

    Raise UnusableRow.
    """
    reader = _Reader(account)
    reader.read(trace, is_own=False)
    if [_of(log) for log in reader.logs] != [_of(log) for log in logs]:
        return None
    return Frames(reader.spans, reader.coin)


def _of(log: Log | _FrameLog) -> tuple[str, list[str], str]:
    return log.address.lower(), [topic.lower() for topic in log.topics], log.data.lower()


@dataclass(slots=True)
class _Reader:
    account: str
    spans: list[tuple[int, int]] = field(default_factory=list)
    logs: list[_FrameLog] = field(default_factory=list)
    coin: int = 0

    def read(self, frame: Frame, *, is_own: bool) -> None:
        """Read a frame; `is_own` is whether the account has made a call around it."""
        if frame.error is not None:
            return
        sender = frame.sender.lower()
        is_first = not is_own and sender == self.account and frame.kind in _CALLS
        is_own = is_own or is_first
        if is_own and frame.kind in _PAYING:
            is_paid = (frame.to or ZERO).lower() == self.account
            self.coin += quantity(frame.value) * (is_paid - (sender == self.account))
        start, read = len(self.logs), 0
        for number, call in enumerate(frame.calls):
            while read < len(frame.logs) and quantity(frame.logs[read].position) <= number:
                self.logs.append(frame.logs[read])
                read += 1
            self.read(call, is_own=is_own)
        self.logs += frame.logs[read:]
        if is_first and len(self.logs) > start:
            self.spans.append((start, len(self.logs) - 1))
