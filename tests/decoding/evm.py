"""Decode a transaction of an EVM chain, with the answers of a node of some kind."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import msgspec

from tests.stub.evm import RICH, Row
from wallet_api.base.chains import CHAINS
from wallet_api.chain.decoding.evm.decode import decode_evm
from wallet_api.chain.decoding.evm.evidence import EvmEvidence, Need, Question, Unanswered
from wallet_api.chain.decoding.evm.frames import Frames
from wallet_api.chain.decoding.evm.logs import Logs
from wallet_api.chain.decoding.evm.receipts import Receipt
from wallet_api.chain.decoding.swaps import TrackedWallet
from wallet_api.chain.decoding.trades import Decoded

AT = datetime(2026, 11, 20, 12, tzinfo=UTC)
PLACE = {"blockNumber": "0x64", "blockHash": "0xb1"}

ARCHIVE, TRACES, BARE = "archive", "traces", "bare"


@dataclass(frozen=True)
class Given:
    """A transaction, and what is known of it: changes of native balances, with the fee of the sender.

    `deposits` are changes of deposits at entry points; `placed_by` has the owner of orders
    in native coin by their ids; `input` is that of the transaction, `frames` what the wallet's code ran.
    """

    chain: str
    receipt: Row
    value: int
    coins: Mapping[str, int]
    decimals: Mapping[str, int]
    deposits: Mapping[str, int] = field(default_factory=dict)
    placed_by: Mapping[str, str] = field(default_factory=dict)
    input: bytes = b""
    frames: Frames | None = None

    def logs(self) -> Logs:
        """Return what is read of the receipt."""
        more = PLACE | {"transactionHash": self.receipt["transactionHash"]}
        receipt = PLACE | self.receipt | {"logs": [more | log for log in self.receipt["logs"]]}
        return Logs.from_receipt(CHAINS[self.chain], msgspec.convert(receipt, Receipt))

    def decode(self, address: str, node: str, *, is_alone: bool = True, logs: Logs | None = None) -> Decoded:
        """Return what is decoded for a wallet with the answers of a node of this kind."""
        wallet = TrackedWallet(1, CHAINS[self.chain], address)
        evidence = EvmEvidence(wallet, logs or self.logs(), self.value, AT, is_alone=is_alone)
        while True:
            try:
                return decode_evm(evidence)
            except Unanswered as missing:
                for question in missing.questions:
                    assert question not in evidence.answers
                    evidence.answers[question] = self._answer(question, address, node)

    def _answer(self, question: Question, address: str, node: str) -> Any:
        match question.need:
            case Need.DECIMALS:
                return self.decimals.get(question.subject)
            case Need.PLACED_BY:
                return self.placed_by.get(question.id)
            case Need.INPUT:
                return self.input
            case Need.FRAMES:
                return self.frames
            case Need.BALANCES if node == ARCHIVE:
                return RICH, RICH + self.coins.get(address, 0)
            case Need.DEPOSITS if node == ARCHIVE:
                return RICH, RICH + self.deposits.get(address, 0)
            case Need.CHANGES if node == TRACES:
                return dict(self.coins)
        return None
