"""How chains are followed: for operators and metrics."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from wallet_api.database import Connection, load_statements

BLOCKS = "blocks"
"""The method of chains that are read block by block."""

# What was not saved for so long is no longer followed by any process.
_SAVED_WITHIN = timedelta(minutes=5)

_FOLLOWS = load_statements(__package__, "follows")


@dataclass(frozen=True, slots=True)
class Follow:
    """How a chain is followed: `followed` of its `wallets`, if a process has a connection.

    `reconnects` are connections made again, `gaps` wallets that were read since they were not followed for a
    time, since ever.
    """

    blockchain: str
    method: str
    wallets: int
    followed: int
    is_connected: bool
    reconnects: int
    gaps: int


def save_follow(connection: Connection, follow: Follow, now: datetime) -> None:
    """Save how a chain is followed at `now`. Its reconnects and gaps are added to those before."""
    connection.execute(_FOLLOWS["save"], asdict(follow) | {"now": now})


def forget_follows(connection: Connection, chains: Sequence[str]) -> None:
    """Forget that chains were followed."""
    connection.execute(_FOLLOWS["forget"], {"blockchains": list(chains)})


def read_follows(connection: Connection, now: datetime) -> list[Follow]:
    """Return how chains are followed at `now`."""
    return [
        Follow(**row) for row in connection.execute(_FOLLOWS["all"], {"saved_after": now - _SAVED_WITHIN})
    ]
