"""The schemas of the state of an API key."""

from wallet_api.schemas.arguments import Arguments
from wallet_api.schemas.fields import Integer, Moment, Rows, String
from wallet_api.schemas.shapes import Shape


class KeyArguments(Arguments):
    """GET /v1/key has no arguments."""


class RateSchema(Shape):
    """The rate limit of the key, and what is left of it."""

    limit = Integer("Requests per window.")
    window_seconds = Integer("Length of a window.")
    remaining = Integer("Requests left in this window.")
    reset_at = Moment("When the window ends.")


class CreditsSchema(Shape):
    """The credits of the key."""

    left = Integer("Credits left; null without a limit.", nullable=True)
    cost = Integer("What a request costs.")


class UseSchema(Shape):
    """What the key was used for."""

    requests = Integer("Requests, whatever the response.")
    credits = Integer("Credits that they cost; those of a key without a limit would have cost.")


class OperationUseSchema(UseSchema):
    """What the key was used for in one operation."""

    operation = String("The `operationId` of the OpenAPI document.")


class UsedSchema(Shape):
    """What the key was used for. It lacks the last 10 seconds."""

    today = Rows(UseSchema, "Since 00:00 UTC.")
    month = Rows(UseSchema, "Since the first of the month, UTC.")
    by_operation = Rows(OperationUseSchema, "Those of the month, the most requested first.", many=True)


class KeySchema(Shape):
    """The data of GET /v1/key."""

    name = String("Name of the key.")
    created_at = Moment("When the key was created.")
    expires_at = Moment("When this secret expires; null if never.", nullable=True)
    rate = Rows(RateSchema, "Its rate limit.")
    credits = Rows(CreditsSchema, "Its credits.")
    used = Rows(UsedSchema, "Its use.")
