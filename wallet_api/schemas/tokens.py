"""The shapes of what tracked wallets did in a token."""

from marshmallow import fields

from wallet_api.chains import WALLET_TYPES
from wallet_api.schemas.arguments import MAX_TEXT, GroupArguments
from wallet_api.schemas.feed import HoldingSchema, TokenBlockSchema, TokenTransactionSchema
from wallet_api.schemas.fields import Amount, Choice, Moment, Rows, Shape, Text, WholeNumber
from wallet_api.schemas.wallets import CountedPaginationSchema, ProfileSchema

_NO_SOURCE = "Always null: no source exists yet."
_USD = "The same in USD; absent if there are such trades, but none with a USD value."
_WITHOUT_PRICE = " 0 if nothing is held, null without a price of the token."
_WITHOUT_USD = " 0 if nothing is held, null without a price of the token or of the native coin."


class TokenArguments(GroupArguments):
    """The arguments of GET /v1/tokens/stats. Without `type` the wallets of all types."""

    type = Choice(WALLET_TYPES, metadata={"description": "Only wallets of this category."})
    mint = Text(MAX_TEXT, required=True, metadata={"description": "The token."})


class TokenTransactionsArguments(TokenArguments):
    """The arguments of GET /v1/tokens/transactions. Without `type` the wallets of all types."""

    limit = WholeNumber(1, load_default=50, metadata={"description": "Trades a page, at most 1000."})
    cursor = fields.String(metadata={"description": "pagination.next_cursor of the page before."})


class TokenHoldersArguments(TokenArguments):
    """The arguments of GET /v1/tokens/holders. Without `type` the wallets of all types."""

    limit = WholeNumber(1, load_default=50, metadata={"description": "Wallets shown, at most 1000."})


class _TokenSchema(Shape):
    """What all of them have."""

    token = fields.Nested(TokenBlockSchema, required=True, metadata={"description": "The token."})
    warnings = fields.List(fields.String(), metadata={"description": "What was capped; absent if nothing."})


class TokenTransactionsSchema(_TokenSchema):
    """The data of GET /v1/tokens/transactions."""

    blockchain = fields.String(required=True, metadata={"description": "Requested chain."})
    type = fields.String(metadata={"description": "Requested wallet category; absent without one."})
    currency = fields.String(required=True, metadata={"description": "Native currency of the chain."})
    count = fields.Integer(required=True, metadata={"description": "Number of trades in this response."})
    transactions = Rows(
        TokenTransactionSchema, many=True, required=True, metadata={"description": "Newest first."}
    )
    pagination = fields.Nested(
        CountedPaginationSchema,
        required=True,
        metadata={"description": "The same object also stands beside `data`."},
    )


class TotalHoldersSchema(Shape):
    """How many wallets have any trade in the token."""

    kol_count = fields.Integer(required=True, metadata={"description": "Wallets of the type kol."})
    smart_count = fields.Integer(required=True, metadata={"description": "Wallets of the type smart."})
    whale_count = fields.Integer(required=True, metadata={"description": "Wallets of the type whale."})
    still_holding_count = fields.Integer(
        required=True, metadata={"description": "Those of them that still hold it."}
    )


class TotalHoldingsSchema(Shape):
    """What the wallets hold together."""

    token_amount = Amount(required=True, metadata={"description": "Quantity held, in whole tokens."})
    token_amount_peak = Amount(
        required=True, metadata={"description": "Sum of the largest quantity that each wallet ever held."}
    )
    supply_pct = Amount(required=True, allow_none=True, metadata={"description": _NO_SOURCE})
    supply_pct_peak = Amount(required=True, allow_none=True, metadata={"description": _NO_SOURCE})


class TotalStatisticsSchema(Shape):
    """What the wallets did together; values in native currency. An entry is a wallet's first buy."""

    total_buy = Amount(required=True, metadata={"description": "Value of all buys."})
    total_buy_usd = Amount(metadata={"description": _USD})
    total_sell = Amount(required=True, metadata={"description": "Value of all sells."})
    total_sell_usd = Amount(metadata={"description": _USD})
    total_volume = Amount(required=True, metadata={"description": "Value of all trades."})
    total_volume_usd = Amount(metadata={"description": _USD})
    net_flow = Amount(required=True, metadata={"description": "Value of the buys less that of the sells."})
    net_flow_usd = Amount(metadata={"description": "The same in USD; absent where that of either is."})
    buying_pressure = Amount(
        required=True, metadata={"description": "Share of the buys in the value of all trades, 0 to 1."}
    )
    avg_position_size = Amount(
        required=True,
        metadata={"description": "Value of the buys for each wallet that bought; 0 if none did."},
    )
    largest_position = Amount(
        required=True, metadata={"description": "Largest value of one wallet's buys; 0 if none bought."}
    )
    first_entry_time = Moment(metadata={"description": "The first entry; absent if nobody bought."})
    first_entry_type = fields.String(metadata={"description": "Category of the wallet that made it."})
    first_entry_wallet_address = fields.String(metadata={"description": "Address of that wallet."})
    latest_entry_time = Moment(metadata={"description": "The latest entry; absent if nobody bought."})
    latest_entry_type = fields.String(metadata={"description": "Category of the wallet that made it."})
    latest_entry_wallet_address = fields.String(metadata={"description": "Address of that wallet."})
    time_since_first_entry_hours = Amount(
        metadata={"description": "Hours from the first entry until now; absent if nobody bought."}
    )


class TraderHoldingsSchema(HoldingSchema):
    """What a trader holds, and what it is worth; `_sol` is native currency, on every chain."""

    remaining_sol = Amount(
        required=True,
        allow_none=True,
        metadata={"description": "What is held at the token's price." + _WITHOUT_PRICE},
    )
    remaining_usd = Amount(
        required=True, allow_none=True, metadata={"description": "The same in USD." + _WITHOUT_USD}
    )
    unrealized_pnl_sol = Amount(
        required=True,
        allow_none=True,
        metadata={"description": "What is held at the token's price, less its cost." + _WITHOUT_PRICE},
    )
    unrealized_pnl_usd = Amount(
        required=True, allow_none=True, metadata={"description": "The same in USD." + _WITHOUT_USD}
    )
    unrealized_pnl_pct = Amount(
        required=True,
        allow_none=True,
        metadata={"description": "The same in percent of the cost; 0 without a cost." + _WITHOUT_PRICE},
    )
    entry_market_cap = Amount(required=True, allow_none=True, metadata={"description": _NO_SOURCE})
    entry_market_cap_usd = Amount(required=True, allow_none=True, metadata={"description": _NO_SOURCE})


class TraderStatsSchema(Shape):
    """What a trader did in the token; values in native currency. Equal to its row in its history."""

    buy = Amount(required=True, metadata={"description": "Value of the buys."})
    buy_usd = Amount(metadata={"description": _USD})
    buy_count = fields.Integer(required=True, metadata={"description": "Number of buys."})
    buy_tokens = Amount(required=True, metadata={"description": "Tokens bought."})
    sell = Amount(required=True, metadata={"description": "Value of the sells."})
    sell_usd = Amount(metadata={"description": _USD})
    sell_count = fields.Integer(required=True, metadata={"description": "Number of sells."})
    sell_tokens = Amount(required=True, metadata={"description": "Tokens sold."})
    volume_buy = Amount(required=True, metadata={"description": "As `buy`."})
    volume_buy_usd = Amount(metadata={"description": "As `buy_usd`."})
    volume_sell = Amount(required=True, metadata={"description": "As `sell`."})
    volume_sell_usd = Amount(metadata={"description": "As `sell_usd`."})
    avg_buy_price = Amount(
        required=True, metadata={"description": "Value of the buys for each token bought; 0 if none was."}
    )
    realized_pnl = Amount(
        required=True, metadata={"description": "What the sells realized, by weighted-average cost."}
    )
    realized_pnl_usd = Amount(
        metadata={"description": "The same in USD; absent if it is unknown for one of the sells."}
    )
    realized_pnl_percentage = Amount(
        required=True, metadata={"description": "The profit in percent of the cost of what was sold."}
    )
    first_trade_at = Moment(required=True, metadata={"description": "Time of the first trade."})
    last_trade_at = Moment(required=True, metadata={"description": "Time of the latest trade."})


class TraderSchema(Shape):
    """A wallet with any trade in the token."""

    profile = Rows(ProfileSchema, required=True, metadata={"description": "The wallet."})
    trader_holdings = Rows(
        TraderHoldingsSchema, required=True, metadata={"description": "What it holds of the token."}
    )
    trader_stats = Rows(TraderStatsSchema, required=True, metadata={"description": "What it did in it."})


class TokenStatsSchema(Shape):
    """The data of GET /v1/tokens/stats. All but the token is of the requested type; other types count 0."""

    token = fields.Nested(TokenBlockSchema, required=True, metadata={"description": "The token."})
    total_holders = Rows(
        TotalHoldersSchema,
        required=True,
        metadata={"description": "How many wallets have any trade in the token."},
    )
    total_holdings = Rows(
        TotalHoldingsSchema, required=True, metadata={"description": "What they hold together."}
    )
    total_statistics = Rows(
        TotalStatisticsSchema, required=True, metadata={"description": "What they did together."}
    )
    traders = Rows(
        TraderSchema,
        many=True,
        required=True,
        metadata={"description": "Each of them, by value of the buys, the largest first, then by address."},
    )


class HolderSchema(Shape):
    """A wallet that ever held the token."""

    profile = Rows(ProfileSchema, required=True, metadata={"description": "The wallet."})
    holdings = Rows(HoldingSchema, required=True, metadata={"description": "What it holds of the token."})


class TokenHoldersSchema(_TokenSchema):
    """The data of GET /v1/tokens/holders."""

    total_holders = Rows(
        TotalHoldersSchema,
        required=True,
        metadata={"description": "How many wallets have any trade in the token, as in stats."},
    )
    total = fields.Integer(required=True, metadata={"description": "Number of wallets that ever held it."})
    count = fields.Integer(required=True, metadata={"description": "Number of holders in this response."})
    holders = Rows(
        HolderSchema,
        many=True,
        required=True,
        metadata={
            "description": "By quantity held, then by the largest ever held, largest first, then by address."
        },
    )
