"""The rules of webhooks: which trades are reported to which targets."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from marshmallow import Schema, ValidationError, fields, validates_schema
from marshmallow.validate import OneOf, Range

from wallet_api.api.schemas.figures import DIRECTIONS
from wallet_api.base.chains import CHAINS, WALLET_TYPES, stored_form
from wallet_api.base.times import EPOCH, read_span

LIST = "@"
_MOST_EVERY = timedelta(days=7)


@dataclass(frozen=True)
class Cluster:
    """So many wallets within so many hours, by so many different transactions of their first trades."""

    wallets: int
    hours: int
    transactions: int | None = None

    @property
    def length(self) -> timedelta:
        """Return the hours."""
        return timedelta(hours=self.hours)


@dataclass(frozen=True)
class Rule:
    """Which trades are reported to which targets; None of a condition is any.

    `exit` is a sell after which nothing is held, `first_buy` the first buy of a wallet in a token. The market
    cap is in the native coin. With `every`, what is reported in this time is one message.
    """

    name: str
    targets: tuple[str, ...]
    chain: str | None = None
    type: str | None = None
    address: frozenset[str] | None = None
    mint: frozenset[str] | None = None
    transaction_type: str | None = None
    min_value: Decimal | None = None
    min_value_usd: Decimal | None = None
    min_market_cap: Decimal | None = None
    max_market_cap: Decimal | None = None
    exit: bool = False
    first_buy: bool = False
    cluster: Cluster | None = None
    every: timedelta | None = None

    def may_be_of(self, chain: str, mint: str) -> bool:
        """Return whether the rule is about a token."""
        return self.chain in (None, chain) and (self.mint is None or mint in self.mint)

    def due_at(self, at: datetime) -> datetime | None:
        """Return when a digest with what arrived at a time is due; None if it is sent at once."""
        if self.every is None:
            return None
        return at - (at - EPOCH) % self.every + self.every


class _Texts(fields.Field[Any]):
    """One text or a list of texts."""

    def _deserialize(self, value: Any, *arguments: Any, **options: Any) -> Any:
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
            raise ValidationError("must be a text, or a list of texts")
        return texts


class _Every(fields.Field[Any]):
    """A time such as 1h."""

    def _deserialize(self, value: Any, *arguments: Any, **options: Any) -> Any:
        every = read_span(value) if isinstance(value, str) else None
        if not every or every > _MOST_EVERY:
            raise ValidationError("must be such as 30m, 1h or 1d, and at most 7d")
        return every


class _ClusterSchema(Schema):
    wallets = fields.Integer(strict=True, required=True, validate=Range(min=2, max=1000))
    hours = fields.Integer(strict=True, required=True, validate=Range(min=1, max=168))
    transactions = fields.Integer(strict=True, validate=Range(min=1, max=1000))

    @validates_schema
    def _are_possible(self, data: dict[str, Any], **options: Any) -> None:
        if data.get("transactions", 0) > data["wallets"]:
            raise ValidationError("cannot be more than wallets", "transactions")


class RuleSchema(Schema):
    """A rule of the file."""

    targets = _Texts(required=True)
    chain = fields.String(validate=OneOf(tuple(CHAINS)))
    type = fields.String(validate=OneOf(WALLET_TYPES))
    address = _Texts()
    mint = _Texts()
    transaction_type = fields.String(validate=OneOf(DIRECTIONS))
    min_value = fields.Decimal(validate=Range(min=0))
    min_value_usd = fields.Decimal(validate=Range(min=0))
    min_market_cap = fields.Decimal(validate=Range(min=0))
    max_market_cap = fields.Decimal(validate=Range(min=0))
    exit = fields.Boolean(truthy={True}, falsy={False})
    first_buy = fields.Boolean(truthy={True}, falsy={False})
    cluster = fields.Nested(_ClusterSchema)
    every = _Every()

    @validates_schema
    def _matches_something(self, data: dict[str, Any], **options: Any) -> None:
        sides = {data.get("transaction_type")} - {None}
        sides |= {side for name, side in (("exit", "sell"), ("first_buy", "buy")) if data.get(name)}
        if len(sides) > 1:
            raise ValidationError(
                "no trade has all of transaction_type, exit and first_buy", "transaction_type"
            )
        if data.get("min_market_cap", 0) > data.get("max_market_cap", Decimal("Infinity")):
            raise ValidationError("cannot be less than min_market_cap", "max_market_cap")


def rule_of(name: str, loaded: dict[str, Any], lists: Mapping[str, Iterable[str]]) -> Rule:
    """Return the rule of a name, of what the schema has loaded; `address` may name lists of addresses."""
    targets = tuple(dict.fromkeys(loaded.pop("targets")))
    cluster = loaded.pop("cluster", None)
    for condition in ("address", "mint"):
        if condition in loaded:
            texts = [
                text
                for one in loaded[condition]
                for text in (lists[one[1:]] if one[:1] == LIST and condition == "address" else [one])
            ]
            loaded[condition] = frozenset(stored_form(text, CHAINS.values()) for text in texts)
    return Rule(name, targets, cluster=cluster and Cluster(**cluster), **loaded)
