"""What a venue is: a program, contract or event whose address or topic decides what a transaction is.

The venues of a chain are the rows of a table, evm_venues.py or solana_venues.py.
"""

from enum import StrEnum
from typing import NamedTuple

MADE = "made"


class Role(StrEnum):
    """What a row decides."""

    ENTRY_POINT = "entry point"
    """It runs operations of accounts, each of which ends with its event."""
    START = "start of operations"
    """Before it, an entry point has run no operation."""
    SETTLEMENT = "settlement"
    """It exchanges the amounts of its event for the owner of an order."""
    ORDERS = "orders in native coin"
    """It places orders at the settlement for those that pay it, and returns whom an order is of."""
    NAMES = "names the wallet"
    """It has acted for the wallet that its event names."""
    ACCOUNT = "account"
    """The wallet, a contract, has run what its owners or modules have ordered."""
    LENDING = "lending"
    """What is paid to it and comes from it is lent, not exchanged."""
    ESCROW = "orders with an escrow"
    """Its escrow pays for an order that the wallet has placed before, and the wallet signs nothing."""
    AGGREGATOR = "aggregator"
    """It exchanges what its caller named, over venues some of which mint or burn what they exchange."""
    TIPS = "tips"
    """It is paid for the place of a transaction in its block, by transfers of any size."""
    POOL = "pool"
    """It exchanged the amounts of its event, of which one may be native coin."""
    MANAGER = "manager of pools"
    """The same, with the changes of the caller's two amounts."""
    SWAP = "pool of two tokens"
    """It exchanged two tokens, which its transfers show."""
    VAULTS = "pool with a vault for each token"
    """The same, of two tokens, each of which is with an owner of its own."""
    ROUTER = "router"
    """Its event has the amounts that its caller exchanged."""


class Venue(NamedTuple):
    """A contract, a program or an account, or an event: of one contract, or (without an address) of any.

    `places` are those of the wallet, or of what the pool got and gave, among the values of the log: its
    topics after the first one, then its words. Of a program they are those of the escrow and of the wallet
    among the accounts of its instruction. `holder` has the tokens where that is not the emitter. `recorded`
    is the beginning of the recorded transaction in tests/data that shows it, or MADE where none could be
    found.
    """

    role: Role
    name: str
    address: str
    topic: str
    places: tuple[int, ...]
    recorded: str
    holder: str = ""
