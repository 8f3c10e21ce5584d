"""The signals of full hours: kept once, with what became of their tokens when that is over."""

import threading
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from wallet_api.chain.providers.prices.quotes import HOUR, hour_of
from wallet_api.database import Connection, load_statements
from wallet_api.database.migrations import hold_tables
from wallet_api.queries.groups import group_parameters
from wallet_api.queries.outcomes import SPANS, TokenMoment, read_outcomes
from wallet_api.queries.signals import LEAST_WALLETS, signal_tokens
from wallet_api.queries.token_price import PriceRule

# Trades of a moment come a little later. None of after an hour changes its signals.
_SETTLED = timedelta(minutes=1)
# Hours that are looked up at once.
_HOURS_TOGETHER = 10_000
_COLUMNS = ("price", "price_at", "source", "change_percent")

_OUTCOMES = load_statements(__package__, "outcomes")


class Outcomes:
    """The rounds that keep the signals of the groups of some chains, by the hour.

    A round keeps the hours that are over: without `since` the newest one, and all since the oldest that is
    kept. One that repeats after `every` seconds ends after that time, and the next one goes on.
    """

    def __init__(
        self, chains: Sequence[str], rule: PriceRule, since: datetime | None, every: float | None
    ) -> None:
        self._chains = list(chains)
        self._rule = rule
        # The first full hour since then.
        self._since = None if since is None else hour_of(since.astimezone(UTC) + HOUR - datetime.resolution)
        self._every = every
        self._complete: datetime | None = None

    def round(self, connection: Connection, stopping: threading.Event) -> tuple[int, int]:
        """Keep what is due. Return how many hours of groups were kept, and how many outcomes."""
        now = datetime.now(UTC) - _SETTLED
        deadline = time.monotonic() + self._every if self._every else None
        hours = sum(1 for _ in _until(deadline, stopping, self._keep_hours(connection, now)))
        outcomes = sum(_until(deadline, stopping, decide_outcomes(connection, now, self._chains, self._rule)))
        return hours, outcomes

    def _keep_hours(self, connection: Connection, now: datetime) -> Iterator[int]:
        latest = hour_of(now)
        if self._complete == latest:
            return
        parameters = {
            "blockchains": self._chains,
            "latest": latest,
            "since": self._since,
            "limit": _HOURS_TOGETHER,
        }
        while rows := connection.execute(_OUTCOMES["missing"], parameters).fetchall():
            for row in rows:
                keep_signals(connection, row["hour"], row["blockchain"], row["type"])
                yield 1
        self._complete = latest


def keep_signals(connection: Connection, hour: datetime, blockchain: str, type: str) -> None:
    """Keep the signals of a group at an hour by the default options, and its base, unless they are kept."""
    group = {"blockchain": blockchain, "type": type, "hour": hour}
    parameters = group_parameters(blockchain, type) | {"hour": hour}
    tokens = {mode: signal_tokens(connection, hour, blockchain, type, mode) for mode in LEAST_WALLETS}
    base = [row["token_id"] for row in connection.execute(_OUTCOMES["base"], parameters)]
    with connection.transaction():
        hold_tables(connection)
        connection.execute(_OUTCOMES["keep"], group | tokens | {"base": base})


def decide_outcomes(
    connection: Connection, now: datetime, chains: Sequence[str], rule: PriceRule
) -> Iterator[int]:
    """Keep what became of the tokens of kept signals, an hour at a time, and yield how many outcomes."""
    parameters: dict[str, Any] = {"blockchains": list(chains), "now": now, "seconds": SPANS["seconds"]}
    while (due := connection.execute(_OUTCOMES["due"], parameters).fetchone()) is not None:
        hour, over = due["hour"], due["over"]
        moments = [TokenMoment(token_id, hour) for token_id in due["token_ids"] or ()]
        found = read_outcomes(connection, now, moments, rule)
        spans = list(zip(SPANS["spans"], SPANS["seconds"], strict=True))[:over]
        places = [(moment, *span) for moment in moments for span in spans]
        rows = [found[moment].get(span, {}) for moment, span, _ in places]
        columns = {name: [row.get(name) for row in rows] for name in _COLUMNS}
        columns |= {
            "token_ids": [moment.token_id for moment, _, _ in places],
            "span_seconds": [seconds for _, _, seconds in places],
        }
        with connection.transaction():
            hold_tables(connection)
            kept = connection.execute(_OUTCOMES["outcomes"], {"hour": hour} | columns).rowcount
            connection.execute(_OUTCOMES["decided"], parameters | {"hour": hour, "over": over})
        yield kept


def _until(deadline: float | None, stopping: threading.Event, done: Iterator[int]) -> Iterator[int]:
    """Yield what is done until a time, or until it is to stop; the first in any case."""
    for count in done:
        yield count
        if stopping.is_set() or (deadline is not None and time.monotonic() >= deadline):
            return
