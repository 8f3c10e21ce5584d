"""The schemas of a wallet's connections."""

from wallet_api.api.schemas import figures
from wallet_api.api.schemas.argument_fields import WholeNumber
from wallet_api.api.schemas.arguments import FormatMixin, WalletArguments
from wallet_api.api.schemas.fields import Integer, Measure, Moment, Rows, String
from wallet_api.api.schemas.paging import PAGINATION, CursorMixin
from wallet_api.api.schemas.shapes import Shape
from wallet_api.api.schemas.token_fields import TokenNamesSchema
from wallet_api.api.schemas.wallets import ProfileSchema


class ConnectionsArguments(CursorMixin, FormatMixin, WalletArguments):
    """The arguments of GET /v1/wallets/connections. Without `limit` all connections are returned."""

    takes_scope = True

    limit = WholeNumber(1, "Rows per page; all by default.")


class SharedTokenSchema(TokenNamesSchema):
    """A token that both wallets traded."""


class ConnectionSchema(Shape):
    """Another tracked wallet of the chain, and what both wallets traded in the period."""

    wallet_address = String("The other wallet's address.")
    profile = Rows(ProfileSchema, "The wallet.")
    shared_tokens_count = Integer("Tokens that both wallets traded.")
    overlap_score = Measure("`shared_tokens_count` / `token_count`, 0 to 1.")
    shared_tokens = Rows(
        SharedTokenSchema,
        "At most 50, by the other wallet's last trade, newest first.",
        many=True,
    )
    last_shared_at = Moment("The other wallet's last trade in one of them.")


class ConnectionsSchema(Shape):
    """The data of GET /v1/wallets/connections, by number of shared tokens descending, then by address."""

    wallet_address = String("The requested wallet.")
    blockchain = figures.CHAIN
    type = figures.TYPE
    period = String("The period of the trades.", enum=["30d"])
    token_count = Integer("Tokens that the wallet traded in the period.")
    total = figures.TOTAL
    connections = Rows(
        ConnectionSchema,
        "The other wallets, most `shared_tokens_count` first.",
        many=True,
    )
    pagination = PAGINATION
    warnings = figures.CUT
