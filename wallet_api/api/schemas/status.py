"""The schemas of what the service reports of itself, and of an API key."""

from marshmallow import fields

from wallet_api.api.schemas.arguments import Arguments
from wallet_api.api.schemas.fields import ByName, Integer, Moment, Rows, String, Strings
from wallet_api.api.schemas.shapes import Shape

STATES = ("connected", "error", "none")
SERVICE_STATES = ("ok", "degraded")
PRICE_STATES = ("ok", "stale", "none")


class StatusArguments(Arguments):
    """The arguments of GET /v1/meta and /v1/health: none. A key that is sent along is ignored."""

    class Meta(Arguments.Meta):
        exclude = ("amounts",)


class LimitsSchema(Shape):
    """What a request may contain at most."""

    max_limit = Integer(
        "Largest `limit`, but of search, and of wallets, holdings, connections and leaderboards, which have"
        " none."
    )
    batch_max_mints = Integer("Most tokens in a `mint` that can have several.")
    batch_max_addresses = Integer("Most wallets in an `address` that can have several.")
    signals_max_hours = Integer("Longest window of signals, in hours.")
    timerange_max_seconds = Integer("Longest window of transactions/timerange, in seconds.")
    volume_max_seconds = Integer("Longest window of transactions/volume and /count, in seconds.")


class ServedSchema(Shape):
    """An operation that is served."""

    path = String("Its path.")
    parameters = Strings("Its arguments, without `api_key`.")
    periods = Strings("Values of its `period`; absent without one.", optional=True)


class ServiceMetaSchema(Shape):
    """The body of GET /v1/meta."""

    chains = Strings("Values of `blockchain`.")
    wallet_types = Strings("Values of `type`.")
    periods = Strings("Values of `period`, the shortest first; each operation has some of them.")
    formats = Strings("Values of `format`, of the operations that have it.")
    amounts = Strings("Values of `amounts`.")
    currencies = ByName(fields.String(), "Native currency by chain.")
    wallet_counts = ByName(
        fields.Dict(fields.String(), fields.Integer()),
        "Number of tracked wallets by chain and type; at most 10 seconds old.",
    )
    limits = Rows(LimitsSchema, "What a request may contain at most.")
    operations = Rows(ServedSchema, "All operations.", many=True)


class ComponentsSchema(Shape):
    """The servers that the service needs."""

    postgresql = String("The database that responses are read from.", enum=STATES)
    primary = String("The database that is written to, also if it is the same.", enum=STATES)
    valkey = String("Store of rate limits; none if not configured.", enum=STATES)
    prices = String(
        "Prices of the native coins of chains with wallets: stale if one is too old, none if there are none.",
        enum=PRICE_STATES,
    )
    websockets = ByName(fields.Raw(), "Always empty: there are none.")


class ServiceHealthSchema(Shape):
    """The body of GET /v1/health."""

    status = String("degraded: a component has an error, or prices are stale.", enum=SERVICE_STATES)
    version = String("Version of the API.")
    components = Rows(ComponentsSchema, "State of each server.")
    reasons = ByName(fields.String(), "Why, by component: away, read-only, or stale.")
    latency_ms = fields.Float(
        metadata={"description": "Round trip to postgresql, in milliseconds; absent while it is away."}
    )


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
