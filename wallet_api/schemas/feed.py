"""The shapes of the feed of a group's trades."""

from marshmallow import fields

from wallet_api.schemas.arguments import MAX_TEXT
from wallet_api.schemas.fields import Amount, Moment, Rows, Shape, Text, WholeNumber
from wallet_api.schemas.volume import WindowArguments
from wallet_api.schemas.wallets import CountedPaginationSchema, PagedArguments, ProfileSchema

_NO_SOURCE = "Always null: no source exists yet."
_PRICE = "Value / token_amount of the newest trade that makes a price; null without one."
_PRICE_USD = "The same × the latest native price; null without one."
_PRICE_AT = "Time of that trade."


class LatestArguments(PagedArguments):
    """The arguments of GET /v1/transactions/latest."""

    limit = WholeNumber(1, load_default=50, metadata={"description": "Trades a page, at most 1000."})
    mint = Text(MAX_TEXT, metadata={"description": "Only trades of this token."})


class TimerangeArguments(WindowArguments):
    """The arguments of GET /v1/transactions/timerange."""

    default_window_seconds = 3600

    limit = WholeNumber(1, load_default=50, metadata={"description": "Trades shown, at most 1000."})


class HoldingSchema(Shape):
    """What a wallet holds of a token, by its trades alone."""

    token_amount = Amount(required=True, metadata={"description": "Quantity held, in whole tokens."})
    token_amount_peak = Amount(required=True, metadata={"description": "Largest quantity held until then."})
    bag_pct = Amount(
        required=True, metadata={"description": "100 · token_amount / token_amount_peak; 0 without a peak."}
    )
    still_holding = fields.Boolean(
        required=True, metadata={"description": "Whether at least 1 % of the peak is held."}
    )
    supply_pct = Amount(required=True, allow_none=True, metadata={"description": _NO_SOURCE})
    supply_pct_peak = Amount(required=True, allow_none=True, metadata={"description": _NO_SOURCE})


class TokenTransactionSchema(Shape):
    """One trade, with who made it and what the wallet held after it."""

    tx_signature = fields.String(required=True, metadata={"description": "Signature of the transaction."})
    event_index = fields.Integer(
        required=True, metadata={"description": "Place of the trade within its transaction."}
    )
    transaction_type = fields.String(
        required=True, metadata={"enum": ["buy", "sell"], "description": "Direction of the trade."}
    )
    value = Amount(required=True, metadata={"description": "Value in native currency."})
    value_usd = Amount(
        required=True,
        allow_none=True,
        metadata={
            "description": "Stored USD value; else value × the latest native price; null without a price."
        },
    )
    currency = fields.String(required=True, metadata={"description": "Native currency of the chain."})
    token_amount = Amount(required=True, metadata={"description": "Quantity traded, in whole tokens."})
    price_per_token = Amount(required=True, metadata={"description": "value / token_amount."})
    price_per_token_usd = Amount(
        required=True,
        allow_none=True,
        metadata={"description": "USD value / token_amount; null where value_usd is."},
    )
    created_at = Moment(required=True, metadata={"description": "Time of the trade."})
    profile = Rows(ProfileSchema, required=True, metadata={"description": "The wallet that traded."})
    holdings_after = Rows(
        HoldingSchema, required=True, metadata={"description": "Its holding of the token after this trade."}
    )


class FeedTransactionSchema(TokenTransactionSchema):
    """One trade of a feed of several tokens."""

    mint = fields.String(required=True, metadata={"description": "The token."})
    token_name = fields.String(required=True, metadata={"description": "Name of the token; may be empty."})
    token_supply = Amount(required=True, allow_none=True, metadata={"description": _NO_SOURCE})
    token_decimals = fields.Integer(required=True, allow_none=True, metadata={"description": _NO_SOURCE})


class TokenBlockSchema(Shape):
    """What is known of a token."""

    blockchain = fields.String(required=True, metadata={"description": "The chain of the token."})
    currency = fields.String(required=True, metadata={"description": "Native currency of the chain."})
    mint = fields.String(required=True, metadata={"description": "The token, in its stored form."})
    token_name = fields.String(
        required=True, metadata={"description": "Name in the newest trade that has one; else empty."}
    )
    token_supply = Amount(required=True, allow_none=True, metadata={"description": _NO_SOURCE})
    token_decimals = fields.Integer(required=True, allow_none=True, metadata={"description": _NO_SOURCE})
    price = Amount(required=True, allow_none=True, metadata={"description": _PRICE})
    price_usd = Amount(required=True, allow_none=True, metadata={"description": _PRICE_USD})
    price_at = Moment(required=True, allow_none=True, metadata={"description": _PRICE_AT})
    market_cap = Amount(required=True, allow_none=True, metadata={"description": _NO_SOURCE})
    market_cap_usd = Amount(required=True, allow_none=True, metadata={"description": _NO_SOURCE})
    market_cap_currency = fields.String(required=True, allow_none=True, metadata={"description": _NO_SOURCE})
    sol_price_usd = Amount(
        required=True,
        allow_none=True,
        metadata={"description": "Latest price of SOL on solana, null if unknown and on other chains."},
    )
    pool = fields.String(required=True, allow_none=True, metadata={"description": _NO_SOURCE})
    on_curve = fields.Boolean(required=True, allow_none=True, metadata={"description": _NO_SOURCE})
    bonding_curve_progress = Amount(required=True, allow_none=True, metadata={"description": _NO_SOURCE})


class _FeedSchema(Shape):
    """What both feeds have in common."""

    blockchain = fields.String(required=True, metadata={"description": "Requested chain."})
    type = fields.String(required=True, metadata={"description": "Requested wallet category."})
    currency = fields.String(required=True, metadata={"description": "Native currency of the chain."})
    count = fields.Integer(required=True, metadata={"description": "Number of trades in this response."})
    transactions = Rows(
        FeedTransactionSchema, many=True, required=True, metadata={"description": "Newest first."}
    )
    mint = fields.String(metadata={"description": "Requested token; absent without one."})
    token = fields.Nested(
        TokenBlockSchema, metadata={"description": "Present with `mint`, if a tracked wallet ever traded it."}
    )
    warnings = fields.List(fields.String(), metadata={"description": "What was capped; absent if nothing."})


class LatestSchema(_FeedSchema):
    """The data of GET /v1/transactions/latest."""

    mode = fields.String(required=True, metadata={"enum": ["latest"], "description": "Always `latest`."})
    pagination = fields.Nested(
        CountedPaginationSchema,
        required=True,
        metadata={"description": "The same object also stands beside `data`."},
    )


class TimerangeSchema(_FeedSchema):
    """The data of GET /v1/transactions/timerange."""

    mode = fields.String(
        required=True, metadata={"enum": ["timerange"], "description": "Always `timerange`."}
    )
    total = fields.Integer(required=True, metadata={"description": "Number of trades in the window."})
    time_window_seconds = fields.Integer(
        required=True, metadata={"description": "Effective window, after capping at 3600."}
    )
