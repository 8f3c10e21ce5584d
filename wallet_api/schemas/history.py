"""The shapes of a wallet's history."""

from typing import Any

from marshmallow import ValidationError, fields, validates_schema

from wallet_api.chains import WALLET_TYPES
from wallet_api.schemas.arguments import AddressMixin
from wallet_api.schemas.fields import Amount, Choice, Moment, Rows, Shape, Switch, WholeNumber
from wallet_api.schemas.wallets import HistoryProfileSchema, PagedArguments, PaginationSchema


class HistoryArguments(AddressMixin, PagedArguments):
    """The arguments of GET /v1/wallets/history."""

    limit = WholeNumber(1, load_default=50, metadata={"description": "Trades a page, at most 1000."})
    since = Moment(
        metadata={
            "format": "date-time",
            "description": "Only trades of this time or later; figures are of all.",
        }
    )
    until = Moment(
        metadata={"format": "date-time", "description": "Only trades before this time; figures are of all."}
    )
    overview = Switch(metadata={"description": "false leaves token_overview out; true by default."})

    @validates_schema
    def _range_is_not_empty(self, data: dict[str, Any], **kwargs: Any) -> None:
        if "since" in data and "until" in data and data["since"] >= data["until"]:
            raise ValidationError("must be before until", "since")


class UntypedHistoryArguments(HistoryArguments):
    """The same where HISTORY_TYPE is detected: without `type`, it is the wallet's own."""

    type = Choice(WALLET_TYPES)


class LifetimeStatsSchema(Shape):
    """A wallet's figures over its lifetime; amounts in native currency."""

    currency = fields.String(required=True)
    buy = Amount(required=True)
    sell = Amount(required=True)
    realized_pnl = Amount(required=True)
    realized_pnl_percentage = Amount(required=True)
    buy_txn = fields.Integer(required=True)
    sell_txn = fields.Integer(required=True)
    total_tx_count = fields.Integer(required=True)
    win_rate = Amount(required=True)
    win_count = fields.Integer(required=True)
    total_sold = fields.Integer(required=True, metadata={"description": "Closed positions."})
    active_tokens_count = fields.Integer(required=True)
    largest_buy = Amount(required=True)
    best_trade_pnl = Amount(required=True)
    worst_trade_pnl = Amount(required=True)
    still_holding_count = fields.Integer(required=True)


class DistributionSchema(Shape):
    """Closed positions by their realized profit in percent of their cost."""

    above_500 = fields.Integer(required=True)
    above_100_to_500 = fields.Integer(required=True)
    above_zero_to_100 = fields.Integer(required=True)
    below_zero = fields.Integer(required=True)


class TokenOverviewSchema(Shape):
    """A wallet's record in one token; amounts in native currency."""

    mint = fields.String(required=True)
    token_name = fields.String(required=True)
    invested = Amount(required=True)
    sold = Amount(required=True)
    realized_pnl = Amount(required=True)
    realized_pnl_percentage = Amount(required=True)
    currency = fields.String(required=True)
    buy_txn = fields.Integer(required=True)
    sell_txn = fields.Integer(required=True)
    first_seen = fields.String(required=True)
    last_seen = fields.String(required=True)
    still_holding = fields.Boolean(required=True)


class TradeSchema(Shape):
    """One trade; its value in native currency."""

    tx_signature = fields.String(required=True)
    mint = fields.String(required=True)
    token_name = fields.String(required=True)
    transaction_type = fields.String(required=True, metadata={"enum": ["buy", "sell"]})
    value = Amount(required=True)
    value_usd = Amount(metadata={"description": "Stored USD value; absent without one."})
    currency = fields.String(required=True)
    token_amount = Amount(required=True, metadata={"description": "Quantity traded, in whole tokens."})
    created_at = fields.String(required=True)
    event_index = fields.Integer(
        required=True, metadata={"description": "Place of the trade within its transaction."}
    )


class HistorySchema(Shape):
    """The data of GET /v1/wallets/history. Trades are newest first; tokens by their latest trade."""

    profile = Rows(HistoryProfileSchema, required=True)
    lifetime_stats = Rows(LifetimeStatsSchema, required=True)
    win_rate_distribution = Rows(DistributionSchema, required=True)
    token_overview = Rows(
        TokenOverviewSchema, many=True, metadata={"description": "Absent with overview=false."}
    )
    trades = Rows(TradeSchema, many=True, required=True)
    pagination = fields.Nested(PaginationSchema, required=True)
    warnings = fields.List(fields.String())
