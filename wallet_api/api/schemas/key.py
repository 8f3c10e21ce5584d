"""The schemas of the state of an API key."""

from marshmallow import fields

from wallet_api.api.schemas.fields import ByName, Integer, Moment, Rows, String, Strings
from wallet_api.api.schemas.shapes import Shape


class RateSchema(Shape):
    """The rate limit of the key, and what is left of it."""

    limit = Integer("Requests per window.")
    window_seconds = Integer("Length of a window.")
    remaining = Integer("Requests left in this window.")
    reset_at = Moment("When the window ends.")


class CreditsSchema(Shape):
    """The credits of the key."""

    left = Integer("Credits left; null without a limit.", nullable=True)
    cost = Integer("What a request costs, unless its operation is in `costs`.")
    costs = ByName(fields.Integer(), "What others cost, by `operationId`.")
    monthly = Integer(
        "Its balance at the first charge of each month (UTC); absent without one.", optional=True
    )
    renews_at = Moment("When the next month begins; absent without `monthly`.", optional=True)


class ScopeSchema(Shape):
    """What the key is bound to: all else is a 403, `out_of_scope`."""

    chains = Strings("Chains; null for any.", nullable=True)
    types = Strings("Types of wallets; null for any.", nullable=True)
    operations = Strings("Operations, by `operationId`, beside this one; null for any.", nullable=True)


class UseSchema(Shape):
    """What the key was used for."""

    requests = Integer("Requests, whatever the response.")
    credits = Integer("Credits that they cost, or would cost with a limit.")


class OperationUseSchema(UseSchema):
    """What the key was used for in one operation."""

    operation = String("Its `operationId`.")


class UsedSchema(Shape):
    """What the key was used for. It lacks the last 10 seconds."""

    today = Rows(UseSchema, "Since 00:00 UTC.")
    month = Rows(UseSchema, "Since the first of the month, UTC.")
    by_operation = Rows(OperationUseSchema, "That of the month, the most requested first.", many=True)


class KeySchema(Shape):
    """The data of GET /v1/key."""

    name = String("Name of the key.")
    created_at = Moment("When the key was created.")
    expires_at = Moment("When this secret expires; null if never.", nullable=True)
    rate = Rows(RateSchema, "Its rate limit.")
    credits = Rows(CreditsSchema, "Its credits.")
    scope = Rows(ScopeSchema, "What it is bound to.")
    used = Rows(UsedSchema, "Its use.")
