"""What an EVM node has returned of a transaction, and which questions are open."""

from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, NamedTuple

from wallet_api.chain.decoding.evm.logs import Logs
from wallet_api.chain.decoding.swaps import SwapWriter, TrackedWallet

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
    FRAMES = "frames"
    """What the wallet's own code ran, as Frames."""
    INPUT = "input"
    """The input of the transaction, as bytes."""


class Question(NamedTuple):
    """A question about a token, an entry point, or an order (contract and id in hexadecimal)."""

    need: Need
    subject: str = ""
    id: str = ""


@dataclass(slots=True)
class EvmEvidence:
    """A transaction of an EVM chain for one wallet, and the number of its block.

    `is_alone` is whether nothing else in the block is known to have changed the wallet's native balance.
    `other_fees` are what other transactions of the wallet in the block have cost, which moved no coin else.
    `answers` are those of the node; None for what it does not have. `owners` are what was already read of the
    logs, since a decision begins again with each answer.
    """

    wallet: TrackedWallet
    logs: Logs
    value: int = 0
    created_at: datetime = _UNKNOWN
    number: int = 0
    is_alone: bool = False
    other_fees: int = 0
    answers: dict[Question, object] = field(default_factory=dict)
    owners: dict[object, Any] = field(default_factory=dict)

    @property
    def signature(self) -> str:
        """Return the hash of the transaction."""
        return self.logs.receipt.transaction_hash

    def answer(self, question: Question) -> object:
        """Return the answer; None if the node does not have it. Raise Unanswered."""
        (answer,) = self.all_answers([question])
        return answer

    def all_answers(self, questions: Sequence[Question]) -> list[object]:
        """Return the same of several questions. Raise Unanswered with those that are open."""
        missing = [question for question in questions if question not in self.answers]
        if missing:
            raise Unanswered(*missing)
        return [self.answers[question] for question in questions]

    def writer(self, mints: Set[str], unpriced: Collection[str]) -> SwapWriter | None:
        """Return what writes swaps of these tokens; None if the decimals of one are unknown.

        Raise Unanswered.
        """
        questions = [Question(Need.DECIMALS, mint) for mint in sorted(mints | self.wallet.chain.stable_mints)]
        answers = zip(questions, self.all_answers(questions), strict=True)
        decimals = {question.subject: answer for question, answer in answers if isinstance(answer, int)}
        if mints - decimals.keys():
            return None
        return SwapWriter(self.wallet, self.signature, self.created_at, decimals, unpriced)


class Unanswered(Exception):
    """The questions without an answer on which a decision depends."""

    def __init__(self, *questions: Question) -> None:
        super().__init__(*questions)
        self.questions = questions
