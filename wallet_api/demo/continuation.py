"""The trades of a world's wallets after its end, so that a demo stays current."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache

from wallet_api.demo.balances import Portfolio
from wallet_api.demo.forms import time_text
from wallet_api.demo.world import DAYS, SEED, TRADES, WALLETS, Row, World

_DAY = timedelta(days=1)


class Continuation:
    """The days after a world: each is a small world of the same wallets, with tokens of its own.

    A day depends only on its number and on the end of the world, so a later day changes no earlier row.
    """

    def __init__(
        self,
        end: datetime,
        *,
        wallets: int = WALLETS,
        trades: int = TRADES,
        days: int = DAYS,
        seed: int = SEED,
    ) -> None:
        self._end = end
        self._wallets = wallets
        self._trades = max(trades // days, 1)
        self._seed = seed
        self._world = World(end, wallets=wallets, trades=trades, days=days, seed=seed)
        self._day = lru_cache(maxsize=None)(self._make_day)

    def price_rows(self, after: datetime, until: datetime) -> Iterator[Row]:
        """Yield the rows of a prices file with after < priced_at <= until."""
        for day in self._days(after, until):
            yield from _within(day.price_rows(), "priced_at", after, until)

    def trade_rows(self, after: datetime, until: datetime) -> Iterator[Row]:
        """Yield the rows of a trades file with after < created_at <= until, in order of time."""
        for day in self._days(after, until):
            yield from _within(day.trade_rows(), "created_at", after, until)

    def portfolio(self, chain: str, address: str, moment: datetime) -> Portfolio:
        """Return the balances of a wallet at `moment`."""
        own = self._world.portfolio(chain, address)
        later = [
            balance
            for day in self._days(self._end, moment)
            for balance in day.balances_at(chain, address, moment)
        ]
        return replace(own, tokens=(*own.tokens, *later))

    def _days(self, after: datetime, until: datetime) -> Iterator[World]:
        for number in range((after - self._end) // _DAY, (until - self._end) // _DAY + 1):
            if number >= 0:
                yield self._day(number)

    def _make_day(self, number: int) -> World:
        end = self._end + (number + 1) * _DAY
        return World(
            end,
            wallets=self._wallets,
            trades=self._trades,
            days=1,
            seed=self._seed,
            # The time is part of the seed, so that a world with another end moves none of these trades.
            part=f"until {time_text(int(end.timestamp()))}",
        )


def _within(rows: Iterator[Row], field: str, after: datetime, until: datetime) -> Iterator[Row]:
    # Texts of this form sort by time.
    first, last = time_text(int(after.timestamp())), time_text(int(until.timestamp()))
    return (row for row in rows if first < row[field] <= last)
