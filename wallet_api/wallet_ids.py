"""The ids of tracked wallets, by which statements read the rows of one wallet."""

from collections.abc import Callable
from typing import NamedTuple

from wallet_api.cache import Cache
from wallet_api.database import Connection, Database, Row, load_sql

_FIND = load_sql(__package__, "find_wallet")
_COUNT_TOKENS = load_sql(__package__, "count_tokens")

_TTL_SECONDS = 600.0
_MAX_WALLETS = 10_000


class TrackedWallet(NamedTuple):
    """The id of a wallet, and the number of tokens that it has traded."""

    wallet_id: int
    tokens: int


class WalletIds:
    """The wallets that one process has looked up."""

    def __init__(self) -> None:
        self._wallets: Cache[TrackedWallet] = Cache(_TTL_SECONDS, max_size=_MAX_WALLETS)

    def count_tokens(self, database: Database, blockchain: str, address: str) -> int:
        """Return how many tokens the wallet has traded, up to 10 minutes ago; 0 if it is not tracked."""
        wallet = self._wallets.find((blockchain, address))
        if wallet is None:
            with database.read() as connection:
                wallet = self._look_up(connection, blockchain, address)
        return wallet.tokens if wallet else 0

    def read(
        self, connection: Connection, read: Callable[[int], Row | None], blockchain: str, address: str
    ) -> Row | None:
        """Return what `read` returns for the id of a tracked wallet; None if there is no such wallet.

        The id may be cached, so `read` also compares the address, and returns None if it differs.
        """
        cached = self._wallets.find((blockchain, address))
        row = None if cached is None else read(cached.wallet_id)
        if row is not None:
            return row
        wallet = self._look_up(connection, blockchain, address)
        return (
            None
            if wallet is None or (cached and wallet.wallet_id == cached.wallet_id)
            else read(wallet.wallet_id)
        )

    def _look_up(self, connection: Connection, blockchain: str, address: str) -> TrackedWallet | None:
        wallet_id = connection.fetch_value(_FIND, {"blockchain": blockchain, "address": address})
        if wallet_id is None:
            return None
        tokens = connection.fetch_value(_COUNT_TOKENS, {"wallet_id": wallet_id})
        wallet = TrackedWallet(wallet_id, tokens or 0)
        self._wallets.put((blockchain, address), wallet, self._wallets.timer())
        return wallet
