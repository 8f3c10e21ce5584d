"""The gate: checks the key and the rate limit before a view, charges after it, and adds the headers."""

import logging
from collections.abc import Callable

from flask import Flask, Response
from prometheus_client import CollectorRegistry

from wallet_api.api.access.credits import Credits
from wallet_api.api.access.current import KEY_NAME, ApiRequest, current_request
from wallet_api.api.access.keyring import ApiKey, KeyRing
from wallet_api.api.access.limits import KeyLimiter
from wallet_api.api.access.scopes import check_operation
from wallet_api.api.access.use import Use
from wallet_api.api.keys import bearer_key, may_contain_key
from wallet_api.base.bulkhead import Bulkhead
from wallet_api.base.errors import ApiError, Forbidden, InvalidParameter, ServiceUnavailable, Unauthorized
from wallet_api.base.recurring import Recurring
from wallet_api.base.times import shown_time
from wallet_api.database import Database, NotPermitted
from wallet_api.settings import Settings

log = logging.getLogger(__name__)

_FORGET_SECONDS = 5.0

# How an error becomes a response.
Refuse = Callable[[ApiError], Response]


class Gate:
    """Enforce the keys, limits and credits of one app."""

    def __init__(
        self,
        database: Database,
        bulkhead: Bulkhead,
        registry: CollectorRegistry,
        settings: Settings,
    ) -> None:
        self.keys = KeyRing(database, bulkhead, settings.default_rate, settings.key_cache_seconds)
        self.limits = KeyLimiter(settings.valkey_url)
        self.credits = Credits(database, bulkhead, settings, self.limits.windows, registry)
        # Twice in that time, so that no key expires while it is used.
        seconds = settings.key_cache_seconds / 2 or _FORGET_SECONDS
        self._refresher = Recurring("keys", self.keys.refresh, seconds, ends_with_success=False)
        self.use = Use(database, bulkhead, registry)

    def init_app(self, app: Flask, refuse: Refuse) -> None:
        """Enforce them in `app`; an error after the view becomes a response by `refuse`."""
        self._refuse = refuse
        app.before_request(self._admit)
        app.after_request(self._charge_and_set_headers)

    def close(self) -> None:
        """Settle all charges, counts and use, while the database is open."""
        self._refresher.close()
        self.credits.close()
        self.use.close()
        self.limits.windows.close()

    def _admit(self) -> None:
        request = current_request()
        # An unknown route or a wrong method gets its own error, with or without a key.
        if request.view is not None and request.view.access in ("keyed", "free"):
            self.admit(request)

    def admit(self, request: ApiRequest) -> None:
        """Count the request of a key. Raises Unauthorized, Forbidden, RateLimited, InvalidParameter.

        A view with an access of its `own` calls it itself.
        """
        parameters = request.args.getlist("api_key") if may_contain_key(request.query_string) else []
        bearer = bearer_key(request.environ.get("HTTP_AUTHORIZATION"))
        if bearer is None:
            _refuse_repeated(parameters)
            if not any(parameters):
                raise Unauthorized(_missing_key(request))
        self._refresher.start()
        key, request.key_expires_at = self.keys.find(bearer or parameters[0])
        request.key = key
        # For the access log, which has no request of Flask.
        request.environ[KEY_NAME] = key.name
        is_within = self.limits.count(key)
        if request.view is not None and request.view.access == "free":
            request.free_of_charge = True
        if not request.free_of_charge:
            check_operation(request.operation, key.row.operations)
            # Only requests within the limit read the balance.
            if not self.credits.may_pay(key, self.credits.cost(request.operation), reads=is_within):
                raise _without_credits(key)
        if not is_within:
            raise self.limits.refusal(key)
        _refuse_repeated(parameters)

    def _charge_and_set_headers(self, response: Response) -> Response:
        request = current_request()
        key = request.key
        if key is None:
            return response
        request.counted_alone = self.limits.windows.away
        costs = response.status_code == 200 and not request.free_of_charge
        if key.unlimited:
            # Counted as of all others.
            request.charged = self.credits.cost(request.operation) if costs else 0
        elif response.status_code < 500:
            response = self._charge(request, key, response, costs=costs)
        self.use.count(key.row.key_id, request.operation, request.charged)
        self.limits.set_headers(key, response.headers)
        return response

    def _charge(self, request: ApiRequest, key: ApiKey, response: Response, *, costs: bool) -> Response:
        is_paid = True
        try:
            if costs:
                cost = self.credits.cost(request.operation)
                is_paid, left = self.credits.charge(key, cost)
                request.charged = cost if is_paid else 0
            else:
                left = self.credits.remaining(key)
        except (ServiceUnavailable, NotPermitted) as error:
            if not costs:
                return response
            reason = f"{error.message} {error.advice}".rstrip()
            cause = str(error.__cause__).partition("\n")[0]
            log.warning("No credit of %r could be charged: %s (%s)", key.name, reason, cause)
            return self._refuse(error)
        if not is_paid:
            response = self._refuse(_without_credits(key))
        if left is not None:
            response.headers.add("X-Credits-Remaining", str(left))
        return response


def _without_credits(key: ApiKey) -> Forbidden:
    renews_at = key.renews_at
    return Forbidden("insufficient_credits", renews_at=None if renews_at is None else shown_time(renews_at))


def _missing_key(request: ApiRequest) -> str | None:
    """Return the message about a key that came in another form; None if there was none."""
    for header in ("Authorization", "X-API-Key"):
        if request.headers.get(header):
            return f"{Unauthorized().message} The header {header} is not in this form."
    return None


def _refuse_repeated(parameters: list[str]) -> None:
    if len(parameters) > 1:
        raise InvalidParameter(
            f"Parameter api_key is given {len(parameters)} times; once is allowed.", parameter="api_key"
        )
