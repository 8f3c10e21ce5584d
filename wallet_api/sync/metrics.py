"""The metrics of syncs, for Prometheus: rounds, what is left out, nodes, and how chains are followed."""

import math
from collections.abc import Iterator, Sequence
from datetime import datetime

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from wallet_api.chains import CHAINS
from wallet_api.database import Connection
from wallet_api.decoding.swaps import COUNTED, Reason
from wallet_api.sync.delays import Delays, read_delays
from wallet_api.sync.follows import Follow, read_follows
from wallet_api.sync.heartbeats import Heartbeat, read_heartbeats
from wallet_api.sync.left_out import ReasonCount, read_reasons
from wallet_api.sync.nodes import MethodCount, NewestBlock, read_methods, read_newest_blocks

_PROGRESS = (
    ("wallets", "Wallets of a round under way that takes longer than a minute."),
    ("read_wallets", "Those of them that have been read."),
    ("trades", "Trades that the round has imported."),
)


def sync_metrics(connection: Connection, now: datetime) -> list[Metric]:
    """Return the metrics of all syncs at `now`."""
    return [
        *_of_rounds(read_heartbeats(connection, now)),
        *_of_left_out(read_reasons(connection)),
        *_of_nodes(read_newest_blocks(connection, now), read_methods(connection)),
        *_of_follows(read_follows(connection, now)),
        *_of_delays(read_delays(connection)),
    ]


def _of_rounds(heartbeats: Sequence[Heartbeat]) -> Iterator[Metric]:
    """Yield how long ago syncs succeeded, what failed in them, and how late their trades were."""
    ages = GaugeMetricFamily(
        "wallet_api_sync_age_seconds",
        "Since a sync last succeeded, was first tried, or read a wallet in a round under way.",
        labels=("sync", "blockchain"),
    )
    wallets = GaugeMetricFamily(
        "wallet_api_sync_wallets",
        "Wallets of the last round.",
        labels=("sync", "blockchain"),
    )
    failed = GaugeMetricFamily(
        "wallet_api_sync_failed_wallets",
        "Wallets that the last round could not read.",
        labels=("sync", "blockchain"),
    )
    delays = GaugeMetricFamily(
        "wallet_api_sync_delay_seconds",
        "Median time from block to ledger in the last round with new trades.",
        labels=("blockchain",),
    )
    progress = [
        GaugeMetricFamily(f"wallet_api_sync_round_{name}", text, labels=("sync", "blockchain"))
        for name, text in _PROGRESS
    ]
    for heartbeat in heartbeats:
        labels = (heartbeat.job, heartbeat.blockchain)
        ages.add_metric(labels, heartbeat.quiet_seconds)
        wallets.add_metric(labels, heartbeat.wallets)
        failed.add_metric(labels, heartbeat.failed)
        if heartbeat.delay_seconds is not None:
            delays.add_metric(labels[1:], heartbeat.delay_seconds)
        under_way = (heartbeat.round_wallets, heartbeat.round_read, heartbeat.round_trades)
        for gauge, number in zip(progress, under_way, strict=True):
            if number is not None:
                gauge.add_metric(labels, number)
    yield from (ages, wallets, failed, delays, *progress)


def _of_left_out(reasons: Sequence[ReasonCount]) -> Iterator[Metric]:
    """Yield what made no trade."""
    left_out = CounterMetricFamily(
        "wallet_api_sync_left_out",
        "Transactions that made no trade; no_trade, unsigned, others, expired, from_logs and reorganised"
        " are no faults.",
        labels=("chain", "reason"),
    )
    # An increase is only seen in what was there before.
    totals = {(chain, str(reason)): 0 for chain in CHAINS for reason in (*Reason, *COUNTED)}
    totals |= {(one.blockchain, one.reason): one.total for one in reasons}
    for labels, total in totals.items():
        left_out.add_metric(labels, total)
    yield left_out


def _of_nodes(blocks: Sequence[NewestBlock], methods: Sequence[MethodCount]) -> Iterator[Metric]:
    """Yield how far nodes were read, and what they were asked."""
    newest = GaugeMetricFamily(
        "wallet_api_sync_newest_block", "The newest block of which trades were read.", labels=("blockchain",)
    )
    ages = GaugeMetricFamily("wallet_api_sync_newest_block_age_seconds", "Its age.", labels=("blockchain",))
    for block in blocks:
        newest.add_metric((block.blockchain,), block.number)
        ages.add_metric((block.blockchain,), block.age_seconds)
    calls = CounterMetricFamily(
        "wallet_api_sync_node_calls", "Calls to a node.", labels=("blockchain", "method")
    )
    for method in methods:
        calls.add_metric((method.blockchain, method.method), method.total)
    yield from (newest, ages, calls)


def _of_follows(follows: Sequence[Follow]) -> Iterator[Metric]:
    """Yield how chains are followed."""
    up = GaugeMetricFamily(
        "wallet_api_sync_follow_up", "Whether a process follows the chain.", labels=("blockchain",)
    )
    wallets = GaugeMetricFamily(
        "wallet_api_sync_follow_wallets",
        "Wallets of a followed chain, by whether they are followed or only read from time to time.",
        labels=("blockchain", "is_followed"),
    )
    reconnects = CounterMetricFamily(
        "wallet_api_sync_follow_reconnects", "Connections made again.", labels=("blockchain",)
    )
    gaps = CounterMetricFamily(
        "wallet_api_sync_follow_gaps",
        "Wallets that were read since they were not followed for a time.",
        labels=("blockchain",),
    )
    for one in follows:
        up.add_metric((one.blockchain,), one.is_connected)
        wallets.add_metric((one.blockchain, "true"), one.followed)
        wallets.add_metric((one.blockchain, "false"), one.wallets - one.followed)
        reconnects.add_metric((one.blockchain,), one.reconnects)
        gaps.add_metric((one.blockchain,), one.gaps)
    yield from (up, wallets, reconnects, gaps)


def _of_delays(delays: Sequence[Delays]) -> Iterator[Metric]:
    """Yield how soon trades are in the ledger."""
    seconds = HistogramMetricFamily(
        "wallet_api_sync_trade_delay_seconds",
        "From the block of a new trade to the ledger.",
        labels=("blockchain",),
    )
    for each in delays:
        buckets = [("+Inf" if math.isinf(bound) else str(bound), trades) for bound, trades in each.buckets]
        seconds.add_metric((each.blockchain,), buckets, each.seconds)
    yield seconds
