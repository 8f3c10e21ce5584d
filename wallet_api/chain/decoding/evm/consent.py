"""To what a wallet consented in an EVM transaction.

A log can be emitted by anybody with any content, and whatever a wallet has agreed to can be carried by a
stranger, beside anything else: a proof covers the party, the amounts and the span of logs that it names, and
nothing else. Who is believed is in SECURITY.md, "Data of chains".
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from wallet_api.chain.decoding.evm.evidence import EvmEvidence
from wallet_api.chain.decoding.evm.fills import Fill, Orders
from wallet_api.chain.decoding.evm.logs import Logs
from wallet_api.chain.decoding.evm.receipts import ZERO
from wallet_api.chain.decoding.venues import Role


@dataclass(frozen=True, slots=True)
class Consent:
    """To what a wallet consented: the logs in these spans, in their order, or these fills of its orders.

    `is_signed` is whether it sent the transaction, and so consented to all of it. Else a known contract
    filled its orders or ran what it has signed, such as an entry point, or it is a contract that logged what
    it ran. `cost` is what the entry point `entry_point` charged the wallet for its operations; `coin` the
    native coin that it got in these spans, where a trace has shown them.
    """

    spans: Sequence[tuple[int, int]] = ()
    fills: Sequence[Fill] = ()
    entry_point: str = ""
    cost: int = 0
    coin: int | None = None
    is_signed: bool = False

    @classmethod
    def to_all(cls, logs: Logs) -> "Consent":
        """Return the consent of a signature, to all logs."""
        return cls(((0, len(logs.receipt.logs)),), is_signed=True)

    def covers(self, place: int) -> bool:
        """Return whether the log at a place belongs to it."""
        before = bisect_right(self.spans, (place, len(self.spans) and self.spans[-1][1])) - 1
        return before >= 0 and self.spans[before][0] <= place <= self.spans[before][1]


def consent_of(evidence: EvmEvidence) -> Consent | None:
    """Return to what the wallet consented by its signature or by logs; None if to nothing.

    Raise Unanswered.
    """
    logs, address = evidence.logs, evidence.wallet.address
    if address == logs.sender:
        return Consent.to_all(logs)
    ran = _operations(logs, address) or _signed_calls(logs, address) or _runs(logs, address)
    fills = Orders(evidence, ran.covers if ran else lambda place: False).fills()
    if fills is None:
        return ran
    # Which of them moved what is not known if it also ran something.
    return Consent(fills=fills) if fills and not ran else None


def _operations(logs: Logs, address: str) -> Consent | None:
    """Return the consent to the account's own operations: each ends with its event, after that of another.

    Other entry points that an operation calls end and begin nothing of it.
    """
    spans: list[tuple[int, int]] = []
    starts: dict[str, int] = {}
    cost, entry_point = 0, ""
    for event in logs.events_of(Role.ENTRY_POINT, Role.START):
        if event.venue.role == Role.ENTRY_POINT and len(event.values) > max(event.venue.places):
            account, paymaster, charged = event.venue.places
            if event.address(account) == address:
                spans.append((starts.get(event.emitter, 0), event.place))
                entry_point = event.emitter
                cost += event.values[charged] if event.address(paymaster) == ZERO else 0
        starts[event.emitter] = event.place + 1
    return Consent(sorted(spans), (), entry_point, cost) if spans else None


def _signed_calls(logs: Logs, address: str) -> Consent | None:
    """Return the consent to what a known contract, which the transaction calls, ran for the wallet."""
    spans: list[tuple[int, int]] = []
    start = 0
    for event in logs.events_of(Role.RUNS):
        if event.emitter == logs.to:
            if event.address(*event.venue.places) == address:
                spans.append((start, event.place))
            start = event.place + 1
    return Consent(spans) if spans else None


def _runs(logs: Logs, address: str) -> Consent | None:
    """Return the consent to what the account logged that it ran, from its own start to its own end.

    One that logs no start has run all before its end, if the transaction calls it; if another contract calls
    it, nothing shows where it began.
    """
    spans: list[tuple[int, int]] = []
    starts: list[int] = []
    for event in logs.events_of(Role.ACCOUNT_START, Role.ACCOUNT):
        if event.emitter != address:
            continue
        if event.venue.role == Role.ACCOUNT_START:
            starts.append(event.place)
            continue
        if not starts and logs.to == address:
            starts.append(spans[-1][1] + 1 if spans else 0)
        start = starts.pop() if starts else None
        if start is not None and not starts:
            spans.append((start, event.place))
    return Consent(spans) if spans else None
