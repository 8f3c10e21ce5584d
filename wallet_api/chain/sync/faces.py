"""A round of `sync tokens`: read the faces of tokens from nodes into the ledger."""

import logging
import threading
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

from wallet_api.chain.providers.faults import ProviderFault
from wallet_api.chain.providers.metadata.faces import Face, ReadFaces
from wallet_api.chain.sync import report
from wallet_api.chain.sync.summaries import TokensSummary
from wallet_api.database import Connection, load_statements
from wallet_api.ledger import merge

log = logging.getLogger(__name__)

# Supplies are read again after this time, of tokens traded within the next one.
_AGAIN = timedelta(days=1)
_TRADED_WITHIN = timedelta(days=30)
# The tokens that are read together, and of each chain in a round.
_TOGETHER = 200
_MOST = 2000

_FACES = load_statements(__package__, "faces")


def read_faces(
    connection: Connection, sources: Mapping[str, ReadFaces], stopping: threading.Event
) -> TokensSummary:
    """Read the faces that are due, by chain: those of new tokens, and supplies after a day.

    A source that fails does not affect the others.
    """
    summary = TokensSummary(chains=list(sources))
    read: list[str] = []
    for chain, source in sources.items():
        try:
            read_chain(connection, chain, source, summary, stopping)
        except ProviderFault as fault:
            summary.failures.append(f"{chain} {fault.outcome}")
            # Faces are read from nodes alone.
            log.warning("tokens of %s: %s", chain, fault.told(f"{chain.upper()}_RPC_URL"))
        else:
            read.append(chain)
    ended = partial(report.round_facts, sync="tokens", succeeded_at=datetime.now(UTC))
    report.add(connection, (fact for chain in read for fact in ended(chain)))
    return summary


def read_chain(
    connection: Connection,
    chain: str,
    source: ReadFaces,
    summary: TokensSummary,
    stopping: threading.Event,
) -> None:
    """Read the faces of a chain that are due, and add their numbers to `summary`. Raise ProviderFault."""
    now = datetime.now(UTC)
    parameters = {
        "blockchain": chain,
        "tried_before": now - _AGAIN,
        "traded_since": now - _TRADED_WITHIN,
        "most": _MOST + 1,
    }
    due = connection.execute(_FACES["due"], parameters).fetchall()
    summary.left += len(due) > _MOST
    for start in range(0, min(len(due), _MOST), _TOGETHER):
        if stopping.is_set():
            return
        part = due[start : min(start + _TOGETHER, _MOST)]
        faces = source([row["mint"] for row in part])
        _save(connection, [(row["token_id"], faces.get(row["mint"], Face())) for row in part])
        summary.read += len(faces)
        summary.unknown += len(part) - len(faces)


def _save(connection: Connection, faces: Sequence[tuple[int, Face]]) -> None:
    parameters = {
        "token_ids": [token_id for token_id, _ in faces],
        "known": [face.decimals is not None for _, face in faces],
        "symbol": [face.symbol or None for _, face in faces],
        "name": [face.name or None for _, face in faces],
        "decimals": [face.decimals for _, face in faces],
        "supply": [face.supply for _, face in faces],
        "now": datetime.now(UTC),
    }
    with connection.transaction():
        merge.lock_prices(connection)
        connection.execute(_FACES["save"], parameters)
        connection.execute(_FACES["terms"], parameters)
