"""What the routes and schemas do not say of an operation: its title, examples, and the errors it can meet."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

from marshmallow import Schema, fields

from wallet_api.errors import (
    ApiError,
    Forbidden,
    InvalidParameter,
    MissingParameter,
    NotFound,
    RateLimited,
    ServiceUnavailable,
    Unauthorized,
)
from wallet_api.openapi import examples
from wallet_api.schemas.envelope import SuccessSchema
from wallet_api.schemas.health import HealthSchema, ReadinessSchema
from wallet_api.schemas.history import HistoryArguments, HistorySchema
from wallet_api.schemas.holdings import HoldingsArguments, HoldingsSchema
from wallet_api.schemas.leaderboard import PERIODS, LeaderboardArguments, LeaderboardSchema
from wallet_api.schemas.volume import VolumeArguments, VolumeSchema
from wallet_api.schemas.wallets import WalletsArguments, WalletsSchema


@dataclass(frozen=True)
class Operation:
    """One operation: `examples` are its data by name, `errors` what it refuses beyond what all refuse."""

    tag: str
    summary: str
    data: type[Schema] | None
    arguments: type[Schema] | None = None
    examples: Mapping[str, Any] = field(default_factory=dict)
    errors: Mapping[str, ApiError] = field(default_factory=dict)
    description: str = ""
    # Of an answer without the envelope: what it is.
    content_type: str = "application/json"
    content_kind: str = "object"
    # Whether its answers can be asked for with If-None-Match.
    etag: bool = False

    @cached_property
    def envelope(self) -> type[Schema] | None:
        """The envelope's own schema, with the data of this operation in it."""
        if self.data is None:
            return None
        name = f"{self.data.__name__.removesuffix('Schema')}Response"
        return SuccessSchema.from_dict({"data": fields.Nested(self.data, required=True)}, name=name)


_NO_PAIR = InvalidParameter("Parameter type is 'whale'; allowed: kol.", parameter="type", allowed=["kol"])
_BAD_CURSOR = InvalidParameter("Parameter cursor belongs to another query.", parameter="cursor")
_UNKNOWN = InvalidParameter(
    "Unknown parameter 'wallet'. Allowed: blockchain, address.",
    parameter="wallet",
    allowed=["blockchain", "address"],
)
_NO_ADDRESS = MissingParameter("Parameter address is missing.", parameter="address")
_BAD_ADDRESS = InvalidParameter(
    "Parameter address is not a eth address (0x followed by 40 hexadecimal digits).", parameter="address"
)
_UNTRACKED = NotFound(f"The wallet {examples.ADDRESS} is not tracked on solana.", reason="wallet_not_found")
_NO_WINDOW = InvalidParameter(
    "Parameter seconds must not be 0 when the other parts of the window are 0 or absent.", parameter="seconds"
)
_BAD_PERIOD = InvalidParameter(
    "Parameter period is '1y'; allowed: 6h, 1d, 7d, 30d.", parameter="period", allowed=list(PERIODS)
)
_PROVIDER_AWAY = ServiceUnavailable(
    "The provider of balances cannot answer right now. Try again shortly.", retry_after_seconds=10
)

_NOT_READY = ServiceUnavailable("Not ready: the database cannot be reached.")
_NOT_READY.reason = "database"

_NO_METRICS = Forbidden(
    "Metrics are for the addresses of METRICS_NETWORKS, or with the METRICS_TOKEN as a Bearer token.",
    reason="metrics_not_allowed",
)

_WALLETS = Operation(
    tag="Wallets",
    summary="List tracked wallets",
    arguments=WalletsArguments,
    data=WalletsSchema,
    examples={"page": examples.WALLETS},
    errors={"no_such_pair": _NO_PAIR, "bad_cursor": _BAD_CURSOR},
    etag=True,
)
_HISTORY = Operation(
    tag="Wallets",
    summary="Lifetime record of a wallet",
    arguments=HistoryArguments,
    data=HistorySchema,
    examples={"page": examples.HISTORY},
    errors={
        "address_missing": _NO_ADDRESS,
        "bad_address": _BAD_ADDRESS,
        "bad_cursor": _BAD_CURSOR,
        "not_tracked": _UNTRACKED,
    },
    etag=True,
)
_HOLDINGS = Operation(
    tag="Wallets",
    summary="Live balances of a wallet",
    arguments=HoldingsArguments,
    data=HoldingsSchema,
    examples={"balances": examples.HOLDINGS, "loading": examples.LOADING},
    errors={
        "address_missing": _NO_ADDRESS,
        "bad_address": _BAD_ADDRESS,
        "unknown_parameter": _UNKNOWN,
        "not_tracked": _UNTRACKED,
        "provider_away": _PROVIDER_AWAY,
    },
    description="While `loading` is true nothing is charged; call again shortly.",
    etag=True,
)
_VOLUME = Operation(
    tag="Groups",
    summary="Trading volume of a group",
    arguments=VolumeArguments,
    data=VolumeSchema,
    examples={"a_day": examples.VOLUME, "capped": examples.CAPPED_VOLUME},
    errors={"no_such_pair": _NO_PAIR, "empty_window": _NO_WINDOW},
    description="Without `seconds`, `minutes` and `hours` the window is 24 hours.",
    etag=True,
)
_LEADERBOARD = Operation(
    tag="Groups",
    summary="Ranked wallets of a group",
    arguments=LeaderboardArguments,
    data=LeaderboardSchema,
    examples={"first_page": examples.LEADERBOARD},
    errors={"no_such_pair": _NO_PAIR, "bad_period": _BAD_PERIOD, "bad_cursor": _BAD_CURSOR},
    etag=True,
)

# In the order of the document, by endpoint; None is a page for people.
OPERATIONS: Mapping[str, Operation | None] = MappingProxyType(
    {
        "wallets.wallets": _WALLETS,
        "history.history": _HISTORY,
        "holdings.holdings": _HOLDINGS,
        "volume.volume": _VOLUME,
        "leaderboard.leaderboard": _LEADERBOARD,
        "holdings.holdings_alias": _HOLDINGS,
        "leaderboard.leaderboard_alias": _LEADERBOARD,
        "health.healthz": Operation(
            tag="Service",
            summary="Is the process alive?",
            data=HealthSchema,
            examples={"alive": examples.HEALTH},
        ),
        "health.readyz": Operation(
            tag="Service",
            summary="Can calls be answered?",
            data=ReadinessSchema,
            examples={"ready": examples.READINESS},
            errors={"not_ready": _NOT_READY},
        ),
        "metrics.metrics": Operation(
            tag="Service",
            summary="Counters for Prometheus",
            data=None,
            content_type="text/plain",
            content_kind="string",
            errors={"not_allowed": _NO_METRICS},
            description="Only for METRICS_NETWORKS, or with METRICS_TOKEN as a Bearer token.",
        ),
        "docs.openapi": Operation(tag="Service", summary="This document", data=None, etag=True),
        "docs.page": None,
        "docs.asset": None,
    }
)

# What every operation with a key can answer.
COMMON_ERRORS: Mapping[str, ApiError] = MappingProxyType(
    {
        "chain_missing": InvalidParameter(
            "Parameter blockchain is missing. Allowed: solana, bnb, base, eth.",
            parameter="blockchain",
            allowed=["solana", "bnb", "base", "eth"],
        ),
        "no_key": Unauthorized(reason="missing_api_key"),
        "unknown_key": Forbidden("This API key is not valid.", reason="invalid_api_key"),
        "revoked": Forbidden("This API key has been revoked.", reason="revoked_api_key"),
        "expired": Forbidden("This API key has expired.", reason="expired_api_key"),
        "no_credits": Forbidden("This API key has no credits left.", reason="insufficient_credits"),
        "too_many": RateLimited(
            "This API key may call 300 times per minute. Try again in 17 seconds.", retry_after_seconds=17
        ),
    }
)
