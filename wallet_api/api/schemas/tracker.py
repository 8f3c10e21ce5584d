"""The schemas of a wallet's record in a period."""

from wallet_api.api.schemas import figures
from wallet_api.api.schemas.argument_fields import Choice, Switch
from wallet_api.api.schemas.arguments import WalletArguments
from wallet_api.api.schemas.fields import Amount, Integer, Measure, Moment, Rows, String, Strings
from wallet_api.api.schemas.leaderboard import PeriodDistributionSchema
from wallet_api.api.schemas.shapes import Shape
from wallet_api.api.schemas.token_fields import PlaceSchema, SaleSchema, TokenNamesSchema, TransactionSchema
from wallet_api.api.schemas.wallets import ProfileSchema
from wallet_api.api.schemas.windows import PeriodMixin, StatedMixin
from wallet_api.base.periods import BOARD_PERIODS

_BY_SIDE = "`value` or `value_usd` again; absent of the other direction."


class TrackerArguments(PeriodMixin, WalletArguments):
    """The arguments of GET /v1/wallets/tracker."""

    period = Choice(
        BOARD_PERIODS,
        "The period of the figures, `all` for all trades; or instead `since` and `until`.",
        load_default="1d",
    )
    tokens = Switch("Whether there are lists of tokens; `true` by default.", load_default="true")
    trades = Switch("Whether there are `period_trades`; `true` by default.", load_default="true")


class TrackedProfileSchema(figures.NativePriceShape, ProfileSchema):
    """The profile, and when the wallet trades."""

    active_hours = String(
        "The fewest hours of UTC in a row with 80 % of its trades of 30 days; empty without any."
    )


class TrackerStatsSchema(StatedMixin, Shape):
    """A wallet's figures over the period; amounts in native currency. What cannot be known is absent."""

    period = String("The requested period; absent of a window.", optional=True, enum=BOARD_PERIODS)
    buy_txn = figures.BUY_COUNT
    sell_txn = figures.SELL_COUNT
    total_txn = figures.TRADE_COUNT
    total_buy = figures.BUYS
    total_buy_usd = figures.USD
    total_sell = figures.SELLS
    total_sell_usd = figures.USD
    volume = figures.VOLUME
    volume_usd = figures.USD
    realized_pnl = figures.REALIZED
    realized_pnl_usd = figures.REALIZED_USD
    realized_pnl_percentage = figures.REALIZED_PERCENTAGE
    sold_without_cost = figures.WITHOUT_COST
    fees = figures.FEES
    fees_unknown_txn = figures.FEES_UNKNOWN
    win_count = Integer("Tokens whose sells realized a profit.")
    loss_count = Integer("Tokens whose sells realized a loss or 0.")
    win_rate = Measure("`win_count` in percent of both; 0 without any.")
    best_trade_pnl = figures.BEST_TRADE
    worst_trade_pnl = figures.WORST_TRADE
    largest_buy = figures.LARGEST_BUY
    avg_hold_time_minutes = figures.HOLD_TIME
    open_cost = figures.OPEN_COST
    open_cost_usd = figures.OPEN_COST_USD
    unpriced_cost = figures.UNPRICED_COST
    unpriced_cost_usd = figures.OPEN_COST_USD


class TokenRowSchema(TokenNamesSchema):
    """A wallet's trades of a token in the period, and what it holds of it now."""

    buy_value = figures.BUYS
    buy_value_usd = figures.USD
    sell_value = figures.SELLS
    sell_value_usd = figures.USD
    buy_tokens = figures.TOKENS_BOUGHT
    sell_tokens = figures.TOKENS_SOLD
    buy_txn = figures.BUY_COUNT
    sell_txn = figures.SELL_COUNT
    realized_pnl = figures.REALIZED
    realized_pnl_usd = figures.REALIZED_USD
    realized_pnl_percentage = figures.REALIZED_PERCENTAGE
    sold_without_cost = figures.WITHOUT_COST
    tokens_sold_without_cost = figures.TOKENS_WITHOUT_COST
    first_seen = figures.FIRST_SEEN
    last_seen = figures.LAST_SEEN
    remaining_tokens = Amount("Tokens held now.")
    bag_pct = figures.BAG_PCT
    still_holding = figures.STILL_HOLDING
    currency = figures.CURRENCY
    unrealized_pnl = Amount(
        "Worth of what is held, less its cost; 0 if nothing is held, null without a price.",
        nullable=True,
    )
    unrealized_pnl_usd = Amount("The same in USD; null without it or a native price.", nullable=True)
    open_cost = figures.OPEN_COST
    open_cost_usd = figures.OPEN_COST_USD
    avg_cost = figures.AVG_COST


class ActiveTokensSchema(Shape):
    """The tokens traded in the period that are still held."""

    active_tokens_count = figures.TRADED_COUNT
    still_holding_count = figures.HELD_COUNT
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

    transaction_type = figures.DIRECTION
    created_at = figures.TRADED_AT
    value = figures.VALUE
    value_usd = figures.VALUE_USD
    token_amount = figures.TOKEN_AMOUNT
    currency = figures.CURRENCY
    buy_value = Amount(_BY_SIDE, optional=True)
    buy_value_usd = Amount(_BY_SIDE, optional=True)
    sell_value = Amount(_BY_SIDE, optional=True)
    sell_value_usd = Amount(_BY_SIDE, optional=True)


class TrackerSchema(Shape):
    """The data of GET /v1/wallets/tracker. Figures of the leaderboard are those of the same period there."""

    wallet = figures.WALLET
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
        "The profit until each whole step in UTC with a covered sell, oldest first, from 0 to the total."
        " Steps are 5 minutes (`6h`), 15 minutes (`1d`), 2 hours (`7d`), 6 hours (`30d`) or a day"
        " (beyond 400 days a week).",
        many=True,
    )
    period_trades = Rows(
        TrackerTradeSchema,
        "Newest first, at most 1000; absent with `trades=false`.",
        many=True,
        optional=True,
    )
    warnings = Strings("Which lists were cut, an old native price; absent if neither.", optional=True)
