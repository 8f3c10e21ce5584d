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
            "description": "Only trades of this time or later; figures are of all.",
        }
    )
    until = Moment(metadata={"description": "Only trades before this time; figures are of all."})
    overview = Switch(metadata={"description": "false leaves token_overview out; true by default."})

    @validates_schema
    def _range_is_not_empty(self, data: dict[str, Any], **kwargs: Any) -> None:
        if "since" in data and "until" in data and data["since"] >= data["until"]:
            raise ValidationError("must be before until", "since")


class UntypedHistoryArguments(HistoryArguments):
    """The same where HISTORY_TYPE is detected: without `type`, it is the wallet's own."""

    type = Choice(WALLET_TYPES, metadata={"description": "The category of the wallet; its own by default."})


class LifetimeStatsSchema(Shape):
    """A wallet's figures over its lifetime; amounts in native currency."""

    currency = fields.String(required=True, metadata={"description": "Native currency of the chain."})
    buy = Amount(required=True, metadata={"description": "Value of all buys."})
    sell = Amount(required=True, metadata={"description": "Value of all sells."})
    realized_pnl = Amount(
        required=True, metadata={"description": "What the sells realized, by weighted-average cost."}
    )
    realized_pnl_percentage = Amount(
        required=True,
        metadata={"description": "The profit in percent of the cost of what was sold; 0 without a cost."},
    )
    buy_txn = fields.Integer(required=True, metadata={"description": "Number of buys."})
    sell_txn = fields.Integer(required=True, metadata={"description": "Number of sells."})
    total_tx_count = fields.Integer(required=True, metadata={"description": "Number of trades."})
    win_rate = Amount(
        required=True,
        metadata={"description": "Percentage of closed positions with a profit; 0 without one."},
    )
    win_count = fields.Integer(required=True, metadata={"description": "Closed positions with a profit."})
    total_sold = fields.Integer(required=True, metadata={"description": "Closed positions."})
    active_tokens_count = fields.Integer(required=True, metadata={"description": "Tokens with any trade."})
    largest_buy = Amount(required=True, metadata={"description": "Value of the largest buy; 0 if none."})
    best_trade_pnl = Amount(required=True, metadata={"description": "Largest profit of one sell; 0 if none."})
    worst_trade_pnl = Amount(
        required=True, metadata={"description": "Smallest profit of one sell; 0 if none."}
    )
    still_holding_count = fields.Integer(
        required=True, metadata={"description": "Tokens of which at least 1 % of the most ever held is left."}
    )
    unrealized_pnl = Amount(
        metadata={
            "description": "What the tokens held that have a price are worth, less their cost; absent if none"
            " has a price."
        }
    )
    unrealized_pnl_usd = Amount(
        metadata={"description": "The same × the latest native price; absent without one."}
    )
    priced_tokens_count = fields.Integer(
        required=True, metadata={"description": "Tokens held that have a price."}
    )


class DistributionSchema(Shape):
    """Closed positions by their realized profit in percent of their cost."""

    above_500 = fields.Integer(required=True, metadata={"description": "Closed positions above 500 %."})
    above_100_to_500 = fields.Integer(required=True, metadata={"description": "Above 100 % up to 500 %."})
    above_zero_to_100 = fields.Integer(required=True, metadata={"description": "Above 0 % up to 100 %."})
    below_zero = fields.Integer(
        required=True, metadata={"description": "Closed positions with no profit or a loss."}
    )


class TokenOverviewSchema(Shape):
    """A wallet's record in one token; amounts in native currency."""

    mint = fields.String(required=True, metadata={"description": "The token's address."})
    token_name = fields.String(required=True, metadata={"description": "Its name; may be empty."})
    invested = Amount(required=True, metadata={"description": "Value of the buys."})
    sold = Amount(required=True, metadata={"description": "Value of the sells."})
    realized_pnl = Amount(
        required=True, metadata={"description": "What the sells realized, by weighted-average cost."}
    )
    realized_pnl_percentage = Amount(
        required=True,
        metadata={"description": "The profit in percent of the cost of what was sold; 0 without a cost."},
    )
    currency = fields.String(required=True, metadata={"description": "Native currency of the chain."})
    buy_txn = fields.Integer(required=True, metadata={"description": "Number of buys."})
    sell_txn = fields.Integer(required=True, metadata={"description": "Number of sells."})
    first_seen = Moment(required=True, metadata={"description": "Time of the first trade."})
    last_seen = Moment(required=True, metadata={"description": "Time of the latest trade."})
    still_holding = fields.Boolean(
        required=True, metadata={"description": "Whether at least 1 % of the most ever held is left."}
    )
    unrealized_pnl = Amount(
        metadata={
            "description": "What is held is worth at the token's price, less its cost; 0 if nothing is held,"
            " absent without a price."
        }
    )


class TradeSchema(Shape):
    """One trade; its value in native currency."""

    tx_signature = fields.String(required=True, metadata={"description": "Signature of the transaction."})
    mint = fields.String(required=True, metadata={"description": "The token's address."})
    token_name = fields.String(required=True, metadata={"description": "Its name; may be empty."})
    transaction_type = fields.String(
        required=True, metadata={"description": "Direction of the trade.", "enum": ["buy", "sell"]}
    )
    value = Amount(required=True, metadata={"description": "Value of the trade."})
    value_usd = Amount(metadata={"description": "Stored USD value; absent without one."})
    currency = fields.String(required=True, metadata={"description": "Native currency of the chain."})
    token_amount = Amount(required=True, metadata={"description": "Quantity traded, in whole tokens."})
    created_at = Moment(required=True, metadata={"description": "Time of the trade."})
    event_index = fields.Integer(
        required=True, metadata={"description": "Place of the trade within its transaction."}
    )


class HistorySchema(Shape):
    """The data of GET /v1/wallets/history. Trades are newest first; tokens by their latest trade."""

    profile = Rows(
        HistoryProfileSchema, required=True, metadata={"description": "The wallet's public profile."}
    )
    lifetime_stats = Rows(
        LifetimeStatsSchema, required=True, metadata={"description": "Its figures over all of its trades."}
    )
    win_rate_distribution = Rows(
        DistributionSchema, required=True, metadata={"description": "Its closed positions by their profit."}
    )
    token_overview = Rows(
        TokenOverviewSchema, many=True, metadata={"description": "Absent with overview=false."}
    )
    trades = Rows(
        TradeSchema,
        many=True,
        required=True,
        metadata={"description": "The trades of this page, newest first."},
    )
    pagination = fields.Nested(
        PaginationSchema, required=True, metadata={"description": "The place of this page."}
    )
    warnings = fields.List(fields.String(), metadata={"description": "What was capped; absent if nothing."})
