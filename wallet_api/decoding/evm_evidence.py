"""What an EVM node has returned of a transaction, which questions are open, and to what a wallet consented.

A log can be emitted by anybody with any content: who may be believed is in SECURITY.md, "Data of chains".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import NamedTuple

from wallet_api.decoding.evm import ZERO
from wallet_api.decoding.evm_logs import Event, Logs
from wallet_api.decoding.evm_venues import EVM
from wallet_api.decoding.swaps import TrackedWallet
from wallet_api.decoding.venues import Role

_ORDERS = frozenset(venue.address for venue in EVM if venue.role == Role.ORDERS)

_UNKNOWN = datetime.fromtimestamp(0, UTC)


class Need(StrEnum):
    """What a decision needs of a node."""

    DECIMALS = "decimals"
    """The decimals of a token."""
    BALANCES = "balances"
    """The native balances of the wallet before and after the block."""
    DEPOSITS = "deposits"
    """The wallet's deposits at an entry point before and after the block."""
    CHANGES = "changes"
    """The changes of the native balances of all owners in the transaction, by owner."""
    PLACED_BY = "placed by"
    """The owner of an order in native coin, by the contract and the order's id."""


class Question(NamedTuple):
    """A question about a token, an entry point, or an order (contract and id in hexadecimal)."""

    need: Need
    subject: str = ""
    id: str = ""


@dataclass(slots=True)
class EvmEvidence:
    """A transaction of an EVM chain for one wallet.

    `is_alone` is whether nothing else in the block is known to have changed the wallet's native balance.
    `answers` are those of the node; None for what it does not have.
    """

    logs: Logs
    value: int = 0
    created_at: datetime = _UNKNOWN
    is_alone: bool = False
    answers: dict[Question, object] = field(default_factory=dict)

    @property
    def signature(self) -> str:
        """Return the hash of the transaction."""
        return self.logs.receipt.transaction_hash

    def answer(self, question: Question) -> object:
        """Return the answer; None if the node does not have it. Raise Unanswered."""
        if question not in self.answers:
            raise Unanswered(question)
        return self.answers[question]


class Unanswered(Exception):
    """The questions without an answer on which a decision depends."""

    def __init__(self, *questions: Question) -> None:
        super().__init__(*questions)
        self.questions = questions


class How(StrEnum):
    """How a wallet consented to a transaction."""

    SIGNED = "signed"
    """It sent the transaction, or is the contract that was called: to all of it."""
    OPERATION = "operation"
    """An entry point ran an operation of it: to the logs of this operation."""
    ORDER = "order"
    """A settlement filled an order of it: to the amounts of this order."""
    NAMED = "named"
    """A known contract acted for it, or it logged the execution of what its owners ordered."""
    PAID = "paid"
    """Money left it, by the money's own log: to what it was paid for."""


@dataclass(frozen=True, slots=True)
class Consent:
    """To what a wallet consented: the logs in these spans, and the orders of a settlement.

    `cost` is what the entry point `entry_point` charged the wallet for its operations.
    """

    how: How
    spans: Sequence[tuple[int, int]] = ()
    orders: Sequence[Event] = ()
    entry_point: str = ""
    cost: int = 0

    def covers(self, place: int) -> bool:
        """Return whether the log at a place belongs to it."""
        return any(first <= place <= last for first, last in self.spans)


def consent_of(evidence: EvmEvidence, wallet: TrackedWallet) -> Consent | None:
    """Return to what the wallet consented in the transaction; None if to nothing. Raise Unanswered."""
    logs, address = evidence.logs, wallet.address
    everything = ((0, len(logs.receipt.logs)),)
    if address in (logs.sender, logs.to):
        return Consent(How.SIGNED, everything)
    operations = _operations(logs, address)
    if operations is not None:
        return operations
    orders = _orders(evidence, wallet)
    if orders:
        return Consent(How.ORDER, orders=orders)
    if any(_names(event, address) for event in logs.events):
        return Consent(How.NAMED, everything)
    money = {None, *wallet.chain.stable_mints}
    if any(move.giver == address and move.mint in money and move.units for move in logs.by_owner[address]):
        return Consent(How.PAID, everything)
    return None


def _operations(logs: Logs, address: str) -> Consent | None:
    """Return the consent to the account's own operations: each ends with its event, after that of another."""
    spans: list[tuple[int, int]] = []
    cost, entry_point, start = 0, "", 0
    for event in logs.of_role(Role.ENTRY_POINT, Role.START):
        if event.venue.role == Role.ENTRY_POINT and len(event.values) > max(event.venue.places):
            account, paymaster, charged = event.venue.places
            if event.address(account) == address:
                spans.append((start, event.place))
                entry_point = event.emitter
                cost += event.values[charged] if event.address(paymaster) == ZERO else 0
        start = event.place + 1
    return Consent(How.OPERATION, spans, (), entry_point, cost) if spans else None


def _orders(evidence: EvmEvidence, wallet: TrackedWallet) -> list[Event]:
    """Return the events of the settlement that state what orders of the wallet exchanged."""
    orders: list[Event] = []
    for event in evidence.logs.of_role(Role.SETTLEMENT):
        if order_of(event) is None:
            continue
        owner = event.address(*event.venue.places)
        if owner == wallet.address:
            orders.append(event)
        elif owner in _ORDERS:
            bought = event.address(2)
            mine = evidence.logs.by_owner.get(wallet.address, ())
            # Only what the wallet took can be of an order of it.
            is_taken = any(move.taker == wallet.address and move.mint == bought for move in mine)
            if is_taken and evidence.answer(placed_by(event, owner)) == wallet.address:
                orders.append(event)
    return orders


def placed_by(event: Event, contract: str) -> Question:
    """Return the question for the owner of the order that a settlement filled for `contract`."""
    return Question(Need.PLACED_BY, contract, order_of(event) or "")


def order_of(event: Event) -> str | None:
    """Return the hash of the order that a settlement filled, a part of its id; None for another form."""
    # Owner, tokens, amounts, fee, then the place, length and 56 bytes of the id.
    return f"0x{event.values[8]:064x}" if len(event.values) >= 10 and event.values[7] == 56 else None


def _names(event: Event, address: str) -> bool:
    """Return whether a known contract, or the wallet itself, states that it acted for the wallet."""
    if event.venue.role == Role.ACCOUNT:
        return event.emitter == address
    return event.venue.role == Role.NAMES and address in map(event.address, event.venue.places)


def decimals_of(evidence: EvmEvidence, mints: Sequence[str]) -> Mapping[str, int]:
    """Return the decimals of tokens, without those that are unknown. Raise Unanswered."""
    questions = {mint: Question(Need.DECIMALS, mint) for mint in mints}
    missing = [question for question in questions.values() if question not in evidence.answers]
    if missing:
        raise Unanswered(*missing)
    answers = {mint: evidence.answers[question] for mint, question in questions.items()}
    return {mint: answer for mint, answer in answers.items() if isinstance(answer, int)}
