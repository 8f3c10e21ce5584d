"""What rules reported before, of some trades and tokens, and what is reported of them by now."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from wallet_api.notify.events import TokenId, TradeId
from wallet_api.notify.rules import Rule


@dataclass(frozen=True)
class Reported:
    """What was reported last of a trade or a cluster: `at` is when the trade, or its last one, was made.

    `is_reported` is false once a message took it back. The wallets of a cluster may have some that it had.
    """

    event_id: str
    is_reported: bool
    at: datetime
    wallets: frozenset[str] = frozenset()


@dataclass(frozen=True)
class WalletTrades:
    """A wallet with trades in the hours around a time.

    When the last one up to it was, and the first one after it; the transaction of the first one up to it.
    """

    address: str
    last_before: datetime | None
    first_after: datetime | None
    first_transaction: str | None


# Of the wallets with trades that a rule counts, in a token: in the hours of a cluster up to a time, and after
# it until another one.
CountWallets = Callable[[Rule, TokenId, datetime, datetime], Sequence[WalletTrades]]


@dataclass
class Known:
    """By trade or token and the name of a rule: what was reported of it. What changes is also kept as new."""

    trades: dict[tuple[TradeId, str], Reported]
    clusters: dict[tuple[TokenId, str], dict[datetime, Reported]]
    first_buys: frozenset[TradeId]
    count_wallets: CountWallets
    new_trades: dict[tuple[TradeId, str], Reported] = field(default_factory=dict)
    new_clusters: dict[tuple[TokenId, str, datetime], Reported] = field(default_factory=dict)

    def set_trade(self, key: TradeId, rule: str, reported: Reported) -> None:
        """Set what a rule reported of a trade."""
        self.trades[key, rule] = self.new_trades[key, rule] = reported

    def clusters_of(self, token: TokenId, rule: str) -> dict[datetime, Reported]:
        """Return the clusters that a rule reported in a token, by their times, also those taken back."""
        return self.clusters.setdefault((token, rule), {})

    def set_cluster(self, token: TokenId, rule: str, cluster: Reported) -> None:
        """Set what a rule reported of a cluster."""
        own = self.clusters_of(token, rule)
        if own.get(cluster.at) != cluster:
            own[cluster.at] = self.new_clusters[token, rule, cluster.at] = cluster
