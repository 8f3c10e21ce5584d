"""The schemas of what tracked wallets did in a token, and of the prices of tokens."""

from typing import ClassVar

from wallet_api.api.schemas import figures
from wallet_api.api.schemas.argument_fields import (
    GROUP_TYPES,
    MAX_TEXTS,
    ROWS,
    SORTED,
    TYPE,
    Choice,
    FreeText,
    Switch,
    Texts,
    Time,
    WholeNumber,
)
from wallet_api.api.schemas.arguments import ChainArguments, FormatMixin, GroupArguments
from wallet_api.api.schemas.feed import FollowMixin, HoldingSchema, TokenChangeSchema, TokenSchema
from wallet_api.api.schemas.fields import Amount, Boolean, Integer, Measure, Moment, Rows, String
from wallet_api.api.schemas.paging import PAGINATION, CursorMixin
from wallet_api.api.schemas.shapes import Shape
from wallet_api.api.schemas.wallets import ProfileSchema
from wallet_api.api.schemas.windows import FollowedWindowMixin, StatedMixin
from wallet_api.base.chains import WALLET_TYPES
from wallet_api.base.orders import ORDERS

_REMAINING = (
    "Worth of what is held, `_sol` in the native coin of any chain; 0 if nothing is, null without a price."
)
_UNREALIZED = "The same less its cost, `_pct` in percent of it; 0 if nothing is held, null without a price."
_FIRST_ENTRY = "The first buy by any wallet; absent if nobody bought."
_LATEST_ENTRY = "The latest first buy of a wallet; absent if nobody bought."
_AGAIN = "`buy`, `buy_usd`, `sell`, `sell_usd` again; absent where that is."

TRADER_SORTS = (
    *("buy", "first_buy", "last_trade", "realized_pnl", "realized_pnl_percentage", "unrealized_pnl"),
    "token_amount",
)


class TokenArguments(GroupArguments):
    """A token, required. Without `type` the wallets of all types."""

    type = Choice(GROUP_TYPES, TYPE)
    mint = FreeText("Only this token.", required=True)


class TokenTransactionsArguments(FollowedWindowMixin, CursorMixin, FormatMixin, FollowMixin, TokenArguments):
    """The arguments of GET /v1/tokens/transactions. Without `type` the wallets of all types."""

    limit = WholeNumber(1, ROWS, load_default=50)


class _TraderArguments(CursorMixin, FormatMixin, TokenArguments):
    """A page of the traders of a token. Without `type` the wallets of all types."""

    order = Choice(
        ORDERS,
        "`desc` by default, `asc` for `first_buy`.",
    )
    still_holding = Switch("Whether the token is still held; both by default.")


class TokenStatsArguments(_TraderArguments):
    """The arguments of GET /v1/tokens/stats."""

    sort = Choice(TRADER_SORTS, SORTED, load_default="buy")
    limit = WholeNumber(1, ROWS, load_default=1000)


class TokenHoldersArguments(_TraderArguments):
    """The arguments of GET /v1/tokens/holders."""

    sort = Choice(TRADER_SORTS, SORTED, load_default="token_amount")
    limit = WholeNumber(1, ROWS, load_default=50)


class _TokenSchema(Shape):
    """What all of them have."""

    token = Rows(TokenSchema, "The token.")
    warnings = figures.UNTRACKED


class TokenTransactionsSchema(StatedMixin, _TokenSchema):
    """The data of GET /v1/tokens/transactions."""

    token = Rows(TokenSchema, "The token; absent with `after`.", optional=True)
    blockchain = figures.CHAIN
    type = String("The requested category; absent without one.", optional=True)
    currency = figures.CURRENCY
    count = figures.ROW_COUNT
    transactions = Rows(
        TokenChangeSchema,
        "The trades, newest first; with `after` the changes, oldest first.",
        many=True,
    )
    pagination = PAGINATION


class _TypeCounts(Shape):
    class Meta:
        """A member for each type of wallets."""

        include: ClassVar = {f"{type}_count": Integer("Wallets of the type.") for type in WALLET_TYPES}


class TotalHoldersSchema(_TypeCounts):
    """Wallets with a trade in the token."""

    still_holding_count = Integer("Those that still hold it.")


class TotalHoldingsSchema(Shape):
    """What the wallets hold together."""

    token_amount = Amount("Quantity held, in whole tokens.")
    token_amount_peak = Amount("Sum of what each held at most since its last entry.")
    supply_pct = figures.SUPPLY_PCT
    supply_pct_peak = figures.SUPPLY_PCT_PEAK


class TotalStatisticsSchema(Shape):
    """What the wallets did together; values in native currency. An entry is a wallet's first buy."""

    total_buy = figures.BUYS
    total_buy_usd = figures.USD
    total_sell = figures.SELLS
    total_sell_usd = figures.USD
    total_volume = figures.VOLUME
    total_volume_usd = figures.USD
    net_flow = Amount("`total_buy` less `total_sell`.")
    net_flow_usd = figures.NET_FLOW_USD
    buying_pressure = Measure("`total_buy` / `total_volume`; 0 without trades.")
    avg_position_size = Amount("Mean value of a wallet's buys; 0 if none bought.")
    largest_position = Amount("Buys of the largest buyer; 0 if none.")
    first_entry_time = Moment(_FIRST_ENTRY, optional=True)
    first_entry_type = String(_FIRST_ENTRY, optional=True)
    first_entry_wallet_address = String(_FIRST_ENTRY, optional=True)
    latest_entry_time = Moment(
        _LATEST_ENTRY,
        optional=True,
    )
    latest_entry_type = String(
        _LATEST_ENTRY,
        optional=True,
    )
    latest_entry_wallet_address = String(
        _LATEST_ENTRY,
        optional=True,
    )
    time_since_first_entry_hours = Measure(
        "Hours since the first buy; absent if nobody bought.", optional=True
    )


class TraderHoldingsSchema(HoldingSchema):
    """What a trader holds, and what it is worth; `_sol` is native currency, on every chain."""

    remaining_sol = Amount(_REMAINING, nullable=True)
    remaining_usd = Amount(_REMAINING, nullable=True)
    unrealized_pnl_sol = Amount(_UNREALIZED, nullable=True)
    unrealized_pnl_usd = Amount(_UNREALIZED, nullable=True)
    unrealized_pnl_pct = Measure(_UNREALIZED, nullable=True)
    entry_market_cap = Amount(figures.NO_SOURCE, nullable=True)
    entry_market_cap_usd = Amount(figures.NO_SOURCE, nullable=True)


class TraderStatsSchema(Shape):
    """What a trader did in the token; values in native currency. Equal to its row in its history."""

    buy = figures.BUYS
    buy_usd = figures.USD
    buy_count = Integer("Number of buys and sells.")
    buy_tokens = figures.TOKENS_BOUGHT
    sell = figures.SELLS
    sell_usd = figures.USD
    sell_count = Integer("Number of buys and sells.")
    sell_tokens = figures.TOKENS_SOLD
    volume_buy = Amount(_AGAIN)
    volume_buy_usd = Amount(_AGAIN, optional=True)
    volume_sell = Amount(_AGAIN)
    volume_sell_usd = Amount(_AGAIN, optional=True)
    avg_buy_price = Amount("Mean price of the tokens bought; 0 if none.")
    realized_pnl = figures.REALIZED
    realized_pnl_usd = figures.REALIZED_USD
    realized_pnl_percentage = figures.REALIZED_PERCENTAGE
    sold_without_cost = figures.WITHOUT_COST
    tokens_sold_without_cost = figures.TOKENS_WITHOUT_COST
    first_buy_at = Moment("Time of the first buy; absent without one.", optional=True)
    first_trade_at = figures.FIRST_SEEN
    last_trade_at = figures.LAST_SEEN


class TraderSchema(Shape):
    """A wallet with any trade in the token."""

    profile = Rows(ProfileSchema, "The wallet.")
    trader_holdings = Rows(TraderHoldingsSchema, "What it holds of the token.")
    trader_stats = Rows(TraderStatsSchema, "What it did in it.")


class TokenStatsSchema(_TokenSchema):
    """The data of GET /v1/tokens/stats. All but the token is of the requested type; other types count 0.

    The totals are of all traders, whatever page of them is requested.
    """

    total_holders = Rows(TotalHoldersSchema, "Wallets with a trade in the token.")
    total_holdings = Rows(TotalHoldingsSchema, "What they hold together.")
    total_statistics = Rows(TotalStatisticsSchema, "What they did together.")
    traders = Rows(
        TraderSchema,
        "The wallets of this page.",
        many=True,
    )
    pagination = PAGINATION


class HolderSchema(Shape):
    """A wallet that ever held the token."""

    profile = Rows(ProfileSchema, "The wallet.")
    holdings = Rows(HoldingSchema, "What it holds of the token.")


class TokenHoldersSchema(_TokenSchema):
    """The data of GET /v1/tokens/holders."""

    total_holders = Rows(TotalHoldersSchema, "Wallets with a trade in the token.")
    total = figures.TOTAL
    count = figures.ROW_COUNT
    holders = Rows(
        HolderSchema,
        "The wallets of this page.",
        many=True,
    )
    pagination = PAGINATION


class PricesArguments(FormatMixin, ChainArguments):
    """The arguments of GET /v1/tokens/prices."""

    mint = Texts(
        f"A token, or up to {MAX_TEXTS}, separated by commas; `native` for the coin of the chain.",
        words=("native",),
        required=True,
    )
    as_of = Time("Prices of this moment, not in the future; now by default.")


class PricedTokenSchema(TokenSchema):
    """A token with its price; all is null or empty if it is not found."""

    class Meta:
        exclude = (
            *("blockchain", "currency", "market_cap_currency", "sol_price_usd"),
            *("pool", "on_curve", "bonding_curve_progress", "native_price_usd", "native_price_at"),
        )

    found = Boolean("Whether a tracked wallet ever traded it, or it is `native`.")
    last_price = Amount("The newest price, however old; null without one.", nullable=True)
    last_price_at = figures.PRICE_AT


class PricesSchema(figures.NativePriceShape):
    """The data of GET /v1/tokens/prices."""

    blockchain = figures.CHAIN
    currency = figures.CURRENCY
    as_of = Moment("As requested, in whole seconds; absent if not.", optional=True)
    tokens = Rows(PricedTokenSchema, "The tokens, in the requested order.", many=True)
    warnings = figures.OLD_PRICE
