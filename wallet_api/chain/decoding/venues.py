"""What a venue is: a program, contract or event whose address or topic decides what a transaction is.

The venues of a chain are the rows of a table, evm/venues.py or solana/venues.py.
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
    RUNS = "runs what was signed"
    """It has run what the wallet of its event has signed; the next one begins after its event."""
    SETTLEMENT = "settlement"
    """It exchanges the amounts of its event for the owner of an order."""
    ORDERS = "orders in native coin"
    """It places orders at the settlement for those that pay it, and returns whom an order is of."""
    STATES = "states an order"
    """It has exchanged the amounts of its event for each of the parties that the event names."""
    FILLS = "fills an order"
    """It has filled an order of the wallet that its event names, without the tokens and amounts."""
    HASH = "hash of an order"
    """It has filled an order with the hash of its event: who has placed it for what is in the input."""
    ACCOUNT_START = "start of an account"
    """The wallet, a contract, begins to run what its owners or modules have ordered."""
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
    LIQUIDITY = "liquidity"
    """It got the amounts of its event for shares of it."""
    VAULTS = "pool with a vault for each token"
    """The same, of two tokens, each of which is with an owner of its own."""
    PAYS = "pays"
    """A router whose input names whom it pays, and what it keeps or returns of native coin."""
    KEEPS = "keeps"
    """It has kept the native coin of its event, as the fee for what the wallet of its event exchanged."""
    ROUTER = "router"
    """Its event has the amounts that its caller exchanged."""
    PAID_OUT = "paid out"
    """It has exchanged the amounts of its event for its caller, and paid the receiver of the event."""


class Venue(NamedTuple):
    """A contract, a program or an account, or an event: of one contract, or (without an address) of any.

    `places` are those of the wallet, or of what the pool got and gave, among the values of the log: its
    topics after the first one, then its words. Of what states an order they are five for each party: who it
    is, the token that it gave and the one that it got, and the amounts of both; of what was paid out the
    same, and the receiver; of what is kept the amount, and the wallet. Of a program they are those
    of the escrow and of the wallet among the accounts of its instruction. `holder` has the tokens where that
    is not the emitter. `recorded` is the beginning of the recorded transaction in tests/data that shows it,
    or MADE where none could be found.
    """

    role: Role
    name: str
    recorded: str
    address: str
    topic: str = ""
    places: tuple[int, ...] = ()
    holder: str = ""
