"""The fields that several shapes have, each with its description, and the beginnings of these shapes."""

from wallet_api.api.schemas.fields import Amount, Boolean, Integer, Measure, Moment, String, Strings
from wallet_api.api.schemas.shapes import Shape

DIRECTIONS = ("buy", "sell")
NO_SOURCE = "Always null: no source exists yet."

# What was requested.
CHAIN = String("The requested chain.")
TYPE = String("The requested category of wallets.")
CURRENCY = String("Code of the chain's native coin.")
WALLET = String("The address of the wallet.")
MINT = String("The requested token; absent without one.", optional=True)
ROW_COUNT = Integer("Number of rows in this response.")
TOTAL = Integer("Number of rows without `limit`.")

# Of a trade.
DIRECTION = String("Direction of the trade.", enum=DIRECTIONS)
EVENT_INDEX = Integer("Number of the trade within its transaction.")
TRADED_AT = Moment("Time of the trade.")
TOKEN_AMOUNT = Amount("Quantity traded, in whole tokens.")
VALUE = Amount("Value of the trade.")
VALUE_USD = Amount("The same in USD; absent if unknown.", optional=True)

# Sums over trades.
BUYS = Amount("Value of the buys.")
SELLS = Amount("Value of the sells.")
VOLUME = Amount("Value of buys and sells.")
USD = Amount("The same in USD; absent if there are such trades, but none with a USD value.", optional=True)
NET_FLOW_USD = Amount("The same in USD; absent where that of either is.", optional=True)
TOKENS_BOUGHT = Amount("Tokens bought.")
TOKENS_SOLD = Amount("Tokens sold.")
BUY_COUNT = Integer("Number of buys.")
SELL_COUNT = Integer("Number of sells.")
TRADE_COUNT = Integer("Number of trades.")
WALLET_COUNT = Integer("Number of wallets with a trade.")
FIRST_SEEN = Moment("Time of the first trade.")
LAST_SEEN = Moment("Time of the latest trade.")
FEES = Amount("Tips and fees in `value`, where they are known.")
FEES_UNKNOWN = Integer("Trades whose fees are unknown.")

# Of profit.
REALIZED = Amount("What the sells realized, by weighted-average cost.")
REALIZED_USD = Amount(
    "The same in USD; absent if unknown for one of the sells or a buy behind it.", optional=True
)
REALIZED_PERCENTAGE = Measure("The profit in percent of the cost of what was sold; 0 without a cost.")
WITHOUT_COST = Amount("Proceeds of what was sold without a known buy: neither profit nor loss.")
TOKENS_WITHOUT_COST = Amount("Tokens sold without a known buy.")
BEST_TRADE = Amount("Largest profit of one sell; 0 if none.")
WORST_TRADE = Amount("Smallest profit of one sell; 0 if none.")
LARGEST_BUY = Amount("Value of the largest buy; 0 if none.")
WITHOUT_BEST = Amount("`realized_pnl` less the largest profit of one token.")
WIN_RATE_LOW = Measure(
    "Lower end of the 95 % Wilson interval of the share of tokens sold with a profit; 0 without a covered"
    " sell."
)
CLOSED_COUNT = Integer("Tokens with a covered sell.")
IN_RANGE = Integer("How many made so much, in percent of the cost, upper end included.")
HOLD_TIME = Measure(
    "Mean time from buy to sell, weighted by cost; absent without a covered sell.", optional=True
)

# Of what is held.
STILL_HOLDING = Boolean("Whether at least 1 % of the most held since the last entry is left.")
HELD_COUNT = Integer("Tokens with `still_holding`.")
TRADED_COUNT = Integer("Tokens with a trade.")
OPEN_COST = Amount("Cost of what is held now, whatever the period.")
OPEN_COST_USD = Amount(
    "The same in USD, by the dollars of the buys; absent if unknown for one behind it.", optional=True
)
UNPRICED_COST = Amount("The part of `open_cost` in tokens without a price.")
AVG_COST = Amount("`open_cost` / the quantity held; absent if nothing is held.", optional=True)
WORTH = Amount("What is held at this price; absent without one.", optional=True)
WORTH_USD = Amount("The same in USD; absent without a native price.", optional=True)
BAG_PCT = Measure("The holding in percent of the most held since the last entry; 0 if none.")
SUPPLY_PCT = Measure("The holding in percent of the supply; null without one.", nullable=True)
SUPPLY_PCT_PEAK = Measure("The largest holding in percent of the supply; null without one.", nullable=True)

# Of the price of a token.
PRICE = Amount(
    "Price in its newest trade that is large and recent enough, or a newer quote; null without one.",
    nullable=True,
)
PRICE_AT = Moment("Time of the trade or quote that makes it; null without one.", nullable=True)
PRICE_SOURCE = String("What makes it, `trade` or `market`; null without one.", nullable=True)
LIQUIDITY = Amount("What the quoted market holds, in USD; null for a trade, and if unknown.", nullable=True)

# Warnings.
OLD_PRICE = Strings(
    "That the price of the native coin, on which dollars rest, is old; absent otherwise.", optional=True
)
CUT = Strings("What was capped, rows that are not shown, an old native price; absent if none.", optional=True)
CAPPED_OR_OLD = Strings("That `limit` was capped, an old native price; absent if neither.", optional=True)
UNTRACKED = Strings(
    "What was capped, untracked addresses, an old native price; absent if none.", optional=True
)


class NativePriceShape(Shape):
    """What has figures that use the price of the native coin."""

    native_price_usd = Amount("Latest price of the native coin in USD; null without one.", nullable=True)
    native_price_at = Moment("Time of that price; null without one.", nullable=True)


class GroupShape(Shape):
    """The data of an operation about a group of wallets."""

    blockchain = CHAIN
    type = TYPE
    currency = CURRENCY
