"""What a sync asks of the nodes of chains, and how far it has read them: for operators and metrics."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from wallet_api.database import Connection, load_statements

_NODES = load_statements(__package__, "nodes")


@dataclass(frozen=True, slots=True)
class NewestBlock:
    """The newest block of which trades were read, and its age."""

    blockchain: str
    number: int
    age_seconds: float


@dataclass(frozen=True, slots=True)
class MethodCount:
    """The calls of a method: since ever, and a minute in the last round."""

    blockchain: str
    method: str
    total: int
    per_minute: float


def save_methods(
    connection: Connection, blockchain: str, calls: Mapping[str, int], seconds: float, now: datetime
) -> None:
    """Add the calls of a round that took so long."""
    parameters = {
        "blockchain": blockchain,
        "methods": list(calls),
        "calls": list(calls.values()),
        "seconds": max(seconds, 1.0),
        "now": now,
    }
    connection.execute(_NODES["save_methods"], parameters)


def read_methods(connection: Connection) -> list[MethodCount]:
    """Return the calls by chain and method."""
    return [MethodCount(**row) for row in connection.execute(_NODES["methods"])]


def read_newest_blocks(connection: Connection, now: datetime) -> list[NewestBlock]:
    """Return the newest block of each chain that is read from a node block by block."""
    return [
        NewestBlock(row["blockchain"], row["number"], max(0.0, (now - row["created_at"]).total_seconds()))
        for row in connection.execute(_NODES["newest"])
    ]
