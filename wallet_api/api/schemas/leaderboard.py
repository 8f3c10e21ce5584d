"""The schemas of the leaderboard."""

from typing import Any

from marshmallow import ValidationError, validates_schema

from wallet_api.api.schemas import figures
from wallet_api.api.schemas.argument_fields import Choice, FreeText, Number, Switch, WholeNumber
from wallet_api.api.schemas.arguments import AddressMixin
from wallet_api.api.schemas.fields import Amount, AmountList, Integer, Measure, Moment, Rows, String, Strings
from wallet_api.api.schemas.paging import OPTIONAL_PAGINATION, PagedArguments
from wallet_api.api.schemas.shapes import Shape
from wallet_api.api.schemas.windows import PeriodMixin, StatedMixin
from wallet_api.base.orders import BOARD_SORTS, ORDERS
from wallet_api.base.periods import BOARD_PERIODS

# Of how many entries a response has charts.
CHARTS = 100


class LeaderboardArguments(PeriodMixin, AddressMixin, PagedArguments):
    """The arguments of GET /v1/wallet/leaderboard."""

    period = Choice(
        BOARD_PERIODS,
        "The period of the figures, `all` for all trades; or instead `since` and `until`.",
        unless=("since", "until"),
        required=True,
    )
    sort = Choice(
        BOARD_SORTS,
        "The figure to sort by: unknown ones come last; `total_volume` by default.",
    )
    order = Choice(ORDERS, "`desc` (default) or `asc`.")
    min_txn = WholeNumber(1, "At least so many trades; wallets with fewer have no rank.")
    min_volume = Number("At least this `total_volume`.")
    min_closed = WholeNumber(1, "At least this `closed_count`.")
    min_win_rate = Number("At least this `win_rate_percentage`.")
    max_without_cost = Number("At most this `sold_without_cost`, in percent of `total_sell`.")
    max_open_cost = Number("At most this `open_cost`, in percent of all buys ever.")
    min_win_rate_low = Number("At least this `win_rate_low`.")
    min_profit_factor = Number("At least this `profit_factor`, or gains alone.")
    min_active_days = WholeNumber(1, "At least so many `active_days`.")
    max_fast_share = Number("At most this `fast_share`.")
    max_drawdown = Number("At most this `max_drawdown`.")
    chart = Switch(
        f"`true` gives each entry a `chart`; requires a `limit` of at most {CHARTS}.",
        load_default=False,
    )
    copied = Switch("`true` adds what copiers of the first 100 would have got.", load_default=False)
    address = FreeText("This wallet's entry alone, with its rank.")

    @validates_schema
    def _charts_are_few(self, data: dict[str, Any], **kwargs: Any) -> None:
        if data.get("chart") and data.get("limit", CHARTS + 1) > CHARTS:
            raise ValidationError(f"must be given, at most {CHARTS}, with chart=true", "limit")


class EntryProfileSchema(Shape):
    """Who the ranked wallet is. Unset texts are empty."""

    name = String("Display name.")
    image_url = String("URL of the avatar.")
    twitter = String("URL of the profile on X.")
    type = String("Category of the wallet, with `type=all`; else absent.", optional=True)
    currency = figures.CURRENCY


class PeriodStatsSchema(Shape):
    """A wallet's figures over the period. What cannot be known is absent."""

    realized_pnl = figures.REALIZED
    realized_pnl_usd = figures.REALIZED_USD
    realized_pnl_percentage = figures.REALIZED_PERCENTAGE
    sold_without_cost = figures.WITHOUT_COST
    fees = figures.FEES
    fees_unknown_txn = figures.FEES_UNKNOWN
    buy_txn = figures.BUY_COUNT
    sell_txn = figures.SELL_COUNT
    total_txn = figures.TRADE_COUNT
    total_buy = figures.BUYS
    total_buy_usd = figures.USD
    total_sell = figures.SELLS
    total_sell_usd = figures.USD
    total_volume = figures.VOLUME
    total_volume_usd = figures.USD
    best_trade_pnl = figures.BEST_TRADE
    avg_hold_time_minutes = figures.HOLD_TIME
    open_cost = figures.OPEN_COST
    open_cost_usd = figures.OPEN_COST_USD
    win_rate_low = figures.WIN_RATE_LOW
    profit_factor = Measure(
        "Profits of the tokens that gained / losses of those that lost; 0 without both; absent with gains"
        " alone, which sort first.",
        optional=True,
    )
    pnl_without_best_token = figures.WITHOUT_BEST
    max_drawdown = Amount("Largest fall of the profit, by days of UTC, from an earlier peak or 0.")
    fast_share = Measure("Percent of the covered sells less than a minute after the buy; 0 if none.")
    active_days = Integer("Days of UTC with a trade.")


class PeriodDistributionSchema(Shape):
    """The tokens with a covered sell in the period, by the profit of these sells."""

    win_rate_percentage = Measure("`win_count` in percent of `closed_count`; 0 without any.")
    above_500 = figures.IN_RANGE
    above_100_to_500 = figures.IN_RANGE
    above_zero_to_100 = figures.IN_RANGE
    below_zero = figures.IN_RANGE
    closed_count = figures.CLOSED_COUNT
    win_count = Integer("Those with a profit.")


class ChartSchema(Shape):
    """How the profit of the period grew."""

    step_seconds = Integer("Seconds between values, each at a whole UTC multiple of it.")
    ends_at = Moment("Time of the last value.")
    values = AmountList("What the sells of the period realized before each time.")


class EntrySchema(Shape):
    """One ranked wallet."""

    wallet = figures.WALLET
    rank = Integer("Its rank by `sort`, from 1.")
    profile = Rows(EntryProfileSchema, "Who it is.")
    period_stats = Rows(PeriodStatsSchema, "Its figures over the period.")
    period_win_rate_distribution = Rows(PeriodDistributionSchema, "Its tokens by their profit.")
    chart = Rows(ChartSchema, "How its profit grew; absent without `chart=true`.", optional=True)
    copied_return_percent = Measure(
        "`return_percent` of /v1/wallets/copy, some minutes ago; absent without `copied=true`, beyond the"
        " first 100 entries, of too many trades, and if nothing was bought.",
        optional=True,
    )
    followed = Integer(
        "Trades that were followed; absent if not copied.",
        optional=True,
    )
    not_followed = Integer("Buys that could not be followed; absent if not copied.", optional=True)
    stuck = Integer("Sells that nobody bought from; absent if not copied.", optional=True)
    history_since = Moment(
        "Since when in the period a sync has read its trades; absent if from its start, or if all were"
        " imported.",
        optional=True,
    )


class LeaderboardSchema(StatedMixin, figures.NativePriceShape):
    """The data of GET /v1/wallet/leaderboard, by the figure of `sort` in this `order`, then by address."""

    blockchain = figures.CHAIN
    type = figures.TYPE
    period = String("The requested period; absent of a window.", optional=True)
    currency = figures.CURRENCY
    sort = String("As requested; absent if not.", optional=True, enum=BOARD_SORTS)
    order = String("As requested; absent if not.", optional=True, enum=ORDERS)
    address = String("As requested; absent if not.", optional=True)
    min_txn = Integer("As requested; absent if not.", optional=True)
    min_volume = Amount("As requested; absent if not.", optional=True)
    min_closed = Integer("As requested; absent if not.", optional=True)
    min_win_rate = Measure("As requested; absent if not.", optional=True)
    max_without_cost = Measure("As requested; absent if not.", optional=True)
    max_open_cost = Measure("As requested; absent if not.", optional=True)
    min_win_rate_low = Measure("As requested; absent if not.", optional=True)
    min_profit_factor = Measure("As requested; absent if not.", optional=True)
    min_active_days = Integer("As requested; absent if not.", optional=True)
    max_fast_share = Measure("As requested; absent if not.", optional=True)
    max_drawdown = Amount("As requested; absent if not.", optional=True)
    leaderboard = Rows(
        EntrySchema,
        "The wallets with a trade in the period, ties by address.",
        many=True,
    )
    pagination = OPTIONAL_PAGINATION
    warnings = Strings(
        "That the price of the native coin, on which dollars rest, is old; how many entries are not copied;"
        " absent otherwise.",
        optional=True,
    )
