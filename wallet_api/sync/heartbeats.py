"""The attempts and successful rounds of each sync, for health checks and metrics."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Literal

from wallet_api.database import Connection, load_statements

Job = Literal["trades", "prices", "tokens"]

_HEARTBEATS = load_statements(__package__, "heartbeats")


@dataclass(frozen=True, slots=True)
class Round:
    """A round for a chain: its wallets, how many of them were not read, and the delay of new trades.

    For prices and tokens both numbers are 0.
    """

    wallets: int = 0
    failed: int = 0
    delay_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """A round under way: its wallets, how many of them are read, and the trades of all results so far."""

    wallets: int
    read: int
    trades: int


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The age of the last successful round of a job for a chain; without one, that of the first attempt.

    `quiet_seconds` is the age of the last sign that it works: this one, or a result of the round under way,
    of which `round_wallets`, `round_read` and `round_trades` are set, if it takes long. `wallets` and
    `failed` are those of the last round, whether it succeeded or not. `delay_seconds` is the median time
    from block to ledger in the last round with new trades, None without one.
    """

    job: Job
    blockchain: str
    has_succeeded: bool
    age_seconds: float
    wallets: int
    failed: int
    delay_seconds: float | None
    quiet_seconds: float
    round_wallets: int | None
    round_read: int | None
    round_trades: int | None


def read_heartbeats(connection: Connection, now: datetime) -> list[Heartbeat]:
    """Return the heartbeats at `now`; none for a job and chain that was never tried."""
    return [
        Heartbeat(
            age_seconds=max(0.0, (now - row.pop("ended_at")).total_seconds()),
            quiet_seconds=max(0.0, (now - row.pop("since")).total_seconds()),
            **row,
        )
        for row in connection.execute(_HEARTBEATS["read"])
    ]


def save_try(connection: Connection, job: Job, chains: Iterable[str], now: datetime) -> None:
    """Save that a job was tried for these chains, so that one that never succeeds is not missed."""
    parameters = {"job": job, "blockchains": list(chains), "now": now}
    connection.execute(_HEARTBEATS["save_try"], parameters)


def save_progress(
    connection: Connection, job: Job, rounds: Mapping[str, Progress], arrived_at: Mapping[str, datetime]
) -> None:
    """Save by chain how far a round under way is, and when its last result arrived, if one did."""
    for blockchain, one in rounds.items():
        key = {"job": job, "blockchain": blockchain, "arrived_at": arrived_at.get(blockchain)}
        connection.execute(_HEARTBEATS["save_progress"], key | asdict(one))


def save_heartbeats(connection: Connection, job: Job, rounds: Mapping[str, Round], now: datetime) -> None:
    """Save a successful round by chain."""
    for blockchain, one in rounds.items():
        key = {"job": job, "blockchain": blockchain, "succeeded_at": now}
        connection.execute(_HEARTBEATS["save_success"], key | asdict(one))


def forget_heartbeats(connection: Connection, job: Job, blockchain: str | None) -> int:
    """Forget a job that is no longer run, for a chain or for all, and how far that chain was followed.

    Return how many heartbeats there were. A sync that still runs saves new ones.
    """
    parameters = {"job": job, "blockchain": blockchain}
    if job == "trades":
        connection.execute(_HEARTBEATS["forget_follow"], parameters)
        connection.execute(_HEARTBEATS["forget_blocks"], parameters)
    return connection.execute(_HEARTBEATS["forget"], parameters).rowcount


def save_failures(connection: Connection, job: Job, rounds: Mapping[str, Round]) -> None:
    """Save the wallets of a round that did not succeed by chain."""
    for blockchain, one in rounds.items():
        key = {"job": job, "blockchain": blockchain, "wallets": one.wallets, "failed": one.failed}
        connection.execute(_HEARTBEATS["save_failure"], key)
