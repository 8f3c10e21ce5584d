"""The parts of an EVM node's blocks, receipts and logs that are read.

https://ethereum.github.io/execution-apis/; of Base, also https://docs.base.org/base-chain/network-information.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import msgspec

from wallet_api.chain.decoding.amounts import is_quantity, quantity, time_of

TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
"""Transfer(address,address,uint256): with three topics of a token, with four of an NFT."""
ERC20_TRANSFER = "0xe59fdd36d0d223c0c7d996db7ad796880f45e1936cb0bb7ac102e7082e031487"
"""ERC20Transfer(address,address,uint256) of ERC-404, whose transfers are logged as those of NFTs."""
APPROVAL = "0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925"
"""Approval(address,address,uint256)."""
DEPOSIT = "0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c"
"""Deposit(address,uint256) of the wrapped coin."""
WITHDRAWAL = "0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65"
"""Withdrawal(address,uint256) of the wrapped coin."""
ZERO = "0x0000000000000000000000000000000000000000"

# A deposit from the layer below, which pays no gas.
_DEPOSITED = "0x7e"
_FEE_SCALE = 10**6
_FAILED = "0x0"


def address_of(topic: str) -> str:
    """Return the address in a topic of 32 bytes."""
    return f"0x{topic[-40:].lower()}"


def topic_of(address: str) -> str:
    """Return an address as a topic of 32 bytes."""
    return f"0x{address[2:].lower():0>64}"


class Log(msgspec.Struct, rename="camel"):
    """An event of a contract, and where it is."""

    address: str
    topics: list[str]
    data: str
    block_number: str
    block_hash: str
    transaction_hash: str
    log_index: str | None = None
    removed: bool = False

    @property
    def is_approval(self) -> bool:
        """Return whether an owner allows another one to spend a token."""
        return len(self.topics) == 3 and self.topics[0] == APPROVAL

    @property
    def is_issued_nft(self) -> bool:
        """Return whether it is the transfer of a new NFT."""
        return len(self.topics) == 4 and self.topics[0] == TRANSFER and address_of(self.topics[1]) == ZERO


class Receipt(msgspec.Struct, rename="camel"):
    """What a transaction did, and what it cost. One that was reverted has no logs."""

    transaction_hash: str
    block_number: str
    block_hash: str
    sender: str = msgspec.field(name="from")
    gas_used: str
    logs: list[Log]
    to: str | None = None
    effective_gas_price: str | None = None
    type: str | None = None
    status: str | None = None
    transaction_index: str | None = None
    blob_gas_used: str | None = None
    blob_gas_price: str | None = None
    l1_fee: str | None = None
    operator_fee_scalar: str | None = None
    operator_fee_constant: str | None = None

    @property
    def fee(self) -> int:
        """Return what the sender paid, in the smallest unit of the coin."""
        if self.type == _DEPOSITED:
            return 0
        gas = quantity(self.gas_used)
        fee = gas * quantity(self.effective_gas_price)
        fee += quantity(self.blob_gas_used) * quantity(self.blob_gas_price)
        # https://docs.base.org/base-chain/specs/upgrades/isthmus/l1-attributes
        operator = gas * quantity(self.operator_fee_scalar) // _FEE_SCALE
        return fee + quantity(self.l1_fee) + operator + quantity(self.operator_fee_constant)

    def costs_its_fee_alone(self, value: int) -> bool:
        """Return whether a transaction that sent so much coin cost nothing but its fee.

        It has failed, or its only logs are what a token that it called says the sender approved.
        """
        if self.status == _FAILED:
            return True
        own = (self.to or "").lower(), topic_of(self.sender)
        are_own = (
            (log.address.lower(), log.topics[1].lower()) == own for log in self.logs if log.is_approval
        )
        return value == 0 and len(self.logs) == sum(are_own) > 0


class _Withdrawal(msgspec.Struct):
    address: str


class BlockTransaction(msgspec.Struct):
    """A transaction in a block."""

    hash: str
    sender: str = msgspec.field(name="from")
    value: str
    to: str | None = None

    def is_of(self, address: str) -> bool:
        """Return whether an account has sent it, or was called by it."""
        return address in (self.sender.lower(), (self.to or ZERO).lower())


class ChainBlock(msgspec.Struct, rename="camel"):
    """A block with its transactions, or (as texts) their hashes.

    `milliseconds` is the time in milliseconds, of a header that block_of() describes.
    """

    number: str
    hash: str
    timestamp: str
    miner: str = ZERO
    transactions: list[BlockTransaction | str] = []
    withdrawals: list[_Withdrawal] | None = None
    milliseconds: Any = None

    @property
    def place(self) -> int:
        """Return its number. Raise UnusableRow."""
        return quantity(self.number)

    @property
    def listed(self) -> list[BlockTransaction]:
        """Return the transactions; none if the block has only their hashes."""
        return [one for one in self.transactions if isinstance(one, BlockTransaction)]

    def transaction(self, signature: str) -> BlockTransaction | None:
        """Return the transaction with this hash; None if it is not listed."""
        return next((one for one in self.listed if one.hash == signature), None)

    def names(self, address: str, *, but: Collection[str]) -> bool:
        """Return whether something else than some transactions may have changed the coin of an account."""
        if address == self.miner.lower():
            return True
        if any(address == withdrawal.address.lower() for withdrawal in self.withdrawals or ()):
            return True
        return any(one.is_of(address) for one in self.listed if one.hash not in but)

    @property
    def created_at(self) -> datetime:
        """Return the time of the block. Raise UnusableRow.

        It has the milliseconds that the header states, if their second is that of its timestamp.
        """
        seconds = quantity(self.timestamp)
        stated = self.milliseconds if is_quantity(self.milliseconds) else self.timestamp
        of_second, part = divmod(quantity(stated), 1000)
        return time_of(seconds) + timedelta(milliseconds=part if of_second == seconds else 0)


@cache
def block_of(milliseconds: str | None) -> type[ChainBlock]:
    """Return the form of a block whose header has the time in milliseconds in this field; None: in none."""
    if milliseconds is None:
        return ChainBlock
    named = ("milliseconds", Any, msgspec.field(default=None, name=milliseconds))
    form = msgspec.defstruct("ChainBlock", [named], bases=(ChainBlock,), rename="camel")
    assert issubclass(form, ChainBlock)
    return form
