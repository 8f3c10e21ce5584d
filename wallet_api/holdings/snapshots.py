"""The table of snapshots, which all workers share, and the claims that allow one refresh at a time."""

import threading
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import msgspec
import orjson

from wallet_api.base.bulkhead import Bulkhead, Wait
from wallet_api.base.errors import ServiceUnavailable
from wallet_api.chain.providers.balances.base import Balances, HeldToken
from wallet_api.database import Connection, Database, MissingReference, Row, load_statements
from wallet_api.ledger.wallet import find_wallet

_SNAPSHOTS = load_statements(__package__, "snapshots")

MAX_KNOWN_TOKENS = 10_000
# The stored size of a token, about a third of that of its JSON.
_TOKEN_BYTES = 64
_SMALL_BYTES = 10_000 * _TOKEN_BYTES
# The largest size of a value in PostgreSQL.
_ANY_BYTES = 1024**3
# Connections for work in the background.
_BACKGROUND_CONNECTIONS = 2

# Waits until no other large response is in memory if this number of tokens is large. Raises Busy.
AwaitTurn = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The balances that a provider returned for a wallet, spam included.

    `refreshed_at` is when they were fetched, by the database's clock; `taken_at` is the same time as a
    time.monotonic() of this process.
    """

    balances: Balances
    refreshed_at: datetime
    taken_at: float

    @property
    def age_seconds(self) -> float:
        """Return the time since the balances were fetched."""
        return max(0.0, time.monotonic() - self.taken_at)


@dataclass(frozen=True, slots=True)
class WalletState:
    """A tracked wallet, its latest snapshot, and the state of its refresh.

    `refreshing` is true while a worker has a claim on the wallet. `failure` is why the latest refresh failed,
    if it did; no refresh may start for `pause_seconds`.
    """

    wallet_id: int
    snapshot: Snapshot | None
    refreshing: bool
    pause_seconds: float
    failure: str | None


# The right to refresh a wallet, as parameters: its `wallet_id`, and the `claim`.
Claim = Mapping[str, Any]


class Snapshots:
    """The table holdings_snapshots.

    All ages are by the database's clock, which all workers share. All reads go to the primary, since a
    standby may lack what another worker has just saved. Requests only `find`; all other methods run in the
    background.
    """

    def __init__(
        self,
        database: Database,
        bulkhead: Bulkhead,
        await_turn: AwaitTurn,
        *,
        ttl_seconds: float,
        claim_seconds: float,
    ) -> None:
        self._database = database
        self._bulkhead = bulkhead
        self._await_turn = await_turn
        self._background = threading.BoundedSemaphore(_BACKGROUND_CONNECTIONS)
        self._ttl = ttl_seconds
        self._claim = claim_seconds

    def find(self, blockchain: str, address: str) -> WalletState:
        """Return the state of a wallet. Raise NotFound if it is not tracked.

        Raise Busy if its snapshot is large, and another request has a large one in memory.
        """
        row = self._row(blockchain, address, _SMALL_BYTES)
        stored_bytes = row["tokens_bytes"] or 0
        if stored_bytes > _SMALL_BYTES:
            self._await_turn(stored_bytes // _TOKEN_BYTES)
            row = self._row(blockchain, address, _ANY_BYTES)
        return WalletState(
            wallet_id=row["wallet_id"],
            snapshot=_snapshot(row),
            refreshing=row["refreshing"],
            pause_seconds=max(0.0, row["pause_seconds"]),
            failure=row["failure"],
        )

    def _row(self, blockchain: str, address: str, max_bytes: int) -> Row:
        def find(connection: Connection) -> Row:
            wallet = find_wallet(connection, blockchain, address)
            parameters = {"wallet_id": wallet.wallet_id, "max_bytes": max_bytes}
            row = connection.execute(_SNAPSHOTS["find"], parameters).fetchone()
            if row is None:
                raise wallet.removed
            return row

        try:
            with self._bulkhead.slot(Wait.PRIMARY), self._database.write() as connection:
                return find(connection)
        except ServiceUnavailable:
            # Without the primary no refresh is possible, but a standby may have a snapshot.
            with self._bulkhead.slot(), self._database.read() as connection:
                row = find(connection)
            if row["tokens_bytes"] is None:
                raise
            return row

    def claim(self, wallet_id: int) -> Claim | None:
        """Return a claim on the wallet; None if it is claimed, fresh or removed, or has just failed."""
        claim = {"wallet_id": wallet_id, "claim": uuid.uuid4()}
        seconds = {"claim_seconds": self._claim, "ttl_seconds": self._ttl}
        try:
            with self._background, self._database.write() as connection:
                row = connection.execute(_SNAPSHOTS["claim"], claim | seconds).fetchone()
        except MissingReference:
            # The wallet was removed meanwhile.
            return None
        return claim if row is not None else None

    def save(self, claim: Claim, balances: Balances) -> Snapshot | None:
        """Save the balances and return their snapshot; None if the claim was lost or the wallet removed."""
        taken_at = time.monotonic()
        parameters = {
            **claim,
            "native_amount": balances.native,
            "tokens": _dump(balances.tokens),
            "left_out": balances.left_out,
        }
        with self._background, self._database.write() as connection:
            row = connection.execute(_SNAPSHOTS["save"], parameters).fetchone()
        return Snapshot(balances, row["refreshed_at"], taken_at) if row is not None else None

    def fail(self, claim: Claim, failure: str, pause_seconds: float) -> None:
        """Save a failure, and prevent a refresh for `pause_seconds`."""
        with self._background, self._database.write() as connection:
            parameters = {**claim, "failure": failure, "pause_seconds": pause_seconds}
            connection.execute(_SNAPSHOTS["fail"], parameters)

    def known_tokens(self, wallet_id: int) -> list[str]:
        """Return the tokens that the wallet has traded, latest first."""
        with self._background, self._database.read() as connection:
            parameters = {"wallet_id": wallet_id, "limit": MAX_KNOWN_TOKENS}
            return [row["mint"] for row in connection.execute(_SNAPSHOTS["known_tokens"], parameters)]


def _snapshot(row: Row) -> Snapshot | None:
    if row["tokens"] is None:
        return None
    # Amounts are strings in the table, since a JSON number may be decoded as a float.
    tokens = msgspec.json.decode(row["tokens"], type=list[HeldToken], strict=False)
    taken_at = time.monotonic() - row["age_seconds"]
    balances = Balances(int(row["native_amount"]), tokens, row["left_out"])
    return Snapshot(balances, row["refreshed_at"], taken_at)


def _dump(tokens: Iterable[HeldToken]) -> str:
    rows = [asdict(token) | {"amount": str(token.amount)} for token in tokens if token.amount]
    return orjson.dumps(rows).decode()
