"""The parts of a getTransaction result that are read: balances, and what instructions moved.

https://solana.com/docs/rpc/json-structures#transactions, encoded as `jsonParsed`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from wallet_api.chain.decoding.amounts import UnusableRow, read_amount
from wallet_api.chain.decoding.swaps import TrackedWallet

_SYSTEM = "11111111111111111111111111111111"

OUTSIDE = -1
"""The caller of the instructions of the message itself: the transaction."""


class _Amount(msgspec.Struct):
    amount: str
    decimals: int


class TokenBalance(msgspec.Struct, rename="camel"):
    """The balance of a token account, identified by its index among the keys."""

    account_index: int
    mint: str
    ui_token_amount: _Amount
    owner: str | None = None


class _Instruction(msgspec.Struct, rename="camel"):
    program_id: str
    accounts: list[str] = []
    parsed: Any = None
    stack_height: int | None = None


class _Inner(msgspec.Struct):
    index: int
    instructions: list[_Instruction]


class _Meta(msgspec.Struct, rename="camel"):
    fee: int
    pre_balances: list[int]
    post_balances: list[int]
    err: Any = None
    pre_token_balances: list[TokenBalance] | None = None
    post_token_balances: list[TokenBalance] | None = None
    inner_instructions: list[_Inner] | None = None

    @property
    def token_balances(self) -> list[TokenBalance]:
        """Return those before, then those after the transaction."""
        return [*(self.pre_token_balances or ()), *(self.post_token_balances or ())]


class _Key(msgspec.Struct):
    pubkey: str
    signer: bool = False


class _Message(msgspec.Struct, rename="camel"):
    account_keys: list[_Key]
    instructions: list[_Instruction] = []


class _Body(msgspec.Struct):
    message: _Message


class Transaction(msgspec.Struct, rename="camel"):
    """A getTransaction result. The version makes no difference: all have the same keys and balances."""

    meta: _Meta
    transaction: _Body
    block_time: int | None = None
    slot: int = 0
    transaction_index: int | None = None

    @property
    def keys(self) -> list[str]:
        """Return the addresses of all accounts; the first one paid the fee."""
        return [key.pubkey for key in self.transaction.message.account_keys]

    @property
    def signers(self) -> set[str]:
        """Return the accounts that signed."""
        return {key.pubkey for key in self.transaction.message.account_keys if key.signer}


@dataclass(frozen=True, slots=True)
class SolanaEvidence:
    """A transaction for a wallet, and the signature and the time by which the node listed it."""

    wallet: TrackedWallet
    signature: str
    created_at: datetime
    transaction: Transaction


@dataclass(frozen=True, slots=True)
class Step:
    """An instruction in the order of execution; `kind` and `info` are empty if the node did not parse it.

    `number` is its place, and `caller` that of the instruction that invoked it, OUTSIDE if none did.
    """

    program: str
    accounts: list[str]
    kind: str
    info: dict[str, Any]
    number: int
    caller: int

    @property
    def is_system(self) -> bool:
        """Return whether it is one of the system program."""
        return self.program == _SYSTEM

    @property
    def names(self) -> set[str]:
        """Return the accounts that it names."""
        return {*self.accounts, *(value for value in self.info.values() if isinstance(value, str))}

    def text(self, *names: str) -> str:
        """Return an address of the parsed instruction, by the first of these names; "" if it has none."""
        found = (self.info.get(name) for name in names)
        return next((value for value in found if isinstance(value, str)), "")

    def units(self) -> int:
        """Return the amount in smallest units, with a transfer fee that the token withheld.

        Raise UnusableRow.
        """
        amount = self.info.get("tokenAmount")
        value = amount.get("amount") if isinstance(amount, dict) else self.info.get("amount")
        return read_amount(self.info.get("lamports") if self.is_system else value)


def steps(transaction: Transaction) -> Iterator[Step]:
    """Yield the instructions, each followed by those that it invoked. Raise UnusableRow."""
    inner: dict[int, list[_Instruction]] = {}
    for group in transaction.meta.inner_instructions or ():
        inner.setdefault(group.index, []).extend(group.instructions)
    number = 0
    for index, outer in enumerate(transaction.transaction.message.instructions):
        # The instructions that are running, the outer one first. Old nodes do not report the depth of inner
        # ones, which then all count as invoked by the outer one.
        running = [number]
        yield _step(outer, number, OUTSIDE)
        for instruction in inner.get(index, ()):
            number += 1
            depth = instruction.stack_height or 2
            del running[max(1, depth - 1) :]
            yield _step(instruction, number, running[-1])
            running.append(number)
        number += 1


def _step(instruction: _Instruction, number: int, caller: int) -> Step:
    parsed = instruction.parsed
    kind, info = (parsed.get("type"), parsed.get("info")) if isinstance(parsed, dict) else ("", {})
    if not isinstance(kind, str) or not isinstance(info, dict):
        raise UnusableRow("an instruction that is not of the documented form")
    return Step(instruction.program_id, instruction.accounts, kind, info, number, caller)
