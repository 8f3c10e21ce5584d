"""The schemas of the list of tracked wallets."""

from wallet_api.api.schemas import figures
from wallet_api.api.schemas.fields import Rows, String
from wallet_api.api.schemas.paging import PAGINATION
from wallet_api.api.schemas.shapes import Shape

HISTORY_SINCE = (
    "Since when a sync has read all its trades: longer periods may lack some; absent if all were imported."
)
HISTORY_UNTIL = "Until when a sync has read its trades; absent if up to an hour ago, or if none has."


class PublicProfileSchema(Shape):
    """A tracked wallet's public profile. Unset texts are empty."""

    wallet_address = figures.WALLET
    name = String("Display name.")
    image_url = String("URL of the avatar.")
    twitter = String("URL of the profile on X.")
    telegram = String("URL of the channel on Telegram.")
    blockchain = String("The chain of the wallet.")
    type = String("The category of the wallet.")
    currency = figures.CURRENCY


class HistoryProfileSchema(PublicProfileSchema):
    """A tracked wallet's public profile as its history shows it. Unset texts are empty."""

    history_since = String(HISTORY_SINCE, optional=True)
    history_until = String(HISTORY_UNTIL, optional=True)


class ProfileSchema(PublicProfileSchema):
    """A tracked wallet's public profile, as the operator imported it. Unset texts are empty."""

    copytrade_link = String("Link to copy its trades.")


class ListedProfileSchema(ProfileSchema, HistoryProfileSchema):
    """A tracked wallet's public profile, and over what time a sync has read its trades."""


class WalletsSchema(figures.GroupShape):
    """The data of GET /v1/wallets, by address, byte-wise."""

    pagination = PAGINATION
    wallets = Rows(ListedProfileSchema, "The wallets of this page, by address.", many=True)
