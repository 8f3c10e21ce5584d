"""The summary of a round, as data and as a line of text."""

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from wallet_api.base.coins import Currency

SOME_FAILED = 3
NOT_USED = ("thin", "far", "unpriced")
"""Why a quote makes no price."""


@dataclass(kw_only=True)
class RoundSummary(ABC):
    """The outcome of a round. The next one starts after `pause_seconds` at the earliest."""

    requests: int = 0
    seconds: float = 0.0
    pause_seconds: int = 0

    @property
    @abstractmethod
    def status(self) -> int:
        """Return the exit status: 0 everything is up to date, 3 a part is not, 1 nothing could be done."""

    @property
    def is_idle(self) -> bool:
        """Return whether the round found nothing new and nothing wrong."""
        return False

    @abstractmethod
    def words(self) -> str:
        """Return the summary as text."""

    def data(self) -> dict[str, Any]:
        """Return the summary as data."""
        return dict(vars(self))


@dataclass(kw_only=True)
class TradesSummary(RoundSummary):
    """The outcome of a round of trades.

    `behind` counts wallets that the next round continues, `left` those that were not tried. `left_out` counts
    what the round left out, `left_out_reasons` the same by reason and detail, `new_left_out` what no round
    had met before, and `unreadable` what is kept because it could not be read. `no_trades` are transactions
    that are no trades by a rule, `unsigned` what others did, which is in none of the counts before, `named`
    what of it is named now and was not before, `others` what only names its wallet, `from_logs` trades whose
    native value comes from logs, `denied` trades in denied tokens, and `reorganised` trades that were removed
    with their blocks. `notified` are transactions of which a node has notified. `stopped` is why the round
    stopped.
    """

    chains: list[str] = field(default_factory=list)
    wallets: int = 0
    synced: int = 0
    failed: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    behind: int = 0
    left: int = 0
    swaps: int = 0
    trades: int = 0
    changed: int = 0
    wraps: int = 0
    no_trades: int = 0
    unsigned: int = 0
    named: int = 0
    others: int = 0
    from_logs: int = 0
    denied: int = 0
    reorganised: int = 0
    notified: int = 0
    left_out: int = 0
    left_out_reasons: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    new_left_out: int = 0
    unreadable: int = 0
    stopped: str | None = None

    @property
    def status(self) -> int:
        if self.synced == self.wallets and not self.new_left_out and not self.unreadable:
            return 0
        return SOME_FAILED if self.synced else 1

    @property
    def is_idle(self) -> bool:
        is_new = self.changed or self.reorganised or self.new_left_out or self.named
        return not (is_new or self.failed or self.behind or self.left or self.stopped)

    def words(self) -> str:
        reasons = "; ".join(
            f"{reason}: {_counted(details)}" for reason, details in sorted(self.left_out_reasons.items())
        )
        parts = (
            (self.notified, "transactions notified"),
            (self.wraps, "wraps"),
            (self.no_trades, "no trades"),
            (self.unsigned, "done by others"),
            (self.named, "named, since nothing proves them"),
            (self.others, "that only name their wallet"),
            (self.from_logs, "valued from logs"),
            (self.denied, "of denied tokens left out"),
            (self.reorganised, "removed by a reorganisation"),
            (self.left_out, f"left out, {self.new_left_out} of them new ({reasons})"),
            (self.unreadable, "unreadable, tried again once a day"),
            (self.failed, f"wallets failed ({_counted(self.failures)})"),
            (self.behind, "wallets continued in the next round"),
            (self.left, "wallets not tried"),
        )
        words = [
            f"{self.synced} of {self.wallets} wallets",
            f"{self.changed} trades new or corrected ({self.swaps} swaps read)",
            *(f"{count} {text}" for count, text in parts if count),
            f"{self.requests} requests in {self.seconds} s",
        ]
        if self.stopped:
            words.append(f"stopped: {self.stopped}, pause of {self.pause_seconds} s")
        return "; ".join(words)


@dataclass(kw_only=True)
class PricesSummary(RoundSummary):
    """The outcome of a round of prices.

    `changed` counts new prices; `missing` are currencies without a current price, `missing_hours` past hours
    without a price.
    """

    changed: int = 0
    sources: list[str] = field(default_factory=list)
    missing: list[Currency] = field(default_factory=list)
    missing_hours: int = 0
    failures: list[str] = field(default_factory=list)

    @property
    def status(self) -> int:
        if not self.missing and not self.missing_hours:
            return 0
        return 1 if self.missing and not self.changed else SOME_FAILED

    def words(self) -> str:
        words = [f"{self.changed} new{' from ' + ' and '.join(self.sources) if self.sources else ''}"]
        if self.missing:
            words.append(f"no current price for {', '.join(self.missing)}")
        if self.missing_hours:
            words.append(f"{self.missing_hours} past hours without a price")
        if self.failures:
            words.append(f"failed: {_counted(Counter(self.failures))}")
        return "; ".join([*words, f"{self.requests} requests in {self.seconds} s"])


@dataclass(kw_only=True)
class TokensSummary(RoundSummary):
    """The outcome of a round of tokens.

    `read` counts faces that were read, `unknown` tokens of which the node has none. `left` counts chains
    with more tokens, for the next round.
    """

    chains: list[str] = field(default_factory=list)
    read: int = 0
    unknown: int = 0
    left: int = 0
    failures: list[str] = field(default_factory=list)

    @property
    def status(self) -> int:
        if not self.failures:
            return 0
        return 1 if len(self.failures) == len(self.chains) else SOME_FAILED

    def words(self) -> str:
        words = [f"{self.read} faces of tokens read"]
        if self.unknown:
            words.append(f"{self.unknown} without one")
        if self.left:
            words.append("more in the next round")
        if self.failures:
            words.append(f"failed: {', '.join(self.failures)}")
        return "; ".join([*words, f"{self.requests} requests in {self.seconds} s"])


@dataclass(kw_only=True)
class ChainQuotes:
    """The quotes of a chain in a round, by tokens.

    `asked` are `quoted`, `missing` of the response, or `failed` with their requests; `not_used` are those of
    the quoted ones that make no price, by reason, and `failures` the requests, by fault.
    """

    asked: int = 0
    quoted: int = 0
    missing: int = 0
    not_used: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(NOT_USED, 0)))
    failed: int = 0
    failures: Counter[str] = field(default_factory=Counter)

    def results(self, chain: str) -> dict[tuple[str, str], int]:
        """Return how many tokens of the chain had each result."""
        used = self.quoted - self.not_used.total()
        counts = {"used": used, **self.not_used, "missing": self.missing, "failed": self.failed}
        return {(chain, result): count for result, count in counts.items()}


@dataclass(kw_only=True)
class QuotesSummary(RoundSummary):
    """The outcome of a round of quotes, by chain; without a provider there are none.

    `hours` counts the hours of groups whose signals were kept, `outcomes` what became of their tokens.
    """

    chains: dict[str, ChainQuotes] = field(default_factory=dict)
    hours: int = 0
    outcomes: int = 0

    @property
    def status(self) -> int:
        return SOME_FAILED if any(counts.failed for counts in self.chains.values()) else 0

    def words(self) -> str:
        every = list(self.chains.values())
        not_used = sum((counts.not_used for counts in every), Counter[str]())
        quoted, asked = sum(counts.quoted for counts in every), sum(counts.asked for counts in every)
        words = [f"{quoted} of {asked} tokens quoted"] if self.chains else []
        if not_used:
            words.append(f"not used: {_counted(not_used)}")
        failures = sum((counts.failures for counts in every), Counter[str]())
        if failures:
            words.append(f"requests failed: {_counted(failures)}")
        words.append(f"signals of {self.hours} hours and {self.outcomes} outcomes kept")
        return "; ".join([*words, f"{self.requests} requests in {self.seconds} s"])

    def data(self) -> dict[str, Any]:
        return super().data() | {"chains": {chain: vars(counts) for chain, counts in self.chains.items()}}


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
