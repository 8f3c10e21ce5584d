"""What happens in the ledger, as the feed has it, and what a rule reports of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, localcontext
from enum import StrEnum
from typing import Any, NamedTuple, Self

from wallet_api.notify.rules import Rule

# More than any amount has.
_DIGITS = 100


class MessageType(StrEnum):
    """What a message is about: an event of the feed, or what rules and targets make of these.

    Each has its text for chats, and its meaning for docs/webhooks.md.
    """

    text: str
    meaning: str

    TRADE = (
        "trade",
        "${wallet} ${transaction_type} ${token} for ${value} ${currency} ${link}",
        "a trade that the rule is about, also one that became so by a correction",
    )
    CORRECTION = (
        "correction",
        "Corrected: ${wallet} ${transaction_type} ${token} for ${value} ${currency} ${link}",
        "another version of a trade that was reported, also if the rule is no longer about it",
    )
    REMOVAL = (
        "removal",
        "Removed: ${wallet} ${transaction_type} ${token} ${link}",
        "a trade that was reported was removed",
    )
    WALLET_REMOVAL = (
        "wallet_removal",
        "Removed: all trades of ${wallet} ${link}",
        "a wallet of which any trade was reported. To a rule with a `type`, also that it has another one now",
    )
    PURGE = (
        "purge",
        "Removed: many trades ${token}",
        "trades by time or token, of which any was reported",
    )
    CLUSTER = (
        "cluster",
        "${wallet_count} wallets ${transaction_type} ${token}: ${wallets} ${link}",
        "a cluster: `cluster` has its `blockchain`, `mint` and time (`at`), `wallets` the addresses",
    )
    CLUSTER_BROKEN = (
        "cluster_broken",
        "No cluster any more: ${token} ${link}",
        "a cluster that was reported is none any more",
    )
    DIGEST = (
        "digest",
        "${count} by the rule ${rule}:",
        "what a rule with `every` collected: `count`, `first_at`, `last_at`, the first 100 `messages`, and"
        " how many others are `left_out`",
    )
    HELD_BACK = (
        "held_back",
        "${count} messages were held back.",
        "so many messages are beyond `per_minute`",
    )
    TEST = ("test", "A test of the rule ${rule}.", "of `wallet-api notify test RULE`")

    def __new__(cls, name: str, text: str = "", meaning: str = "") -> Self:
        """Return a member that equals its name. Raises ValueError without a text or a meaning."""
        if not (text and meaning):
            raise ValueError(f"the type of message {name!r} has no text or no meaning")
        member = str.__new__(cls, name)
        member._value_, member.text, member.meaning = name, text, meaning
        return member


# Of these messages a template of the target makes the text; all others have none of its words.
OF_TRADES = frozenset(
    (
        MessageType.TRADE,
        MessageType.CORRECTION,
        MessageType.REMOVAL,
        MessageType.CLUSTER,
        MessageType.CLUSTER_BROKEN,
    )
)
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
    """A change of the feed: its kind, its columns, when it arrived, and its row as JSON by `amounts`."""

    kind: MessageType
    columns: Mapping[str, Any]
    arrived_at: datetime
    rows: Mapping[str, str]


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


def change_of(columns: Mapping[str, Any], rows: Mapping[str, str]) -> Change:
    """Return the change of a row of the feed, which is also written as JSON."""
    kind, arrived_at = MessageType(columns["event"]), datetime.fromisoformat(columns["arrived_at"])
    if kind in OF_MANY:
        return Change(kind, columns, arrived_at, rows)
    key = TradeId(
        *(columns["profile_blockchain"], columns["profile_wallet_address"], columns["mint"]),
        *(columns["tx_signature"], columns["transaction_type"] == "sell", columns["event_index"]),
    )
    return TradeChange(kind, columns, arrived_at, rows, key, datetime.fromisoformat(columns["created_at"]))
