"""The columns of a file that identify a wallet or a trade; all others are ignored."""

from typing import Any

import msgspec

from wallet_api.forms import MAX_SIGNATURE, check_address, check_event_index, check_text
from wallet_api.ledger.rows import Blockchain, Side

WalletKey = tuple[str, str]
TradeKey = tuple[str, str, str, str, bool, int]


class WalletIdentity(msgspec.Struct):
    """A wallet, tracked or not."""

    blockchain: Blockchain
    wallet_address: str

    def key(self) -> WalletKey:
        """Return blockchain and address as they are stored. Raises BadRow."""
        return self.blockchain, check_address(self.blockchain, self.wallet_address)


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
            check_address(self.blockchain, self.wallet_address),
            check_text("tx_signature", self.tx_signature, MAX_SIGNATURE, required=True),
            check_address(self.blockchain, self.mint, "mint"),
            self.transaction_type == "sell",
            check_event_index(self.event_index),
        )
