"""The shapes of what a group trades most."""

from marshmallow import fields

from wallet_api.schemas.arguments import GroupArguments
from wallet_api.schemas.fields import Amount, Choice, Rows, Shape, WholeNumber
from wallet_api.schemas.leaderboard import PERIODS

MODES = ("most_traded",)


class AnalyticsArguments(GroupArguments):
    """The arguments of GET /v1/analytics."""

    mode = Choice(MODES, required=True, metadata={"description": "What to return."})
    period = Choice(PERIODS, load_default="7d", metadata={"description": "The period of the figures."})
    limit = WholeNumber(1, load_default=20, metadata={"description": "Tokens shown, at most 1000."})


class TradedTokenSchema(Shape):
    """What the wallets of the group did in a token in the period; values in native currency."""

    mint = fields.String(required=True, metadata={"description": "The token's address."})
    token_name = fields.String(
        required=True, metadata={"description": "Name in the newest trade that has one; else empty."}
    )
    wallet_count = fields.Integer(required=True, metadata={"description": "Wallets that traded it."})
    buy_txn = fields.Integer(required=True, metadata={"description": "Number of buys."})
    sell_txn = fields.Integer(required=True, metadata={"description": "Number of sells."})
    total_txn = fields.Integer(required=True, metadata={"description": "Number of trades."})
    volume = Amount(required=True, metadata={"description": "Value of buys and sells."})
    volume_usd = Amount(
        metadata={"description": "The same in USD; absent if none of the trades has a USD value."}
    )
    realized_pnl = Amount(
        required=True, metadata={"description": "What the sells realized, by weighted-average cost."}
    )
    price = Amount(
        required=True,
        allow_none=True,
        metadata={
            "description": "Price of the token, of any wallet's newest trade; null if that is too old."
        },
    )


class AnalyticsSchema(Shape):
    """The data of GET /v1/analytics."""

    blockchain = fields.String(required=True, metadata={"description": "Requested chain."})
    type = fields.String(required=True, metadata={"description": "Requested wallet category."})
    currency = fields.String(required=True, metadata={"description": "Native currency of the chain."})
    mode = fields.String(required=True, metadata={"enum": list(MODES), "description": "Requested mode."})
    period = fields.String(required=True, metadata={"enum": list(PERIODS), "description": "The period."})
    tokens = Rows(
        TradedTokenSchema,
        many=True,
        required=True,
        metadata={"description": "By number of wallets, then by volume, the largest first, then by mint."},
    )
    warnings = fields.List(fields.String(), metadata={"description": "What was capped; absent if nothing."})
