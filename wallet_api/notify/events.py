"""What happens in the ledger, as the feed has it, and what a rule reports of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, localcontext
from enum import StrEnum
from typing import Any, NamedTuple

from wallet_api.notify.rules import Rule

# More than any amount has.
_DIGITS = 100


class MessageType(StrEnum):
    """What a message is about: an event of the feed, or what rules and targets make of these."""

    TRADE = "trade"
    CORRECTION = "correction"
    REMOVAL = "removal"
    WALLET_REMOVAL = "wallet_removal"
    PURGE = "purge"
    CLUSTER = "cluster"
    CLUSTER_BROKEN = "cluster_broken"
    DIGEST = "digest"
    HELD_BACK = "held_back"
    TEST = "test"


OF_MANY = frozenset((MessageType.WALLET_REMOVAL, MessageType.PURGE))
# What is there after a message of these.
REPORTED = frozenset((MessageType.TRADE, MessageType.CORRECTION, MessageType.CLUSTER))


class TokenId(NamedTuple):
    """A token by its chain and address."""

    blockchain: str
    mint: str


class TradeId(NamedTuple):
    """What identifies a trade."""

    blockchain: str
    wallet_address: str
    mint: str
    tx_signature: str
    is_sell: bool
    event_index: int


@dataclass(frozen=True)
class Change:
    """A change of the feed: its kind, its columns, and when it arrived."""

    kind: MessageType
    columns: Mapping[str, Any]
    arrived_at: datetime


@dataclass(frozen=True)
class TradeChange(Change):
    """A trade, its correction or its removal."""

    key: TradeId
    traded_at: datetime

    @property
    def token(self) -> TokenId:
        """Return the token."""
        return TokenId(self.key.blockchain, self.key.mint)

    def amount(self, name: str) -> Decimal | None:
        """Return an amount of the trade; None if it is unknown."""
        text = self.columns.get(name)
        return None if text is None else Decimal(text)

    @property
    def market_cap(self) -> Decimal | None:
        """Return the price of the trade × the token's supply, in the native coin; None without these."""
        price, supply = self.amount("price_per_token"), self.amount("token_supply")
        if price is None or supply is None:
            return None
        with localcontext() as context:
            context.prec = _DIGITS
            return price * supply


@dataclass(frozen=True)
class RuleReport:
    """What a rule reports of a change: of a trade, of many, or of a cluster with these wallets.

    The id follows from what is reported.
    """

    rule: Rule
    kind: MessageType
    id: str
    change: Change
    wallets: Sequence[str] = ()
    ended_at: datetime | None = None


def change_of(columns: Mapping[str, Any]) -> Change:
    """Return the change of a row of the feed."""
    kind, arrived_at = MessageType(columns["event"]), datetime.fromisoformat(columns["arrived_at"])
    if kind in OF_MANY:
        return Change(kind, columns, arrived_at)
    key = TradeId(
        *(columns["profile_blockchain"], columns["profile_wallet_address"], columns["mint"]),
        *(columns["tx_signature"], columns["transaction_type"] == "sell", columns["event_index"]),
    )
    return TradeChange(kind, columns, arrived_at, key, datetime.fromisoformat(columns["created_at"]))
