"""The schemas of a wallet's record in a period."""

from wallet_api.api.schemas.argument_fields import Choice, Switch
from wallet_api.api.schemas.arguments import WalletArguments
from wallet_api.api.schemas.feed import DIRECTIONS
from wallet_api.api.schemas.fields import (
    AVG_COST,
    BAG_PCT,
    FEES,
    FEES_UNKNOWN,
    HOLD_TIME,
    OPEN_COST,
    OPEN_COST_USD,
    PROFIT_PERCENTAGE,
    PROFIT_USD,
    TOKENS_WITHOUT_COST,
    UNPRICED_COST,
    USD,
    WITHOUT_COST,
    Amount,
    Boolean,
    Integer,
    Measure,
    Moment,
    NativePriceShape,
    Rows,
    String,
    Strings,
)
from wallet_api.api.schemas.leaderboard import PeriodDistributionSchema
from wallet_api.api.schemas.shapes import Shape
from wallet_api.api.schemas.token_fields import PlaceSchema, SaleSchema, TokenNamesSchema, TransactionSchema
from wallet_api.api.schemas.wallets import ProfileSchema
from wallet_api.api.schemas.windows import PeriodMixin, StatedMixin
from wallet_api.base.periods import BOARD_PERIODS

_BY_SIDE = "`value` or `value_usd` again, by direction; absent of the other one."


class TrackerArguments(PeriodMixin, WalletArguments):
    """The arguments of GET /v1/wallets/tracker."""

    period = Choice(
        BOARD_PERIODS,
        "The period of the figures, `all` for all trades; or instead `since` and `until`.",
        load_default="1d",
    )
    tokens = Switch("Whether there are lists of tokens; `true` by default.", load_default="true")
    trades = Switch("Whether there are `period_trades`; `true` by default.", load_default="true")


class TrackedProfileSchema(NativePriceShape, ProfileSchema):
    """The profile, and when the wallet trades."""

    active_hours = String(
        "The fewest hours of UTC in a row with 80 % of its trades of 30 days; empty without any."
    )


class TrackerStatsSchema(StatedMixin, Shape):
    """A wallet's figures over the period; amounts in native currency. What cannot be known is absent."""

    period = String("The requested period; absent of a window.", optional=True, enum=BOARD_PERIODS)
    buy_txn = Integer("Number of buys.")
    sell_txn = Integer("Number of sells.")
    total_txn = Integer("Number of trades.")
    total_buy = Amount("Value of the buys.")
    total_buy_usd = Amount(USD, optional=True)
    total_sell = Amount("Value of the sells.")
    total_sell_usd = Amount(USD, optional=True)
    volume = Amount("Value of buys and sells.")
    volume_usd = Amount(USD, optional=True)
    realized_pnl = Amount("What the sells realized, by weighted-average cost.")
    realized_pnl_usd = Amount(PROFIT_USD, optional=True)
    realized_pnl_percentage = Measure(PROFIT_PERCENTAGE)
    sold_without_cost = Amount(WITHOUT_COST)
    fees = Amount(FEES)
    fees_unknown_txn = Integer(FEES_UNKNOWN)
    win_count = Integer("Tokens whose sells realized a profit.")
    loss_count = Integer("Tokens whose sells realized a loss or 0.")
    win_rate = Measure("`win_count` in percent of both; 0 without any.")
    best_trade_pnl = Amount("Largest profit of one sell; 0 if none.")
    worst_trade_pnl = Amount("Smallest profit of one sell; 0 if none.")
    largest_buy = Amount("Value of the largest buy; 0 if none.")
    avg_hold_time_minutes = Measure(HOLD_TIME, optional=True)
    open_cost = Amount(OPEN_COST)
    open_cost_usd = Amount(OPEN_COST_USD, optional=True)
    unpriced_cost = Amount(UNPRICED_COST)
    unpriced_cost_usd = Amount(OPEN_COST_USD, optional=True)


class TokenRowSchema(TokenNamesSchema):
    """A wallet's trades of a token in the period, and what it holds of it now."""

    buy_value = Amount("Value of the buys.")
    buy_value_usd = Amount(USD, optional=True)
    sell_value = Amount("Value of the sells.")
    sell_value_usd = Amount(USD, optional=True)
    buy_tokens = Amount("Tokens bought.")
    sell_tokens = Amount("Tokens sold.")
    buy_txn = Integer("Number of buys.")
    sell_txn = Integer("Number of sells.")
    realized_pnl = Amount("What the sells realized, by weighted-average cost.")
    realized_pnl_usd = Amount(PROFIT_USD, optional=True)
    realized_pnl_percentage = Measure(PROFIT_PERCENTAGE)
    sold_without_cost = Amount(WITHOUT_COST)
    tokens_sold_without_cost = Amount(TOKENS_WITHOUT_COST)
    first_seen = Moment("Time of the first trade.")
    last_seen = Moment("Time of the latest trade.")
    remaining_tokens = Amount("Tokens held now.")
    bag_pct = Measure(BAG_PCT)
    still_holding = Boolean("Whether at least 1 % of the most held since the last entry is left.")
    currency = String("Code of the chain's native coin.")
    unrealized_pnl = Amount(
        "Worth of what is held, less its cost; 0 if nothing is held, null without a price.",
        nullable=True,
    )
    unrealized_pnl_usd = Amount("The same in USD; null without it or a native price.", nullable=True)
    open_cost = Amount(OPEN_COST)
    open_cost_usd = Amount(OPEN_COST_USD, optional=True)
    avg_cost = Amount(AVG_COST, optional=True)


class ActiveTokensSchema(Shape):
    """The tokens traded in the period that are still held."""

    active_tokens_count = Integer("Tokens with a trade.")
    still_holding_count = Integer("Tokens with `still_holding`.")
    avg_position_size = Amount("Mean value of the buys of a token; 0 if none was bought.")
    tokens = Rows(
        TokenRowSchema,
        "Latest traded first, at most 1000; absent with `tokens=false`.",
        many=True,
        optional=True,
    )


class ChartPointSchema(Shape):
    """The profit realized from the start of the period until a moment."""

    timestamp = Moment("The moment.")
    realized_pnl = Amount("The sum until then.")
    realized_pnl_usd = Amount("The same in USD; absent everywhere if the last is unknown.", optional=True)


class TrackerTradeSchema(PlaceSchema, SaleSchema, TokenNamesSchema, TransactionSchema):
    """One trade; values in native currency."""

    transaction_type = String("Direction of the trade.", enum=DIRECTIONS)
    created_at = Moment("Time of the trade.")
    value = Amount("Value of the trade.")
    value_usd = Amount("The same in USD; absent if unknown.", optional=True)
    token_amount = Amount("Quantity traded, in whole tokens.")
    currency = String("Code of the chain's native coin.")
    buy_value = Amount(_BY_SIDE, optional=True)
    buy_value_usd = Amount(_BY_SIDE, optional=True)
    sell_value = Amount(_BY_SIDE, optional=True)
    sell_value_usd = Amount(_BY_SIDE, optional=True)


class TrackerSchema(Shape):
    """The data of GET /v1/wallets/tracker. Figures of the leaderboard are those of the same period there."""

    wallet = String("The address of the wallet.")
    profile = Rows(TrackedProfileSchema, "The wallet.")
    period_stats = Rows(TrackerStatsSchema, "Its figures over the period.")
    period_win_rate_distribution = Rows(PeriodDistributionSchema, "Its tokens by their profit.")
    period_active_tokens = Rows(ActiveTokensSchema, "Tokens of the period that are still held.")
    period_history_tokens = Rows(
        TokenRowSchema,
        "All tokens of the period, latest traded first, at most 1000; absent with `tokens=false`.",
        many=True,
        optional=True,
    )
    period_realized_pnl_chart = Rows(
        ChartPointSchema,
        "What was realized before each whole step in UTC with a covered sell, oldest first, from 0 at the"
        " start to the total at the end. Steps are 5 minutes (`6h`), 15 minutes (`1d`), 2 hours (`7d`), 6"
        " hours (`30d`) or a day (beyond 400 days a week).",
        many=True,
    )
    period_trades = Rows(
        TrackerTradeSchema,
        "Newest first, at most 1000; absent with `trades=false`.",
        many=True,
        optional=True,
    )
    warnings = Strings("Which lists were cut, an old native price; absent if neither.", optional=True)
