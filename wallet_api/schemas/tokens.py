"""The schemas of what tracked wallets did in a token."""

from wallet_api.chains import WALLET_TYPES
from wallet_api.schemas.arguments import ORDERS, FormatMixin, GroupArguments
from wallet_api.schemas.feed import (
    ChangeSchema,
    FollowMixin,
    HoldingSchema,
    TokenSchema,
)
from wallet_api.schemas.fields import (
    NO_SOURCE,
    PROFIT_USD,
    SUPPLY_PCT,
    SUPPLY_PCT_PEAK,
    TOKENS_WITHOUT_COST,
    USD,
    WITHOUT_COST,
    Amount,
    Choice,
    Integer,
    Mint,
    Moment,
    Rows,
    Shape,
    String,
    Strings,
    Switch,
    Text,
    WholeNumber,
)
from wallet_api.schemas.wallets import PaginationSchema, ProfileSchema

_WITHOUT_PRICE = " 0 if nothing is held, null without a price of the token."
_CAPPED = "more than 1000 is capped, with an entry in `warnings`."
_PAGE = "Size of the page, the number of all that match, and the cursor of the next page."
_WITHOUT_USD = " 0 if nothing is held, null without a price of the token or of the native coin."


TRADER_SORTS = (
    *("buy", "first_buy", "last_trade", "realized_pnl", "realized_pnl_percentage", "unrealized_pnl"),
    "token_amount",
)


class TokenArguments(GroupArguments):
    """A token, required. Without `type` the wallets of all types."""

    type = Choice(WALLET_TYPES, "Only wallets of this category; all of them by default.")
    mint = Mint("The token.", required=True)


class TokenTransactionsArguments(FormatMixin, FollowMixin, TokenArguments):
    """The arguments of GET /v1/tokens/transactions. Without `type` the wallets of all types."""

    limit = WholeNumber(1, f"Trades per page; {_CAPPED}", load_default=50)
    cursor = Text("`pagination.next_cursor` of the page before.")


class _TraderArguments(TokenArguments):
    """A page of the traders of a token. Without `type` the wallets of all types."""

    order = Choice(
        ORDERS,
        "The direction; `desc` by default, but `asc` for `first_buy`. Unknown figures come last.",
    )
    still_holding = Switch("`true` for the wallets that still hold the token, `false` for the others.")
    cursor = Text("`pagination.next_cursor` of the page before.")


class TokenStatsArguments(_TraderArguments):
    """The arguments of GET /v1/tokens/stats."""

    sort = Choice(TRADER_SORTS, "The figure by which traders are sorted.", load_default="buy")
    limit = WholeNumber(1, f"Traders per page; {_CAPPED}", load_default=1000)


class TokenHoldersArguments(FormatMixin, _TraderArguments):
    """The arguments of GET /v1/tokens/holders."""

    sort = Choice(TRADER_SORTS, "The figure by which holders are sorted.", load_default="token_amount")
    limit = WholeNumber(1, f"Holders per page; {_CAPPED}", load_default=50)


class _TokenSchema(Shape):
    """What all of them have."""

    token = Rows(TokenSchema, "The token.")
    warnings = Strings("That `limit` was capped, and untracked addresses; absent if none.", optional=True)


class TokenTransactionsSchema(_TokenSchema):
    """The data of GET /v1/tokens/transactions."""

    token = Rows(TokenSchema, "The token; absent with `after`.", optional=True)
    blockchain = String("The requested chain.")
    type = String("The requested category of wallets; absent without one.", optional=True)
    currency = String("Code of the chain's native coin.")
    count = Integer("Number of trades in this response.")
    transactions = Rows(
        ChangeSchema,
        "The trades, newest first; empty if no wallet of the requested type ever traded the token. With"
        " `after` the changes, oldest first, with their token as in `/v1/transactions/latest`.",
        many=True,
    )
    pagination = Rows(
        PaginationSchema,
        "Size of the page, cursor of the next; the same object is also at the top level of the body.",
    )


class TotalHoldersSchema(Shape):
    """How many wallets have any trade in the token."""

    kol_count = Integer("Wallets of the type kol.")
    smart_count = Integer("Wallets of the type smart.")
    whale_count = Integer("Wallets of the type whale.")
    still_holding_count = Integer("Those of them that still hold it.")


class TotalHoldingsSchema(Shape):
    """What the wallets hold together."""

    token_amount = Amount("Quantity held, in whole tokens.")
    token_amount_peak = Amount("Sum of the largest quantity that each wallet ever held.")
    supply_pct = Amount(SUPPLY_PCT, nullable=True)
    supply_pct_peak = Amount(SUPPLY_PCT_PEAK, nullable=True)


class TotalStatisticsSchema(Shape):
    """What the wallets did together; values in native currency. An entry is a wallet's first buy."""

    total_buy = Amount("Value of all buys.")
    total_buy_usd = Amount(USD, optional=True)
    total_sell = Amount("Value of all sells.")
    total_sell_usd = Amount(USD, optional=True)
    total_volume = Amount("Value of all trades.")
    total_volume_usd = Amount(USD, optional=True)
    net_flow = Amount("Value of the buys less that of the sells.")
    net_flow_usd = Amount("The same in USD; absent where that of either is.", optional=True)
    buying_pressure = Amount("Share of the buys in the value of all trades, 0 to 1.")
    avg_position_size = Amount("Value of the buys for each wallet that bought; 0 if none did.")
    largest_position = Amount("Largest value of one wallet's buys; 0 if none bought.")
    first_entry_time = Moment("The first entry; absent if nobody bought.", optional=True)
    first_entry_type = String("Category of the wallet that made it; absent if nobody bought.", optional=True)
    first_entry_wallet_address = String("Address of that wallet; absent if nobody bought.", optional=True)
    latest_entry_time = Moment("The latest entry; absent if nobody bought.", optional=True)
    latest_entry_type = String("Category of the wallet that made it; absent if nobody bought.", optional=True)
    latest_entry_wallet_address = String("Address of that wallet; absent if nobody bought.", optional=True)
    time_since_first_entry_hours = Amount(
        "Hours from the first entry until now; absent if nobody bought.", optional=True
    )


class TraderHoldingsSchema(HoldingSchema):
    """What a trader holds, and what it is worth; `_sol` is native currency, on every chain."""

    remaining_sol = Amount(
        "What is held at the token's price, in native currency on every chain." + _WITHOUT_PRICE,
        nullable=True,
    )
    remaining_usd = Amount("The same in USD." + _WITHOUT_USD, nullable=True)
    unrealized_pnl_sol = Amount(
        "What is held at the token's price, less its cost." + _WITHOUT_PRICE, nullable=True
    )
    unrealized_pnl_usd = Amount("The same in USD." + _WITHOUT_USD, nullable=True)
    unrealized_pnl_pct = Amount(
        "The same in percent of the cost; 0 without a cost." + _WITHOUT_PRICE, nullable=True
    )
    entry_market_cap = Amount(NO_SOURCE, nullable=True)
    entry_market_cap_usd = Amount(NO_SOURCE, nullable=True)


class TraderStatsSchema(Shape):
    """What a trader did in the token; values in native currency. Equal to its row in its history."""

    buy = Amount("Value of the buys.")
    buy_usd = Amount(USD, optional=True)
    buy_count = Integer("Number of buys.")
    buy_tokens = Amount("Tokens bought.")
    sell = Amount("Value of the sells.")
    sell_usd = Amount(USD, optional=True)
    sell_count = Integer("Number of sells.")
    sell_tokens = Amount("Tokens sold.")
    volume_buy = Amount("As `buy`.")
    volume_buy_usd = Amount("As `buy_usd`; absent where that is.", optional=True)
    volume_sell = Amount("As `sell`.")
    volume_sell_usd = Amount("As `sell_usd`; absent where that is.", optional=True)
    avg_buy_price = Amount("Value of the buys for each token bought; 0 if none was.")
    realized_pnl = Amount("What the sells realized, by weighted-average cost.")
    realized_pnl_usd = Amount(PROFIT_USD, optional=True)
    realized_pnl_percentage = Amount("The profit in percent of the cost of what was sold.")
    sold_without_cost = Amount(WITHOUT_COST)
    tokens_sold_without_cost = Amount(TOKENS_WITHOUT_COST)
    first_buy_at = Moment("Time of the first buy; absent without one.", optional=True)
    first_trade_at = Moment("Time of the first trade.")
    last_trade_at = Moment("Time of the latest trade.")


class TraderSchema(Shape):
    """A wallet with any trade in the token."""

    profile = Rows(ProfileSchema, "The wallet.")
    trader_holdings = Rows(TraderHoldingsSchema, "What it holds of the token.")
    trader_stats = Rows(TraderStatsSchema, "What it did in it.")


class TokenStatsSchema(_TokenSchema):
    """The data of GET /v1/tokens/stats. All but the token is of the requested type; other types count 0.

    The totals are of all traders, whatever page of them is requested.
    """

    total_holders = Rows(TotalHoldersSchema, "How many wallets have any trade in the token.")
    total_holdings = Rows(TotalHoldingsSchema, "What they hold together.")
    total_statistics = Rows(TotalStatisticsSchema, "What they did together.")
    traders = Rows(
        TraderSchema,
        "The wallets of this page, of those with any trade in it, by the figure of `sort`, then by address.",
        many=True,
    )
    pagination = Rows(PaginationSchema, _PAGE)


class HolderSchema(Shape):
    """A wallet that ever held the token."""

    profile = Rows(ProfileSchema, "The wallet.")
    holdings = Rows(HoldingSchema, "What it holds of the token.")


class TokenHoldersSchema(_TokenSchema):
    """The data of GET /v1/tokens/holders."""

    total_holders = Rows(TotalHoldersSchema, "How many wallets have any trade in the token, as in stats.")
    total = Integer("Number of wallets that ever held it, whether they still do or not.")
    count = Integer("Number of holders in this response.")
    holders = Rows(
        HolderSchema,
        "The wallets of this page, by the figure of `sort`, those of equal `token_amount` by the largest ever"
        " held, then by address.",
        many=True,
    )
    pagination = Rows(PaginationSchema, _PAGE)
