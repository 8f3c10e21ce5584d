"""The report of syncs as metrics, for Prometheus."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from wallet_api.base.chains import CHAINS
from wallet_api.chain.decoding.swaps import COUNTED, Reason
from wallet_api.chain.sync import report
from wallet_api.database import Connection

_CHAIN = {"blockchain": "blockchain"}
_SYNC = {"sync": "job"} | _CHAIN
_METHOD = _CHAIN | {"method": "method"}
_REASON = {"chain": "blockchain", "reason": "reason"}


class _Family(NamedTuple):
    """Metrics of a list: the column of their numbers, and those of their labels."""

    rows: str
    column: str
    labels: Mapping[str, str]
    name: str
    text: str

    def metric(self) -> GaugeMetricFamily | CounterMetricFamily:
        is_counter = self.column in ("total", "reconnects", "gaps", "beyond")
        kind = CounterMetricFamily if is_counter else GaugeMetricFamily
        return kind(f"wallet_api_{self.name}", self.text, labels=tuple(self.labels))


_ACTIVE = "Since a sync last succeeded, was first tried, or read a wallet in a round under way."
_DELAY = "Median time from block to ledger in the last round with new trades."
_UNDER_WAY = "Wallets of a round under way that takes longer than a minute."
_HARMLESS = "no_trade, liquidity, unsigned, others, expired, from_logs, late and reorganised are no faults."
_GAPS = "Wallets that were read since they were not followed for a time."
_NAMED = "What looks like a trade without a proof: sync status names it."
_QUOTES = "Tokens for whose price a market was asked; thin, far and unpriced quotes are not used."
_FAMILIES = (
    _Family("syncs", "quiet_seconds", _SYNC, "sync_age_seconds", _ACTIVE),
    _Family("syncs", "wallets", _SYNC, "sync_wallets", "Wallets of the last round."),
    _Family("syncs", "failed", _SYNC, "sync_failed_wallets", "Wallets that the last round could not read."),
    _Family("syncs", "delay_seconds", _CHAIN, "sync_delay_seconds", _DELAY),
    _Family("syncs", "round_wallets", _SYNC, "sync_round_wallets", _UNDER_WAY),
    _Family("syncs", "round_read", _SYNC, "sync_round_read_wallets", "Those of them that have been read."),
    _Family("syncs", "round_trades", _SYNC, "sync_round_trades", "Trades that the round has imported."),
    _Family("left_out", "total", _REASON, "sync_left_out", f"Transactions that made no trade; {_HARMLESS}"),
    _Family("named_chains", "named", _CHAIN, "sync_named", _NAMED),
    _Family(
        "named_chains", "beyond", _CHAIN, "sync_named_beyond", "How many more there were than are named."
    ),
    _Family("blocks", "number", _CHAIN, "sync_newest_block", "The newest block of which trades were read."),
    _Family("blocks", "age_seconds", _CHAIN, "sync_newest_block_age_seconds", "Its age."),
    _Family("methods", "total", _METHOD, "sync_node_calls", "Calls to a node."),
    _Family("follows", "is_connected", _CHAIN, "sync_follow_up", "Whether a process follows the chain."),
    _Family("follows", "reconnects", _CHAIN, "sync_follow_reconnects", "Connections made again."),
    _Family("follows", "gaps", _CHAIN, "sync_follow_gaps", _GAPS),
    _Family("quotes", "total", {"chain": "blockchain", "result": "result"}, "quotes", _QUOTES),
)


def sync_metrics(connection: Connection, now: datetime) -> list[Metric]:
    """Return the metrics of all syncs at `now`."""
    lists = report.read(connection, now)
    metrics: list[Metric] = []
    for family in _FAMILIES:
        metric = family.metric()
        numbers: dict[tuple[str, ...], float | None] = {}
        if family.rows == "left_out":
            # An increase is only seen in what was there before.
            numbers = {(chain, reason): 0 for chain in CHAINS for reason in (*Reason, *COUNTED)}
        for row in lists[family.rows]:
            numbers[tuple(row[column] for column in family.labels.values())] = row[family.column]
        for labels, number in numbers.items():
            if number is not None:
                metric.add_metric(labels, number)
        metrics.append(metric)
    return [*metrics, _followed_wallets(lists), _trade_delays(lists)]


def _followed_wallets(lists: report.Report) -> Metric:
    metric = GaugeMetricFamily(
        "wallet_api_sync_follow_wallets",
        "Wallets of a followed chain, by whether they are followed or only read from time to time.",
        labels=("blockchain", "is_followed"),
    )
    for row in lists["follows"]:
        metric.add_metric((row["blockchain"], "true"), row["followed"])
        metric.add_metric((row["blockchain"], "false"), row["wallets"] - row["followed"])
    return metric


def _trade_delays(lists: report.Report) -> Metric:
    metric = HistogramMetricFamily(
        "wallet_api_sync_trade_delay_seconds",
        "From the block of a new trade to the ledger.",
        labels=("blockchain",),
    )
    for row in lists["buckets"]:
        buckets = list(zip(row["bounds"], row["trades"], strict=True))
        metric.add_metric((row["blockchain"],), buckets, row["seconds"])
    return metric
