"""The gate: checks the key and the rate limit before a view, charges after it, and adds the headers."""

import logging
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from flask import Flask, Response
from prometheus_client import CollectorRegistry

from wallet_api.access.credits import Credits
from wallet_api.access.current import Call, current_call
from wallet_api.access.keyring import ApiKey, KeyRing, bearer_key, may_hold_key
from wallet_api.access.limits import KeyLimiter
from wallet_api.database import Database, NotPermitted
from wallet_api.errors import ApiError, Forbidden, InvalidParameter, ServiceUnavailable, Unauthorized
from wallet_api.recurring import Recurring
from wallet_api.settings import Settings

log = logging.getLogger(__name__)

_KEYLESS = "wallet_api_keyless"
_FORGET_SECONDS = 5.0
_NO_CREDITS = "This API key has no credits left."

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
# How an error becomes a response.
Refuse = Callable[[ApiError], Response]


def keyless(view: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Decorate a view that needs no key, and has no limit and no cost."""
    setattr(view, _KEYLESS, True)
    return view


def free_of_charge() -> None:
    """Charge nothing for the current request."""
    current_call().free_of_charge = True


class Gate:
    """Enforce the keys, limits and credits of one app."""

    def __init__(
        self, app: Flask, settings: Settings, database: Database, refuse: Refuse, registry: CollectorRegistry
    ) -> None:
        self.keys = KeyRing(
            database,
            settings.default_rate,
            settings.key_cache_seconds,
            reads_primary=settings.database_read_url is None,
        )
        self.limits = KeyLimiter(app, settings.valkey_url)
        self.credits = Credits(database, settings.credit_cost, self.limits.windows, registry)
        # Twice in that time, so that no key expires while it is used.
        seconds = settings.key_cache_seconds / 2 or _FORGET_SECONDS
        self._refresher = Recurring("keys", self._refresh, seconds, ends_with_success=False)
        self._app = app
        self._cost = settings.credit_cost
        self._refuse = refuse
        app.before_request(self._admit)
        app.after_request(self._charge_and_set_headers)

    def close(self) -> None:
        """Settle all charges and counts, while the database is open."""
        self._refresher.close()
        self.credits.close()
        self.limits.windows.close()

    def _refresh(self) -> None:
        for keys in self.keys.refresh():
            limited = [key for key in keys if not key.unlimited]
            if limited and not self.keys.reads_primary:
                self.credits.read(limited)

    def _admit(self) -> None:
        call = current_call()
        # An unknown route or a wrong method gets its own error, with or without a key.
        if call.routing_exception is not None or is_keyless(self._app, call.endpoint):
            return
        parameters = call.args.getlist("api_key") if may_hold_key(call.query_string) else []
        bearer = bearer_key(call.environ.get("HTTP_AUTHORIZATION"))
        if bearer is None:
            _refuse_repeated(parameters)
            if not any(parameters):
                raise Unauthorized(reason="missing_api_key")
        self._refresher.start()
        key = self.keys.find(bearer or parameters[0])
        call.key = key
        self.limits.count(key)
        _refuse_repeated(parameters)

    def _charge_and_set_headers(self, response: Response) -> Response:
        call = current_call()
        key = call.key
        if key is None:
            return response
        call.counted_alone = self.limits.windows.away
        left = None
        if not key.unlimited:
            costs = response.status_code == 200 and not call.free_of_charge
            if costs and call.method != "HEAD":
                response, left = self._charge(call, key, response)
            elif response.status_code < 500:
                left = self._left(key)
                # HEAD and 304 are free, but only for a key that could pay.
                if (costs or response.status_code == 304) and left is not None and left < self._cost:
                    response = self._refuse(Forbidden(_NO_CREDITS, reason="insufficient_credits"))
        if left is not None:
            response.headers.add("X-Credits-Remaining", str(left))
        self.limits.set_headers(key, response.headers)
        return response

    def _charge(self, call: Call, key: ApiKey, response: Response) -> tuple[Response, int | None]:
        try:
            left = self.credits.charge(key)
        except Forbidden as error:
            return self._refuse(error), self._left(key)
        except (ServiceUnavailable, NotPermitted) as error:
            reason = f"{error.message} {error.advice}".rstrip()
            log.warning("No credit of %r could be charged: %s", key.name, reason, exc_info=error.__cause__)
            # The balance cannot be read either.
            return self._refuse(error), None
        call.charged = 0 if key.unlimited else self._cost
        return response, left

    def _left(self, key: ApiKey) -> int | None:
        try:
            return self.credits.left(key)
        except (ServiceUnavailable, NotPermitted):
            return None


def is_keyless(app: Flask, endpoint: str | None) -> bool:
    """Return whether the endpoint needs no key."""
    return getattr(app.view_functions.get(endpoint or ""), _KEYLESS, False)


def _refuse_repeated(parameters: list[str]) -> None:
    if len(parameters) > 1:
        raise InvalidParameter(
            f"Parameter api_key is given {len(parameters)} times; once is allowed.", parameter="api_key"
        )
