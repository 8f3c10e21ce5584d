"""The tracked wallets, of which statements read the rows by their ids."""

from typing import NamedTuple

from wallet_api.base.chains import CHAINS
from wallet_api.base.errors import WalletNotFound
from wallet_api.database import Connection, load_statements

_WALLETS = load_statements(__package__, "wallet")


class Wallet(NamedTuple):
    """A tracked wallet, its id in the ledger, and over what time a sync has read all of its trades."""

    wallet_id: int
    blockchain: str
    address: str
    type: str
    history_since: str | None
    history_until: str | None

    @property
    def parameters(self) -> dict[str, int | str | None]:
        """Return the parameters of statements about the wallet, with the currency of its chain."""
        return self._asdict() | {"currency": self.currency}

    @property
    def currency(self) -> str:
        """Return the currency of its chain."""
        return CHAINS[self.blockchain].currency

    @property
    def removed(self) -> WalletNotFound:
        """Return the error for a wallet that was removed after it had been found."""
        return WalletNotFound(self.blockchain, self.address)


def find_wallet(connection: Connection, blockchain: str, address: str, type: str | None = None) -> Wallet:
    """Return a tracked wallet, of this type if one is given. Raises WalletNotFound."""
    row = connection.execute(_WALLETS["find"], {"blockchain": blockchain, "address": address}).fetchone()
    if row is None or type not in (None, row["type"]):
        raise WalletNotFound(blockchain, address, type)
    return Wallet(blockchain=blockchain, address=address, **row)


def count_tokens(connection: Connection, wallet: Wallet) -> int:
    """Return how many tokens the wallet has traded."""
    return connection.fetch_value(_WALLETS["count_tokens"], wallet.parameters) or 0
