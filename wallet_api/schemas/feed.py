"""The schemas of the feed of a group's trades."""

from wallet_api.schemas.fields import (
    Amount,
    Boolean,
    Integer,
    Mint,
    Moment,
    Rows,
    Shape,
    String,
    Strings,
    WholeNumber,
)
from wallet_api.schemas.volume import WindowArguments
from wallet_api.schemas.wallets import CountedPaginationSchema, PagedArguments, ProfileSchema

_NO_SOURCE = "Always null: no source exists yet."
_PRICE = "Value / token_amount of the newest trade that makes a price; null without one."
_PRICE_USD = "The same × the latest native price; null without one."
_PRICE_AT = "Time of that trade."


class LatestArguments(PagedArguments):
    """The arguments of GET /v1/transactions/latest."""

    limit = WholeNumber(1, "Trades a page, at most 1000.", load_default=50)
    mint = Mint("Only trades of this token.")


class TimerangeArguments(WindowArguments):
    """The arguments of GET /v1/transactions/timerange."""

    default_window_seconds = 3600

    limit = WholeNumber(1, "Trades shown, at most 1000.", load_default=50)


class HoldingSchema(Shape):
    """What a wallet holds of a token, by its trades alone."""

    token_amount = Amount("Quantity held, in whole tokens.")
    token_amount_peak = Amount("Largest quantity held until then.")
    bag_pct = Amount("100 · token_amount / token_amount_peak; 0 without a peak.")
    still_holding = Boolean("Whether at least 1 % of the peak is held.")
    supply_pct = Amount(_NO_SOURCE, nullable=True)
    supply_pct_peak = Amount(_NO_SOURCE, nullable=True)


class TokenTransactionSchema(Shape):
    """One trade, with who made it and what the wallet held after it."""

    tx_signature = String("Signature of the transaction.")
    event_index = Integer("Ordinal of the trade within its transaction.")
    transaction_type = String("Direction of the trade.", enum=["buy", "sell"])
    value = Amount("Value in native currency.")
    value_usd = Amount(
        "Stored USD value; else value × the latest native price; null without a price.", nullable=True
    )
    currency = String("Native currency of the chain.")
    token_amount = Amount("Quantity traded, in whole tokens.")
    price_per_token = Amount("value / token_amount.")
    price_per_token_usd = Amount("USD value / token_amount; null where value_usd is.", nullable=True)
    created_at = Moment("Time of the trade.")
    profile = Rows(ProfileSchema, "The wallet that traded.")
    holdings_after = Rows(HoldingSchema, "Its holding of the token after this trade.")


class FeedTransactionSchema(TokenTransactionSchema):
    """One trade of a feed of several tokens."""

    mint = String("The token.")
    token_name = String("Name of the token; may be empty.")
    token_supply = Amount(_NO_SOURCE, nullable=True)
    token_decimals = Integer(_NO_SOURCE, nullable=True)


class TokenBlockSchema(Shape):
    """What is known of a token."""

    blockchain = String("The chain of the token.")
    currency = String("Native currency of the chain.")
    mint = String("The token, in its stored form.")
    token_name = String("Name in the newest trade that has one; else empty.")
    token_supply = Amount(_NO_SOURCE, nullable=True)
    token_decimals = Integer(_NO_SOURCE, nullable=True)
    price = Amount(_PRICE, nullable=True)
    price_usd = Amount(_PRICE_USD, nullable=True)
    price_at = Moment(_PRICE_AT, nullable=True)
    market_cap = Amount(_NO_SOURCE, nullable=True)
    market_cap_usd = Amount(_NO_SOURCE, nullable=True)
    market_cap_currency = String(_NO_SOURCE, nullable=True)
    sol_price_usd = Amount(
        "Latest price of SOL on solana, null if unknown and on other chains.", nullable=True
    )
    pool = String(_NO_SOURCE, nullable=True)
    on_curve = Boolean(_NO_SOURCE, nullable=True)
    bonding_curve_progress = Amount(_NO_SOURCE, nullable=True)


class _FeedSchema(Shape):
    """What both feeds have in common."""

    blockchain = String("Requested chain.")
    type = String("Requested wallet category.")
    currency = String("Native currency of the chain.")
    count = Integer("Number of trades in this response.")
    transactions = Rows(FeedTransactionSchema, "Newest first.", many=True)
    mint = String("Requested token; absent without one.", optional=True)
    token = Rows(TokenBlockSchema, "Present with `mint`, if a tracked wallet ever traded it.", optional=True)
    warnings = Strings("What was capped; absent if nothing.", optional=True)


class LatestSchema(_FeedSchema):
    """The data of GET /v1/transactions/latest."""

    mode = String("Always `latest`.", enum=["latest"])
    pagination = Rows(CountedPaginationSchema, "The same object is also a member of the body, beside `data`.")


class TimerangeSchema(_FeedSchema):
    """The data of GET /v1/transactions/timerange."""

    mode = String("Always `timerange`.", enum=["timerange"])
    total = Integer("Number of trades in the window.")
    time_window_seconds = Integer("Effective window, after capping at 3600.")
