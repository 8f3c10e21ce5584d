"""The shapes of a wallet's holdings."""

from marshmallow import fields

from wallet_api.schemas.arguments import AddressMixin, ChainArguments
from wallet_api.schemas.fields import Moment, Rows, Shape


class HoldingsArguments(AddressMixin, ChainArguments):
    """The arguments of GET /v1/wallets/holdings."""


class TokenBalanceSchema(Shape):
    """The balance of one token."""

    token_address = fields.String(
        required=True, metadata={"description": "The contract or mint; `native` for the chain's own coin."}
    )
    token_name = fields.String(required=True, metadata={"description": "May be empty."})
    symbol = fields.String(required=True, metadata={"description": "Ticker of the token; may be empty."})
    amount = fields.String(required=True, metadata={"description": "In the smallest unit, exact."})
    amount_formatted = fields.String(required=True, metadata={"description": "In whole tokens, exact."})
    decimals = fields.Integer(
        required=True, metadata={"description": "10 to the power of this many smallest units are one token."}
    )
    verified_contract = fields.Boolean(
        required=True,
        metadata={"description": "Whether the provider lists the token; meaningful on EVM chains."},
    )


class ActiveHoldingsSchema(Shape):
    """A wallet's balances, the native coin first, then by amount; empty while `loading`."""

    tokens = Rows(
        TokenBalanceSchema,
        many=True,
        required=True,
        metadata={"description": "One row for each token with a balance."},
    )
    count = fields.Integer(required=True, metadata={"description": "How many rows `tokens` has."})
    last_updated = Moment(
        required=True,
        allow_none=True,
        metadata={"description": "When the balances were fetched; null while `loading`."},
    )
    stale = fields.Boolean(
        required=True, metadata={"description": "Older than the cache holds balances for fresh."}
    )
    loading = fields.Boolean(required=True, metadata={"description": "True: call again shortly."})


class HoldingsSchema(Shape):
    """The data of GET /v1/wallets/holdings."""

    active_holdings = fields.Nested(
        ActiveHoldingsSchema, required=True, metadata={"description": "The balances, and how old they are."}
    )
