"""The schemas of a wallet's history."""

from typing import Any

from marshmallow import ValidationError, validates_schema

from wallet_api.api.schemas import figures
from wallet_api.api.schemas.argument_fields import ROWS, TYPE, Choice, FreeText, Switch, Time, WholeNumber
from wallet_api.api.schemas.arguments import AddressMixin
from wallet_api.api.schemas.fields import Amount, Integer, Measure, Rows
from wallet_api.api.schemas.paging import PAGINATION, PagedArguments
from wallet_api.api.schemas.shapes import Shape
from wallet_api.api.schemas.token_fields import PlaceSchema, SaleSchema, TokenNamesSchema, TransactionSchema
from wallet_api.api.schemas.wallets import HistoryProfileSchema
from wallet_api.base.chains import WALLET_TYPES


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


class LifetimeStatsSchema(figures.NativePriceShape):
    """A wallet's figures over its lifetime; amounts in native currency."""

    currency = figures.CURRENCY
    buy = figures.BUYS
    buy_usd = figures.USD
    sell = figures.SELLS
    sell_usd = figures.USD
    realized_pnl = figures.REALIZED
    realized_pnl_usd = figures.REALIZED_USD
    realized_pnl_percentage = figures.REALIZED_PERCENTAGE
    sold_without_cost = figures.WITHOUT_COST
    fees = figures.FEES
    fees_unknown_txn = figures.FEES_UNKNOWN
    buy_txn = figures.BUY_COUNT
    sell_txn = figures.SELL_COUNT
    total_tx_count = figures.TRADE_COUNT
    win_rate = Measure("`win_count` in percent of `total_sold`; 0 without a closed position.")
    win_count = Integer("Closed positions with a profit.")
    total_sold = Integer("Closed positions.")
    sold_win_rate = Measure("`sold_win_count` in percent of `sold_count`; 0 without any.")
    sold_win_count = Integer("Those of `sold_count` with a profit.")
    sold_count = figures.CLOSED_COUNT
    active_tokens_count = figures.TRADED_COUNT
    largest_buy = figures.LARGEST_BUY
    best_trade_pnl = figures.BEST_TRADE
    worst_trade_pnl = figures.WORST_TRADE
    still_holding_count = figures.HELD_COUNT
    unrealized_pnl = Amount(
        "Worth of the tokens held that have a price, less their cost; absent if none has.",
        optional=True,
    )
    unrealized_pnl_usd = figures.WORTH_USD
    priced_tokens_count = Integer("Tokens with `still_holding` that have a price.")
    open_cost = figures.OPEN_COST
    open_cost_usd = figures.OPEN_COST_USD
    unpriced_cost = figures.UNPRICED_COST
    unpriced_cost_usd = figures.OPEN_COST_USD


class DistributionSchema(Shape):
    """Closed positions by their realized profit in percent of their cost."""

    above_500 = figures.IN_RANGE
    above_100_to_500 = figures.IN_RANGE
    above_zero_to_100 = figures.IN_RANGE
    below_zero = figures.IN_RANGE


class TokenOverviewSchema(TokenNamesSchema):
    """A wallet's record in one token; amounts in native currency."""

    invested = figures.BUYS
    invested_usd = figures.USD
    sold = figures.SELLS
    sold_usd = figures.USD
    realized_pnl = figures.REALIZED
    realized_pnl_usd = figures.REALIZED_USD
    realized_pnl_percentage = figures.REALIZED_PERCENTAGE
    sold_without_cost = figures.WITHOUT_COST
    tokens_sold_without_cost = figures.TOKENS_WITHOUT_COST
    currency = figures.CURRENCY
    buy_txn = figures.BUY_COUNT
    sell_txn = figures.SELL_COUNT
    first_seen = figures.FIRST_SEEN
    last_seen = figures.LAST_SEEN
    still_holding = figures.STILL_HOLDING
    unrealized_pnl = Amount(
        "Worth of what is held, less its cost; 0 if nothing is held, absent without a price.",
        optional=True,
    )
    unrealized_pnl_usd = Amount(
        "The same in USD, at the latest native price; absent without it or a price.", optional=True
    )
    open_cost = figures.OPEN_COST
    open_cost_usd = figures.OPEN_COST_USD
    avg_cost = figures.AVG_COST


class HistoryTradeSchema(PlaceSchema, SaleSchema, TokenNamesSchema, TransactionSchema):
    """One trade; its value in native currency."""

    transaction_type = figures.DIRECTION
    value = figures.VALUE
    value_usd = figures.VALUE_USD
    currency = figures.CURRENCY
    token_amount = figures.TOKEN_AMOUNT
    created_at = figures.TRADED_AT
    event_index = figures.EVENT_INDEX


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
    pagination = PAGINATION
    warnings = figures.CAPPED_OR_OLD
