# wallet_api/api/schemas/tracked.py
"""The schemas of the number of tracked wallets."""

from wallet_api.api.schemas.arguments import GroupArguments
from wallet_api.api.schemas.fields import Integer, String
from wallet_api.api.schemas.shapes import Shape


class TrackedArguments(GroupArguments):
    """The arguments of GET /v1/wallets/tracked."""


class TrackedSchema(Shape):
    """The data of GET /v1/wallets/tracked."""

    blockchain = String("Requested chain.")
    type = String("Requested wallet category.")
    count = Integer("The tracked wallets of the group.")
