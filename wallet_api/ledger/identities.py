"""What identifies a wallet or a trade in a file; all other columns of the file are ignored."""

from functools import lru_cache
from typing import Any, Literal

import msgspec

from wallet_api.chains import CHAINS
from wallet_api.ledger.rows import (
    MAX_EVENT_INDEX,
    MAX_MINT,
    MAX_SIGNATURE,
    BadRow,
    Blockchain,
    check_address,
    check_text,
)

WalletKey = tuple[str, str]
TradeKey = tuple[str, str, str, str, bool, int]


class WalletIdentity(msgspec.Struct):
    """A wallet, tracked or not."""

    blockchain: Blockchain
    wallet_address: str

    def key(self) -> WalletKey:
        """Blockchain and address as they are stored. Raises BadRow."""
        return self.blockchain, _address(self.blockchain, self.wallet_address)


class TradeIdentity(msgspec.Struct):
    """A trade, imported or not."""

    blockchain: Blockchain
    wallet_address: str
    tx_signature: str
    mint: str
    transaction_type: Literal["buy", "sell"]
    event_index: Any = 0

    def key(self) -> TradeKey:
        """Blockchain, address, signature, mint, whether it is a sell, and index, as stored. Raises BadRow."""
        chain = CHAINS[self.blockchain]
        return (
            self.blockchain,
            _address(self.blockchain, self.wallet_address),
            check_text("tx_signature", self.tx_signature, MAX_SIGNATURE, required=True),
            chain.canonical(check_text("mint", self.mint, MAX_MINT, required=True)),
            self.transaction_type == "sell",
            _event_index(self.event_index),
        )


# Many trades are of one wallet, and to decode its address takes longer than all else that is done with a row.
@lru_cache(maxsize=10_000)
def _address(blockchain: Blockchain, text: str) -> str:
    return check_address(CHAINS[blockchain], text)


def _event_index(index: Any) -> int:
    if index is None or index == "":
        return 0
    if isinstance(index, str) and len(index) <= 10 and index.isascii() and index.isdecimal():
        index = int(index)
    if type(index) is not int or not 0 <= index <= MAX_EVENT_INDEX:
        raise BadRow(f"event_index must be a whole number from 0 to {MAX_EVENT_INDEX}")
    return index
