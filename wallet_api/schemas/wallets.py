"""The schemas of the list of tracked wallets."""

from wallet_api.schemas.arguments import FormatMixin, GroupArguments
from wallet_api.schemas.fields import Boolean, GroupShape, Integer, Rows, Shape, String, Text, WholeNumber

PAGE = "Size of the page, and the cursor of the next one."


class PagedArguments(FormatMixin, GroupArguments):
    """A group of wallets, and the page to return."""

    limit = WholeNumber(1, "Wallets per page; all by default.")
    cursor = Text("`pagination.next_cursor` of the page before.")


class WalletsArguments(PagedArguments):
    """The arguments of GET /v1/wallets. Without `limit` all wallets come in one response."""


class HistoryProfileSchema(Shape):
    """A tracked wallet's public profile as its history shows it. Unset texts are empty."""

    wallet_address = String("The address of the wallet.")
    name = String("Display name.")
    image_url = String("URL of the avatar.")
    twitter = String("URL of the profile on X.")
    telegram = String("URL of the channel on Telegram.")
    blockchain = String("The chain of the wallet.")
    type = String("The category of the wallet.")
    currency = String("Code of the chain's native coin.")


class ProfileSchema(HistoryProfileSchema):
    """A tracked wallet's public profile, as the operator imported it. Unset texts are empty."""

    copytrade_link = String("Link to copy its trades.")


class PaginationSchema(Shape):
    """Where the page stands among all rows."""

    limit = Integer("Rows per page; the total if there is one page.")
    next_cursor = String(
        "`cursor` of the next page; null on the last one, never with `after`.", nullable=True
    )
    has_more = Boolean("Whether there is a next page.")
    total = Integer(
        "Rows on all pages; absent in histories, leaderboards, feeds with filters, and with `after`.",
        optional=True,
    )


class WalletsSchema(GroupShape):
    """The data of GET /v1/wallets, by address, byte-wise."""

    pagination = Rows(PaginationSchema, PAGE)
    wallets = Rows(ProfileSchema, "The wallets of this page, by address.", many=True)
