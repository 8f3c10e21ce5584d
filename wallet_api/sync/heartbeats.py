"""The last successful round of each sync, for health checks and metrics."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from wallet_api.database import Connection, load_sql

Job = Literal["trades", "prices"]

_HEARTBEATS = load_sql(__package__, "heartbeats")
_SAVE = load_sql(__package__, "save_heartbeat")


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The last successful round of a job for a chain: its age, its wallets, and how many of them failed.

    For prices both numbers are 0.
    """

    job: Job
    blockchain: str
    age_seconds: float
    wallets: int
    failed: int


def read_heartbeats(connection: Connection, now: datetime) -> list[Heartbeat]:
    """Return the heartbeats at `now`; none for a job and chain without a successful round."""
    return [
        Heartbeat(
            job=row["job"],
            blockchain=row["blockchain"],
            age_seconds=max(0.0, (now - row["succeeded_at"]).total_seconds()),
            wallets=row["wallets"],
            failed=row["failed"],
        )
        for row in connection.execute(_HEARTBEATS)
    ]


def save_heartbeats(
    connection: Connection, job: Job, counts: Mapping[str, tuple[int, int]], now: datetime
) -> None:
    """Save a successful round: for each chain the number of wallets, and how many of them failed."""
    with connection.cursor() as cursor:
        cursor.executemany(
            _SAVE,
            [
                {
                    "job": job,
                    "blockchain": blockchain,
                    "succeeded_at": now,
                    "wallets": wallets,
                    "failed": failed,
                }
                for blockchain, (wallets, failed) in counts.items()
            ],
        )
