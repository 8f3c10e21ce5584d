"""The shapes of the leaderboard."""

from marshmallow import fields

from wallet_api.schemas.fields import Amount, Choice, Rows, Shape, WholeNumber
from wallet_api.schemas.wallets import PagedArguments, PaginationSchema

PERIODS = ("6h", "1d", "7d", "30d")
SORTS = ("total_volume", "realized_pnl", "realized_pnl_usd", "win_rate", "total_txn")


class LeaderboardArguments(PagedArguments):
    """The arguments of GET /v1/wallet/leaderboard."""

    period = Choice(PERIODS, required=True, metadata={"description": "The period of the figures."})
    sort = Choice(
        SORTS,
        metadata={
            "description": "The figure to sort by, the largest first; total_volume by default. Wallets "
            "without realized_pnl_usd come last, and win_rate is win_rate_percentage."
        },
    )
    min_txn = WholeNumber(
        1, metadata={"description": "Leave out wallets with fewer trades in the period; they have no rank."}
    )


class EntryProfileSchema(Shape):
    """Who the ranked wallet is."""

    name = fields.String(required=True, metadata={"description": "Display name; may be empty."})
    image_url = fields.String(required=True, metadata={"description": "URL of the avatar; may be empty."})
    twitter = fields.String(required=True, metadata={"description": "URL of the profile on X; may be empty."})
    currency = fields.String(required=True, metadata={"description": "Native currency of the chain."})


class PeriodStatsSchema(Shape):
    """A wallet's figures over the period. What cannot be known is absent."""

    realized_pnl = Amount(
        required=True,
        metadata={
            "description": "What the period's sells realized, by weighted-average cost, in native currency."
        },
    )
    realized_pnl_usd = Amount(
        metadata={"description": "The same in USD; absent if it is unknown for one of the sells."}
    )
    buy_txn = fields.Integer(required=True, metadata={"description": "Number of buys."})
    sell_txn = fields.Integer(required=True, metadata={"description": "Number of sells."})
    total_txn = fields.Integer(required=True, metadata={"description": "Number of trades."})
    total_volume = Amount(
        required=True, metadata={"description": "Value of buys and sells, in native currency."}
    )
    total_volume_usd = Amount(
        metadata={"description": "The same in USD; absent if no trade has a USD value."}
    )
    avg_hold_time_minutes = Amount(
        metadata={"description": "Mean time from buy to sell, weighted by cost; absent if nothing was sold."}
    )


class PeriodDistributionSchema(Shape):
    """The tokens with a covered sell in the period, by the profit that the period's sells realized."""

    win_rate_percentage = Amount(
        required=True, metadata={"description": "Percentage of tokens with a profit."}
    )
    above_500 = fields.Integer(required=True, metadata={"description": "Tokens above 500 %."})
    above_100_to_500 = fields.Integer(required=True, metadata={"description": "Above 100 % up to 500 %."})
    above_zero_to_100 = fields.Integer(required=True, metadata={"description": "Above 0 % up to 100 %."})
    below_zero = fields.Integer(required=True, metadata={"description": "Tokens with no profit or a loss."})
    closed_count = fields.Integer(required=True, metadata={"description": "All of these tokens."})
    win_count = fields.Integer(required=True, metadata={"description": "Those with a profit."})


class EntrySchema(Shape):
    """One ranked wallet."""

    wallet = fields.String(required=True, metadata={"description": "The address of the wallet."})
    rank = fields.Integer(required=True, metadata={"description": "Its place by `sort`; 1 is the first."})
    profile = fields.Nested(EntryProfileSchema, required=True, metadata={"description": "Who it is."})
    period_stats = fields.Nested(
        PeriodStatsSchema, required=True, metadata={"description": "Its figures over the period."}
    )
    period_win_rate_distribution = fields.Nested(
        PeriodDistributionSchema,
        required=True,
        metadata={"description": "Its tokens by their profit in the period."},
    )


class LeaderboardSchema(Shape):
    """The data of GET /v1/wallet/leaderboard, by the figure of `sort` descending, then by address."""

    blockchain = fields.String(required=True, metadata={"description": "Requested chain."})
    type = fields.String(required=True, metadata={"description": "Requested wallet category."})
    period = fields.String(required=True, metadata={"description": "Requested period."})
    currency = fields.String(required=True, metadata={"description": "Native currency of the chain."})
    sort = fields.String(metadata={"enum": list(SORTS), "description": "As requested; absent if not."})
    min_txn = fields.Integer(metadata={"description": "As requested; absent if not."})
    leaderboard = Rows(
        EntrySchema,
        many=True,
        required=True,
        metadata={"description": "The ranked wallets; those without a trade in the period are left out."},
    )
    pagination = fields.Nested(
        PaginationSchema, metadata={"description": "The place of this page; absent without `limit`."}
    )
