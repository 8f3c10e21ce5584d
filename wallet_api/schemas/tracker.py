"""The shapes of a wallet's record in a period."""

from marshmallow import fields

from wallet_api.schemas.arguments import AddressMixin, ChainArguments
from wallet_api.schemas.fields import Amount, Choice, Moment, Rows, Shape
from wallet_api.schemas.leaderboard import PERIODS, PeriodDistributionSchema
from wallet_api.schemas.wallets import ProfileSchema

_USD = "The same in USD; absent if there are such trades, but none with a USD value."
_PROFIT_USD = "The same in USD; absent if it is unknown for one of the sells."


class TrackerArguments(AddressMixin, ChainArguments):
    """The arguments of GET /v1/wallets/tracker."""

    period = Choice(PERIODS, load_default="1d", metadata={"description": "The period of the figures."})


class TrackedProfileSchema(ProfileSchema):
    """The profile, and when the wallet trades."""

    active_hours = fields.String(
        required=True,
        metadata={
            "description": "The shortest run of whole hours with at least 80 % of the last 30 days' trades,"
            " such as `13:00-21:00 UTC`, its end exclusive; it may pass midnight. Empty without trades."
        },
    )


class TrackerStatsSchema(Shape):
    """A wallet's figures over the period; amounts in native currency. What cannot be known is absent."""

    period = fields.String(required=True, metadata={"enum": list(PERIODS), "description": "The period."})
    buy_txn = fields.Integer(required=True, metadata={"description": "Number of buys."})
    sell_txn = fields.Integer(required=True, metadata={"description": "Number of sells."})
    total_txn = fields.Integer(required=True, metadata={"description": "Number of trades."})
    total_buy = Amount(required=True, metadata={"description": "Value of the buys."})
    total_buy_usd = Amount(metadata={"description": _USD})
    total_sell = Amount(required=True, metadata={"description": "Value of the sells."})
    total_sell_usd = Amount(metadata={"description": _USD})
    volume = Amount(required=True, metadata={"description": "Value of buys and sells."})
    volume_usd = Amount(metadata={"description": _USD})
    realized_pnl = Amount(
        required=True, metadata={"description": "What the sells realized, by weighted-average cost."}
    )
    realized_pnl_usd = Amount(metadata={"description": _PROFIT_USD})
    realized_pnl_percentage = Amount(
        required=True, metadata={"description": "The profit in percent of the cost of what was sold."}
    )
    win_count = fields.Integer(
        required=True, metadata={"description": "Tokens whose sells realized a profit in the period."}
    )
    loss_count = fields.Integer(
        required=True,
        metadata={"description": "Tokens whose sells realized nothing or a loss in the period."},
    )
    win_rate = Amount(required=True, metadata={"description": "Percentage of wins among both."})
    best_trade_pnl = Amount(required=True, metadata={"description": "Largest profit of one sell; 0 if none."})
    worst_trade_pnl = Amount(
        required=True, metadata={"description": "Smallest profit of one sell; 0 if none."}
    )
    largest_buy = Amount(required=True, metadata={"description": "Value of the largest buy; 0 if none."})
    avg_hold_time_minutes = Amount(
        metadata={"description": "Mean time from buy to sell, weighted by cost; absent if nothing was sold."}
    )


class TokenRowSchema(Shape):
    """A wallet's trades of a token in the period, and what it holds of it now; values in native currency."""

    mint = fields.String(required=True, metadata={"description": "The token's address."})
    token_name = fields.String(required=True, metadata={"description": "Its name; may be empty."})
    buy_value = Amount(required=True, metadata={"description": "Value of the buys."})
    buy_value_usd = Amount(metadata={"description": _USD})
    sell_value = Amount(required=True, metadata={"description": "Value of the sells."})
    sell_value_usd = Amount(metadata={"description": _USD})
    buy_tokens = Amount(required=True, metadata={"description": "Tokens bought."})
    sell_tokens = Amount(required=True, metadata={"description": "Tokens sold."})
    buy_txn = fields.Integer(required=True, metadata={"description": "Number of buys."})
    sell_txn = fields.Integer(required=True, metadata={"description": "Number of sells."})
    realized_pnl = Amount(
        required=True, metadata={"description": "What the sells realized, by weighted-average cost."}
    )
    realized_pnl_usd = Amount(metadata={"description": _PROFIT_USD})
    realized_pnl_percentage = Amount(
        required=True, metadata={"description": "The profit in percent of the cost of what was sold."}
    )
    first_seen = Moment(required=True, metadata={"description": "First trade in the period."})
    last_seen = Moment(required=True, metadata={"description": "Latest trade in the period."})
    remaining_tokens = Amount(required=True, metadata={"description": "Tokens held now, of those bought."})
    bag_pct = Amount(
        required=True, metadata={"description": "The same in percent of the most that was ever held."}
    )
    still_holding = fields.Boolean(
        required=True, metadata={"description": "Whether at least 1 % of the most ever held is left."}
    )
    currency = fields.String(required=True, metadata={"description": "The native currency."})
    unrealized_pnl = Amount(
        required=True,
        allow_none=True,
        metadata={
            "description": "What is held is worth at the token's price, less its cost; 0 if nothing is held,"
            " null without a price."
        },
    )


class ActiveTokensSchema(Shape):
    """The tokens traded in the period that are still held."""

    active_tokens_count = fields.Integer(
        required=True, metadata={"description": "Tokens with a trade in the period, held or not."}
    )
    still_holding_count = fields.Integer(required=True, metadata={"description": "Those still held."})
    avg_position_size = Amount(
        required=True, metadata={"description": "Value of the buys per token bought; 0 if none was."}
    )
    tokens = Rows(
        TokenRowSchema,
        many=True,
        required=True,
        metadata={"description": "Those still held, at most 1000, by their latest trade, newest first."},
    )


class ChartPointSchema(Shape):
    """The profit realized from the start of the period until a moment."""

    timestamp = Moment(required=True, metadata={"description": "The moment."})
    realized_pnl = Amount(required=True, metadata={"description": "The sum until then."})
    realized_pnl_usd = Amount(
        metadata={"description": "The same in USD; absent from all points if the last is unknown."}
    )


class TrackedTradeSchema(Shape):
    """One trade; values in native currency."""

    tx_signature = fields.String(required=True, metadata={"description": "Signature of the transaction."})
    mint = fields.String(required=True, metadata={"description": "The token's address."})
    token_name = fields.String(required=True, metadata={"description": "Its name; may be empty."})
    transaction_type = fields.String(
        required=True, metadata={"enum": ["buy", "sell"], "description": "Direction."}
    )
    created_at = Moment(required=True, metadata={"description": "Time of the trade."})
    value = Amount(required=True, metadata={"description": "Value of the trade."})
    value_usd = Amount(metadata={"description": "The same in USD; absent if it is unknown."})
    token_amount = Amount(required=True, metadata={"description": "Tokens traded."})
    currency = fields.String(required=True, metadata={"description": "The native currency."})
    buy_value = Amount(metadata={"description": "`value` of a buy."})
    buy_value_usd = Amount(metadata={"description": "`value_usd` of a buy."})
    sell_value = Amount(metadata={"description": "`value` of a sell."})
    sell_value_usd = Amount(metadata={"description": "`value_usd` of a sell."})


class TrackerSchema(Shape):
    """The data of GET /v1/wallets/tracker. Figures of the leaderboard are those of the same period there."""

    wallet = fields.String(required=True, metadata={"description": "The address of the wallet."})
    profile = fields.Nested(
        TrackedProfileSchema, required=True, metadata={"description": "Its public profile."}
    )
    period_stats = Rows(
        TrackerStatsSchema, required=True, metadata={"description": "Its figures over the period."}
    )
    period_win_rate_distribution = Rows(
        PeriodDistributionSchema, required=True, metadata={"description": "Its tokens by their profit."}
    )
    period_active_tokens = fields.Nested(
        ActiveTokensSchema,
        required=True,
        metadata={"description": "Tokens of the period that are still held."},
    )
    period_history_tokens = Rows(
        TokenRowSchema,
        many=True,
        required=True,
        metadata={
            "description": "All tokens of the period, at most 1000, by their latest trade, newest first."
        },
    )
    period_realized_pnl_chart = Rows(
        ChartPointSchema,
        many=True,
        required=True,
        metadata={
            "description": "How the profit grew, oldest first, by buckets of 5 or 15 minutes, 2 or 6 hours"
            " for the four periods; buckets without a covered sell are left out. Empty without one."
        },
    )
    period_trades = Rows(
        TrackedTradeSchema,
        many=True,
        required=True,
        metadata={"description": "The trades of the period, at most 1000, newest first."},
    )
    warnings = fields.List(
        fields.String(), metadata={"description": "Which lists were cut; absent if none was."}
    )
