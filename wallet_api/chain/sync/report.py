"""What syncs report, by chain: facts in one table, and their lists for `sync status` and the metrics."""

import bisect
import math
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from wallet_api.base.chains import CHAINS
from wallet_api.chain.decoding.swaps import ACCEPTED, COUNTED, UNSIGNED, Reason
from wallet_api.database import Connection, Row, load_statements

SyncName = Literal["trades", "prices", "tokens", "quotes"]

BLOCKS = "blocks"
"""The method by which chains are watched that are read block by block."""

# What was not added for so long is no longer watched by any process.
_WATCHED_WITHIN = timedelta(minutes=5)
_BOUNDS = (1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, math.inf)
_LISTS = ("syncs", "left_out", "blocks", "methods", "follows", "buckets", "named_chains", "quotes")

_REPORT = load_statements(__package__, "report")

Report = Mapping[str, Sequence[Row]]
"""The lists of `sync status --json`, and the buckets of the delays."""


class Fact(NamedTuple):
    """What a sync adds to a total since ever, and the last number and time, unless those before stay."""

    blockchain: str
    name: str
    label: str
    total: float = 0.0
    last: float | None = None
    at: datetime | None = None


def add(connection: Connection, facts: Iterable[Fact]) -> None:
    """Add facts, all or none of them."""
    rows = list(facts)
    parameters = {
        "blockchains": [fact.blockchain for fact in rows],
        "names": [fact.name for fact in rows],
        "labels": [fact.label for fact in rows],
        "totals": [float(fact.total) for fact in rows],
        "lasts": [None if fact.last is None else float(fact.last) for fact in rows],
        "times": [fact.at for fact in rows],
    }
    connection.execute(_REPORT["add"], parameters)


def read(connection: Connection, now: datetime) -> Report:
    """Return what was reported, at `now`."""
    words = {"unsigned": UNSIGNED, "accepted": ACCEPTED}
    parameters = {"now": now, "watched_after": now - _WATCHED_WITHIN, **words}
    lists = {name: connection.execute(_REPORT[name], parameters).fetchall() for name in _LISTS}
    return lists | {"delays": [_delays(row) for row in lists["buckets"]]}


def _delays(buckets: Row) -> Row:
    """Return within which bounds a half and nine of ten new trades were in the ledger."""
    trades = buckets["trades"]

    def within(part: float) -> float:
        return float(buckets["bounds"][bisect.bisect_left(trades, part * trades[-1])])

    numbers = {"half_seconds": within(0.5), "nine_of_ten_seconds": within(0.9)}
    return {"blockchain": buckets["blockchain"], "trades": int(trades[-1])} | numbers


def begin_sync(connection: Connection, sync: SyncName, chains: Iterable[str], now: datetime) -> None:
    """Report that a sync is tried, so that one that never succeeds is not missed."""
    connection.execute(_REPORT["try"], {"sync": sync, "blockchains": list(chains), "now": now})
    forget_facts(connection, chains, "round_", sync)


def forget(connection: Connection, sync: SyncName, blockchain: str | None) -> bool:
    """Forget a sync that is no longer run, for a chain or for all, and how far that chain was watched.

    Return whether there was one. A sync that still runs comes back. What was counted of the chain stays.
    """
    if blockchain is not None:
        forget_facts(connection, [blockchain], "watch_")
        connection.execute(_REPORT["forget_blocks"], {"blockchain": blockchain})
    return bool(forget_facts(connection, [blockchain] if blockchain else CHAINS, label=sync))


def forget_facts(
    connection: Connection, chains: Iterable[str], prefix: str = "", label: str | None = None
) -> int:
    """Forget the facts of chains whose names begin so, of one label or of all; return how many.

    "round_" are how far a round is, "watch_" how a chain is watched.
    """
    parameters = {"blockchains": list(chains), "prefix": prefix, "label": label}
    return connection.execute(_REPORT["forget"], parameters).rowcount


def round_facts(
    chain: str, sync: SyncName, wallets: int = 0, failed: int = 0, *, succeeded_at: datetime | None
) -> Iterator[Fact]:
    """Yield the facts of a round: its wallets, how many of them were not read, and whether it succeeded."""
    if succeeded_at is not None:
        yield Fact(chain, "rounds", sync, total=1, at=succeeded_at)
    yield Fact(chain, "wallets", sync, last=wallets)
    yield Fact(chain, "failed", sync, last=failed)


def progress_facts(
    chain: str, wallets: int, read: int, trades: int, arrived_at: datetime | None
) -> Iterator[Fact]:
    """Yield how far a round of trades is: the wallets that are read, and when the last result arrived."""
    if arrived_at is not None:
        yield Fact(chain, "arrived", "trades", at=arrived_at)
    yield Fact(chain, "round_wallets", "trades", last=wallets)
    yield Fact(chain, "round_read", "trades", last=read)
    yield Fact(chain, "round_trades", "trades", last=trades)


def count_facts(name: str, counts: Mapping[tuple[str, str], int]) -> Iterator[Fact]:
    """Yield what is added up under a name, by chain and label: a reason, a wallet, or a result."""
    for (chain, label), count in counts.items():
        yield Fact(chain, name, label, total=count)


def round_left_out_facts(chains: Sequence[str], met: Counter[tuple[str, str]]) -> Iterator[Fact]:
    """Yield by reason how many transactions made no trade in a round, also those counted before."""
    for chain in chains:
        for reason in (*Reason, *COUNTED):
            yield Fact(chain, "left_out", reason, last=met[chain, reason])


def delay_facts(chain: str, delays: Sequence[float]) -> Iterator[Fact]:
    """Yield how long after their block new trades were in the ledger, and the median."""
    if not delays:
        return
    places = sorted(delays)
    for bound in _BOUNDS:
        label = "+Inf" if math.isinf(bound) else str(bound)
        yield Fact(chain, "delays", label, total=bisect.bisect_right(places, bound))
    yield Fact(chain, "delays_seconds", "", total=sum(delays))
    yield Fact(chain, "delay_seconds", "trades", last=statistics.median(delays))


def call_facts(
    connection: Connection, chain: str, calls: Mapping[str, int], seconds: float, now: datetime
) -> Iterator[Fact]:
    """Yield the calls of a round by method, and a minute.

    The first round counts for the seconds that it took, a later one for those since the one before.
    """
    before: datetime | None = connection.fetch_value(_REPORT["called"], {"blockchain": chain})
    since = 0.0 if before is None else (now - before).total_seconds()
    minutes = max(since, seconds, 1.0) / 60
    for method, count in calls.items():
        yield Fact(chain, "calls", method, total=count, last=count / minutes, at=now)


def watch_facts(
    chain: str, method: str, *, is_connected: bool, now: datetime, **counts: int
) -> Iterator[Fact]:
    """Yield how a chain is watched: `watched` of its `wallets`, if a process has a connection.

    `reconnects` are connections made again, `gaps` wallets that were read since they were not watched for a
    time: these two are added up.
    """
    yield Fact(chain, "watch_method", method, at=now)
    yield Fact(chain, "watch_connected", "", last=is_connected, at=now)
    for name in ("wallets", "watched"):
        yield Fact(chain, f"watch_{name}", "", last=counts[name])
    for name in ("reconnects", "gaps"):
        yield Fact(chain, f"watch_{name}", "", total=counts.get(name, 0))
