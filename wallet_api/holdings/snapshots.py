"""The table of snapshots that all workers and restarts share, and the claims by which one reads at a time."""

import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

import msgspec
import orjson

from wallet_api.database import Database, MissingReference, Row, load_sql
from wallet_api.errors import NotFound, ServiceUnavailable
from wallet_api.providers.balances.base import Balances, Token

_FIND = load_sql(__package__, "find_snapshot")
_CLAIM = load_sql(__package__, "claim_refresh")
_SAVE = load_sql(__package__, "save_snapshot")
_FAIL = load_sql(__package__, "save_failure")
_KNOWN_TOKENS = load_sql(__package__, "known_tokens")

MAX_KNOWN_TOKENS = 10_000


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The balances that a provider returned for one wallet, spam included.

    `refreshed_at` is when they were read, by the database's clock; `taken_at` is the same moment as a
    time.monotonic() of this process.
    """

    balances: Balances
    refreshed_at: datetime
    taken_at: float

    @property
    def age_seconds(self) -> float:
        """The time since the balances were read."""
        return max(0.0, time.monotonic() - self.taken_at)


@dataclass(frozen=True, slots=True)
class Known:
    """A tracked wallet, its latest snapshot, and how the reading of the next one stands.

    `refreshing` is set while some worker reads; `failure` says why the latest attempt failed, if it did, and
    nobody should try again for `pause_seconds`.
    """

    wallet_id: int
    snapshot: Snapshot | None
    refreshing: bool
    pause_seconds: float
    failure: str | None


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to read one wallet now."""

    wallet_id: int
    token: uuid.UUID


class Snapshots:
    """The table. All ages are by the database's clock, which all workers share; all reads go to the primary,
    since a replica may not know yet what another worker has just saved."""

    def __init__(self, database: Database, *, ttl_seconds: float, claim_seconds: float) -> None:
        self._database = database
        self._ttl = ttl_seconds
        self._claim = claim_seconds

    def find(self, blockchain: str, address: str) -> Known:
        """What is known of this wallet. Raises NotFound if it is not tracked."""
        parameters = {"blockchain": blockchain, "address": address}
        try:
            with self._database.write() as connection:
                row = connection.execute(_FIND, parameters).fetchone()
        except ServiceUnavailable:
            # While the primary is away nobody can read a wallet anew, but what a standby knows can be told.
            with self._database.read() as connection:
                row = connection.execute(_FIND, parameters).fetchone()
            if row is not None and row["tokens"] is None:
                raise
        if row is None:
            raise NotFound(f"The wallet {address} is not tracked on {blockchain}.", reason="wallet_not_found")
        return Known(
            wallet_id=row["wallet_id"],
            snapshot=_snapshot(row),
            refreshing=row["refreshing"],
            pause_seconds=max(0.0, row["pause_seconds"]),
            failure=row["failure"],
        )

    def claim(self, wallet_id: int) -> Claim | None:
        """The right to read this wallet, or None: it is fresh, being read, failed just now, or removed."""
        claim = Claim(wallet_id, uuid.uuid4())
        parameters = {
            "wallet_id": wallet_id,
            "claim": claim.token,
            "claim_seconds": self._claim,
            "ttl_seconds": self._ttl,
        }
        try:
            with self._database.write() as connection:
                row = connection.execute(_CLAIM, parameters).fetchone()
        except MissingReference:
            # Removed after the statement had read it.
            return None
        return claim if row is not None else None

    def save(self, claim: Claim, balances: Balances) -> Snapshot | None:
        """The snapshot that all workers now share; None if the claim was taken over or the wallet removed."""
        taken_at = time.monotonic()
        with self._database.write() as connection:
            row = connection.execute(
                _SAVE,
                {
                    "wallet_id": claim.wallet_id,
                    "claim": claim.token,
                    "native_amount": balances.native,
                    "tokens": _dump(balances.tokens),
                },
            ).fetchone()
        return Snapshot(balances, row["refreshed_at"], taken_at) if row is not None else None

    def fail(self, claim: Claim, failure: str, pause_seconds: float) -> None:
        """Let nobody try again for `pause_seconds`, and tell them why."""
        with self._database.write() as connection:
            connection.execute(
                _FAIL,
                {
                    "wallet_id": claim.wallet_id,
                    "claim": claim.token,
                    "failure": failure,
                    "pause_seconds": pause_seconds,
                },
            )

    def known_tokens(self, wallet_id: int) -> list[str]:
        """The tokens that the wallet has traded, the latest first."""
        with self._database.read() as connection:
            rows = connection.execute(_KNOWN_TOKENS, {"wallet_id": wallet_id, "limit": MAX_KNOWN_TOKENS})
            return [row["mint"] for row in rows]


def _snapshot(row: Row) -> Snapshot | None:
    if row["tokens"] is None:
        return None
    # Amounts are strings in the table, since a JSON number may pass through a float.
    tokens = msgspec.json.decode(row["tokens"], type=list[Token], strict=False)
    taken_at = time.monotonic() - row["age_seconds"]
    return Snapshot(Balances(int(row["native_amount"]), tokens), row["refreshed_at"], taken_at)


def _dump(tokens: Iterable[Token]) -> str:
    rows = [
        {
            "address": token.address,
            "name": token.name,
            "symbol": token.symbol,
            "amount": str(token.amount),
            "decimals": token.decimals,
            "verified": token.verified,
            "spam": token.spam,
        }
        for token in tokens
        if token.amount
    ]
    return orjson.dumps(rows).decode()
