"""A round of `sync quotes`: ask what tokens cost that tracked wallets hold, or bought lately.

Then the signals of full hours are kept, and what became of them.
"""

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice

from wallet_api.base.chains import CHAINS
from wallet_api.chain.providers.faults import ProviderFault
from wallet_api.chain.providers.markets.source import MarketSource
from wallet_api.chain.sync import report
from wallet_api.chain.sync.outcomes import Outcomes
from wallet_api.chain.sync.summaries import ChainQuotes, QuotesSummary
from wallet_api.database import Connection, Row, load_statements
from wallet_api.ledger.quotes import QuoteRule, StagedQuote, keep_quotes, purge_quotes

log = logging.getLogger(__name__)

_BOUGHT_WITHIN = timedelta(days=2)
# All positions are read to find what is held.
_HELD_SECONDS = 600.0

_QUOTES = load_statements(__package__, "quotes")


class Quotes:
    """The rounds of a source of market prices, if there is one, and of the outcomes of signals.

    A round that repeats after `every` seconds ends after that time; what it did not reach is late, and comes
    first in the next one.
    """

    def __init__(
        self,
        source: MarketSource | None,
        chains: Sequence[str],
        rule: QuoteRule,
        outcomes: Outcomes,
        every: float | None,
    ) -> None:
        self._source = source
        self._chains = chains
        self._rule = rule
        self._outcomes = outcomes
        self._every = every
        self._held: list[int] = []
        self._held_again_at = 0.0

    def round(self, connection: Connection, stopping: threading.Event) -> QuotesSummary:
        """Ask for the quotes that are due, and keep them, then the outcomes that are due.

        A request that fails does not stop the others.
        """
        started, now = time.monotonic(), datetime.now(UTC)
        summary = QuotesSummary()
        if self._source is not None:
            summary.chains = {chain: ChainQuotes() for chain in self._chains}
            for tokens in _requests(self._due(connection, now), self._source.most_mints):
                if stopping.is_set() or (self._every and time.monotonic() >= started + self._every):
                    break
                self._ask(connection, self._source, tokens, now, summary.chains[tokens[0]["blockchain"]])
        purge_quotes(connection, now)
        summary.hours, summary.outcomes = self._outcomes.round(connection, stopping)
        self._report(connection, summary)
        return summary

    def _due(self, connection: Connection, now: datetime) -> list[Row]:
        chains = {"blockchains": list(self._chains)}
        if time.monotonic() >= self._held_again_at:
            self._held = [row["token_id"] for row in connection.execute(_QUOTES["held"], chains)]
            self._held_again_at = time.monotonic() + _HELD_SECONDS
        since = {"since": now - _BOUGHT_WITHIN}
        bought = [row["token_id"] for row in connection.execute(_QUOTES["bought"], chains | since)]
        parameters = {"bought": bought, "held": self._held, "now": now}
        return connection.execute(_QUOTES["due"], parameters).fetchall()

    def _ask(
        self,
        connection: Connection,
        source: MarketSource,
        tokens: Sequence[Row],
        now: datetime,
        counts: ChainQuotes,
    ) -> None:
        chain = CHAINS[tokens[0]["blockchain"]]
        counts.asked += len(tokens)
        try:
            prices = source.prices(chain, [token["mint"] for token in tokens])
        except ProviderFault as fault:
            # Many requests may fail in the same way.
            if not counts.failures[fault.outcome]:
                log.warning("quotes of %s: %s failed: %s", chain.name, source.name, fault)
            counts.failures[fault.outcome] += 1
            counts.failed += len(tokens)
            return
        # A provider's reply has no time of its own.
        at = datetime.now(UTC).replace(microsecond=0)
        given = [
            StagedQuote(token["token_id"], at, *prices.get(token["mint"], (None, None))) for token in tokens
        ]
        verdicts = keep_quotes(connection, now, given, self._rule)
        counts.quoted += len(prices)
        counts.missing += verdicts.pop("missing", 0)
        counts.not_used.update(verdicts)

    def _report(self, connection: Connection, summary: QuotesSummary) -> None:
        succeeded_at = datetime.now(UTC)
        facts: list[report.Fact] = []
        for chain in self._chains:
            counts = summary.chains.get(chain)
            if counts is not None:
                facts += report.count_facts("quotes", counts.results(chain))
            if counts is None or not counts.failed:
                facts += report.round_facts(chain, "quotes", succeeded_at=succeeded_at)
        report.add(connection, facts)


def _requests(tokens: Sequence[Row], most: int) -> Iterator[list[Row]]:
    """Yield the tokens in requests of one chain each, which begin with the first that is due."""
    queues = {chain: iter([token for token in tokens if token["blockchain"] == chain]) for chain in CHAINS}
    order = dict.fromkeys(token["blockchain"] for token in tokens)
    while order:
        for chain in list(order):
            if request := list(islice(queues[chain], most)):
                yield request
            else:
                del order[chain]
