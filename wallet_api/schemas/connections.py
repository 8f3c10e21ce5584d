"""The shapes of a wallet's connections."""

from marshmallow import fields

from wallet_api.schemas.arguments import AddressMixin, ChainArguments
from wallet_api.schemas.fields import Amount, Moment, Rows, Shape, WholeNumber
from wallet_api.schemas.wallets import ProfileSchema


class ConnectionsArguments(AddressMixin, ChainArguments):
    """The arguments of GET /v1/wallets/connections. Without `limit` all connections are returned."""

    limit = WholeNumber(1, metadata={"description": "Most connections to return."})


class SharedTokenSchema(Shape):
    """A token that both wallets traded."""

    mint = fields.String(required=True, metadata={"description": "The token's address."})
    token_name = fields.String(required=True, metadata={"description": "Its name; may be empty."})


class ConnectionSchema(Shape):
    """Another tracked wallet of the chain, and what both wallets traded in the period."""

    wallet_address = fields.String(required=True, metadata={"description": "The other wallet's address."})
    profile = fields.Nested(
        ProfileSchema, required=True, metadata={"description": "The other wallet's public profile."}
    )
    shared_tokens_count = fields.Integer(
        required=True, metadata={"description": "Number of tokens that both wallets traded."}
    )
    overlap_score = Amount(
        required=True,
        metadata={"description": "The share of the requested wallet's tokens, 0 to 1, with 4 decimals."},
    )
    shared_tokens = fields.List(
        fields.Nested(SharedTokenSchema),
        required=True,
        metadata={
            "description": "At most 50 of the tokens, by the other wallet's last trade in each, newest first."
        },
    )
    last_shared_at = Moment(
        required=True, metadata={"description": "The other wallet's last trade in any of the tokens."}
    )


class ConnectionsSchema(Shape):
    """The data of GET /v1/wallets/connections, by number of shared tokens descending, then by address."""

    wallet_address = fields.String(required=True, metadata={"description": "The requested wallet."})
    blockchain = fields.String(required=True, metadata={"description": "Its chain."})
    type = fields.String(required=True, metadata={"description": "Its category."})
    period = fields.String(
        required=True, metadata={"enum": ["30d"], "description": "In which both wallets traded the tokens."}
    )
    token_count = fields.Integer(
        required=True, metadata={"description": "Number of tokens that the wallet traded in the period."}
    )
    total = fields.Integer(required=True, metadata={"description": "Number of connections without `limit`."})
    connections = Rows(
        ConnectionSchema, many=True, required=True, metadata={"description": "The other wallets."}
    )
