"""The columns of a file that identify a wallet or a trade; all others are ignored."""

from functools import lru_cache
from typing import Any

import msgspec

from wallet_api.chains import CHAINS
from wallet_api.ledger.fields import (
    MAX_SIGNATURE,
    check_address,
    check_event_index,
    check_mint,
    check_text,
)
from wallet_api.ledger.rows import Blockchain, Side

WalletKey = tuple[str, str]
TradeKey = tuple[str, str, str, str, bool, int]


class WalletIdentity(msgspec.Struct):
    """A wallet, tracked or not."""

    blockchain: Blockchain
    wallet_address: str

    def key(self) -> WalletKey:
        """Return blockchain and address as they are stored. Raises BadRow."""
        return self.blockchain, _address(self.blockchain, self.wallet_address)


class TradeIdentity(msgspec.Struct):
    """A trade, imported or not."""

    blockchain: Blockchain
    wallet_address: str
    tx_signature: str
    mint: str
    transaction_type: Side
    event_index: Any = 0

    def key(self) -> TradeKey:
        """Return blockchain, address, signature, mint, is_sell and index as stored. Raises BadRow."""
        return (
            self.blockchain,
            _address(self.blockchain, self.wallet_address),
            check_text("tx_signature", self.tx_signature, MAX_SIGNATURE, required=True),
            check_mint(self.blockchain, self.mint),
            self.transaction_type == "sell",
            check_event_index(self.event_index),
        )


# Cached, since many trades have the same wallet, and decoding its address is slow.
@lru_cache(maxsize=10_000)
def _address(blockchain: Blockchain, text: str) -> str:
    return check_address(CHAINS[blockchain], text)
