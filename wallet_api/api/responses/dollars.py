"""How old the native prices are on which dollars rest, and what responses say of it."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from flask import Flask
from marshmallow import Schema, fields

from wallet_api.api.schemas.fields import inner_field
from wallet_api.base.cache import Cache
from wallet_api.base.chains import CHAINS
from wallet_api.base.times import read_time, shown_time
from wallet_api.database import Database, Row
from wallet_api.queries.native_price import read_coins

_EXTENSION = "wallet_api.native_prices"
_KEPT_SECONDS = 1.0


class NativePrices:
    """The ages of the native prices of one app, at most a second old."""

    def __init__(self, database: Database, max_age_seconds: float) -> None:
        self._database = database
        self._max_age = timedelta(seconds=max_age_seconds)
        self._coins: Cache[list[Row]] = Cache(_KEPT_SECONDS, serve_stale=True)

    def state(self) -> str:
        """Return ok, stale, or none if no coin of tracked wallets has a price. Raises DatabaseUnavailable."""
        now = datetime.now(UTC)
        priced = [
            coin["priced_at"] for coin in self._read() if coin["is_tracked"] and coin["priced_at"] is not None
        ]
        if any(now - priced_at > self._max_age for priced_at in priced):
            return "stale"
        return "ok" if priced else "none"

    def warnings(self, arguments: Mapping[str, Any], data: Mapping[str, Any]) -> list[str]:
        """Return what is to be said of the prices behind the data of a request with these arguments."""
        chain = CHAINS.get(arguments.get("blockchain", ""))
        if "as_of" in arguments and chain is not None:
            priced_at = data["native_price_at"]
            prices: list[tuple[str, datetime]] = (
                [] if priced_at is None else [(chain.currency, read_time(priced_at))]
            )
        else:
            prices = [
                (coin["currency"], coin["priced_at"])
                for coin in self._read()
                if coin["priced_at"] is not None
                and (coin["is_tracked"] if chain is None else coin["currency"] == chain.currency)
            ]
        at = arguments.get("as_of") or datetime.now(UTC)
        return [
            f"The latest price of {currency} is of {shown_time(priced_at)}: dollars by it are as old."
            for currency, priced_at in prices
            if at - priced_at > self._max_age
        ]

    def _read(self) -> list[Row]:
        return self._coins.get(None, self._read_again).value

    def _read_again(self) -> list[Row]:
        with self._database.read() as connection:
            return read_coins(connection, datetime.now(UTC))


def init_app(app: Flask, database: Database, max_age_seconds: float) -> None:
    """Let the responses of `app` warn of dollars that rest on an older price of the native coin."""
    app.extensions[_EXTENSION] = NativePrices(database, max_age_seconds)


def native_prices(app: Flask) -> NativePrices:
    """Return the ages of the native prices of an app."""
    prices: NativePrices = app.extensions[_EXTENSION]
    return prices


@cache
def has_dollars(kind: type[Schema]) -> bool:
    """Return whether the data of this schema has a figure in dollars."""
    parts = {name: inner_field(field) for name, field in kind().fields.items()}
    return any(
        name.endswith("usd") or (isinstance(part, fields.Nested) and has_dollars(type(part.schema)))
        for name, part in parts.items()
    )
