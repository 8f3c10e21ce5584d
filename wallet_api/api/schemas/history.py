"""The schemas of a wallet's history."""

from typing import Any

from marshmallow import ValidationError, validates_schema

from wallet_api.api.schemas.argument_fields import ROWS, TYPE, Choice, FreeText, Switch, Time, WholeNumber
from wallet_api.api.schemas.arguments import AddressMixin
from wallet_api.api.schemas.feed import DIRECTIONS
from wallet_api.api.schemas.fields import (
    AVG_COST,
    FEES,
    FEES_UNKNOWN,
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
from wallet_api.api.schemas.paging import PAGE, PagedArguments, PaginationSchema
from wallet_api.api.schemas.shapes import Shape
from wallet_api.api.schemas.token_fields import (
    PlaceSchema,
    SaleSchema,
    TokenNamesSchema,
    TransactionSchema,
)
from wallet_api.api.schemas.wallets import HistoryProfileSchema
from wallet_api.base.chains import WALLET_TYPES

_IN_RANGE = "How many made so much, in percent of the cost, upper end included."


class HistoryArguments(AddressMixin, PagedArguments):
    """The arguments of GET /v1/wallets/history."""

    type = Choice(WALLET_TYPES, "The category of the wallet.", required=True)
    limit = WholeNumber(1, ROWS, load_default=50)
    since = Time("Only trades from this time on; figures are of all.")
    until = Time("Only trades before this time; figures are of all.")
    overview = Switch("Whether there is a `token_overview`; `true` by default.")
    mint = FreeText("Only this token, in overview and trades.")

    @validates_schema
    def _range_is_not_empty(self, data: dict[str, Any], **kwargs: Any) -> None:
        if "since" in data and "until" in data and data["since"] >= data["until"]:
            raise ValidationError("must be before until", "since")


class UntypedHistoryArguments(HistoryArguments):
    """The same where HISTORY_TYPE is detected: `type` is that of the wallet by default."""

    type = Choice(WALLET_TYPES, TYPE)


class LifetimeStatsSchema(NativePriceShape):
    """A wallet's figures over its lifetime; amounts in native currency."""

    currency = String("Code of the chain's native coin.")
    buy = Amount("Value of the buys.")
    buy_usd = Amount(USD, optional=True)
    sell = Amount("Value of the sells.")
    sell_usd = Amount(USD, optional=True)
    realized_pnl = Amount("What the sells realized, by weighted-average cost.")
    realized_pnl_usd = Amount(PROFIT_USD, optional=True)
    realized_pnl_percentage = Measure(PROFIT_PERCENTAGE)
    sold_without_cost = Amount(WITHOUT_COST)
    fees = Amount(FEES)
    fees_unknown_txn = Integer(FEES_UNKNOWN)
    buy_txn = Integer("Number of buys.")
    sell_txn = Integer("Number of sells.")
    total_tx_count = Integer("Number of trades.")
    win_rate = Measure("`win_count` in percent of `total_sold`; 0 without a closed position.")
    win_count = Integer("Closed positions with a profit.")
    total_sold = Integer("Closed positions.")
    sold_win_rate = Measure("`sold_win_count` in percent of `sold_count`; 0 without any.")
    sold_win_count = Integer("Those of `sold_count` with a profit.")
    sold_count = Integer("Tokens with a covered sell.")
    active_tokens_count = Integer("Tokens with a trade.")
    largest_buy = Amount("Value of the largest buy; 0 if none.")
    best_trade_pnl = Amount("Largest profit of one sell; 0 if none.")
    worst_trade_pnl = Amount("Smallest profit of one sell; 0 if none.")
    still_holding_count = Integer("Tokens with `still_holding`.")
    unrealized_pnl = Amount(
        "Worth of the tokens held that have a price, less their cost; absent if none has.",
        optional=True,
    )
    unrealized_pnl_usd = Amount("The same in USD; absent without a native price.", optional=True)
    priced_tokens_count = Integer("Tokens with `still_holding` that have a price.")
    open_cost = Amount(OPEN_COST)
    open_cost_usd = Amount(OPEN_COST_USD, optional=True)
    unpriced_cost = Amount(UNPRICED_COST)
    unpriced_cost_usd = Amount(OPEN_COST_USD, optional=True)


class DistributionSchema(Shape):
    """Closed positions by their realized profit in percent of their cost."""

    above_500 = Integer(_IN_RANGE)
    above_100_to_500 = Integer(_IN_RANGE)
    above_zero_to_100 = Integer(_IN_RANGE)
    below_zero = Integer(_IN_RANGE)


class TokenOverviewSchema(TokenNamesSchema):
    """A wallet's record in one token; amounts in native currency."""

    invested = Amount("Value of the buys.")
    invested_usd = Amount(USD, optional=True)
    sold = Amount("Value of the sells.")
    sold_usd = Amount(USD, optional=True)
    realized_pnl = Amount("What the sells realized, by weighted-average cost.")
    realized_pnl_usd = Amount(PROFIT_USD, optional=True)
    realized_pnl_percentage = Measure(PROFIT_PERCENTAGE)
    sold_without_cost = Amount(WITHOUT_COST)
    tokens_sold_without_cost = Amount(TOKENS_WITHOUT_COST)
    currency = String("Code of the chain's native coin.")
    buy_txn = Integer("Number of buys.")
    sell_txn = Integer("Number of sells.")
    first_seen = Moment("Time of the first trade.")
    last_seen = Moment("Time of the latest trade.")
    still_holding = Boolean("Whether at least 1 % of the most held since the last entry is left.")
    unrealized_pnl = Amount(
        "Worth of what is held, less its cost; 0 if nothing is held, absent without a price.",
        optional=True,
    )
    unrealized_pnl_usd = Amount(
        "The same in USD, at the latest native price; absent without it or a price.", optional=True
    )
    open_cost = Amount(OPEN_COST)
    open_cost_usd = Amount(OPEN_COST_USD, optional=True)
    avg_cost = Amount(AVG_COST, optional=True)


class HistoryTradeSchema(PlaceSchema, SaleSchema, TokenNamesSchema, TransactionSchema):
    """One trade; its value in native currency."""

    transaction_type = String("Direction of the trade.", enum=DIRECTIONS)
    value = Amount("Value of the trade.")
    value_usd = Amount("The same in USD; absent if unknown.", optional=True)
    currency = String("Code of the chain's native coin.")
    token_amount = Amount("Quantity traded, in whole tokens.")
    created_at = Moment("Time of the trade.")
    event_index = Integer("Number of the trade within its transaction.")


class HistorySchema(Shape):
    """The data of GET /v1/wallets/history. Trades are newest first; tokens by their latest trade."""

    profile = Rows(HistoryProfileSchema, "The wallet.")
    lifetime_stats = Rows(LifetimeStatsSchema, "Its figures over all trades.")
    win_rate_distribution = Rows(DistributionSchema, "Its closed positions by their profit.")
    token_overview = Rows(
        TokenOverviewSchema,
        "Its tokens, latest traded first; absent with `overview=false`.",
        optional=True,
        many=True,
    )
    trades = Rows(HistoryTradeSchema, "The trades of this page, newest first.", many=True)
    pagination = Rows(PaginationSchema, PAGE)
    warnings = Strings("That `limit` was capped, an old native price; absent if neither.", optional=True)
