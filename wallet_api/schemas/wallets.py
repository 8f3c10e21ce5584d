"""The shapes of the list of tracked wallets."""

from marshmallow import fields

from wallet_api.schemas.arguments import GroupArguments
from wallet_api.schemas.fields import Rows, Shape, WholeNumber


class PagedArguments(GroupArguments):
    """A group of wallets, and the page of the answer."""

    limit = WholeNumber(1, metadata={"description": "Rows a page."})
    cursor = fields.String(metadata={"description": "pagination.next_cursor of the page before."})


class WalletsArguments(PagedArguments):
    """The arguments of GET /v1/wallets. Without `limit` all wallets come in one response."""


class HistoryProfileSchema(Shape):
    """A tracked wallet's public profile as its history shows it. Unset texts are empty."""

    wallet_address = fields.String(required=True, metadata={"description": "The address of the wallet."})
    name = fields.String(required=True, metadata={"description": "Display name."})
    image_url = fields.String(required=True, metadata={"description": "URL of the avatar."})
    twitter = fields.String(required=True, metadata={"description": "URL of the profile on X."})
    telegram = fields.String(required=True, metadata={"description": "URL of the channel on Telegram."})
    blockchain = fields.String(required=True, metadata={"description": "The chain of the wallet."})
    type = fields.String(required=True, metadata={"description": "The category of the wallet."})
    currency = fields.String(required=True, metadata={"description": "The chain's native currency."})


class ProfileSchema(HistoryProfileSchema):
    """A tracked wallet's public profile. Unset texts are empty."""

    copytrade_link = fields.String(required=True, metadata={"description": "Link to copy its trades."})


class PaginationSchema(Shape):
    """Where the page stands. `next_cursor` is null at the end."""

    limit = fields.Integer(required=True, metadata={"description": "Rows a page, as requested or capped."})
    next_cursor = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "`cursor` of the next page; null on the last one."},
    )
    has_more = fields.Boolean(required=True, metadata={"description": "Whether there is a next page."})


class CountedPaginationSchema(PaginationSchema):
    """The same, with the number of all rows."""

    total = fields.Integer(required=True, metadata={"description": "Number of all rows, on all pages."})


class WalletsSchema(Shape):
    """The data of GET /v1/wallets, by address, byte-wise."""

    blockchain = fields.String(required=True, metadata={"description": "Requested chain."})
    type = fields.String(required=True, metadata={"description": "Requested wallet category."})
    currency = fields.String(required=True, metadata={"description": "Native currency of the chain."})
    pagination = fields.Nested(
        CountedPaginationSchema, required=True, metadata={"description": "The place of this page."}
    )
    wallets = Rows(
        ProfileSchema, many=True, required=True, metadata={"description": "The wallets of this page."}
    )
