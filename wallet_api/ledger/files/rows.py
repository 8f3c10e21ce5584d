"""The rows of files, whole or only what identifies them: their fields and checks.

An optional field that a row leaves out is UNSET; one that is given without a value is None or "".
"""

from datetime import datetime
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from wallet_api.base.chains import CHAINS, Blockchain, WalletType
from wallet_api.base.coins import Currency
from wallet_api.base.forms import (
    AMOUNT_FORM,
    EARLIEST,
    MAX_BLOCK,
    MAX_EVENT_INDEX,
    MAX_TEXT,
    BadRow,
    check_address,
    check_amount,
    check_event_index,
    check_text,
    check_time,
    must_be,
    one_of,
    optional_amount,
    visible,
    whole_number,
)
from wallet_api.ledger.signatures import check_signature, stored_signature

Side = Literal["buy", "sell"]
Text = str | None | UnsetType
# As in the file, or a Decimal. check_amount decides, since msgspec accepts forms such as "1_000".
RawAmount = Any

# Token amount, value, USD, and the value that was exchanged, as texts.
RowAmounts = tuple[str, str | UnsetType, Text, Text]

RowType = TypeVar("RowType", bound=msgspec.Struct)


class WalletRow(msgspec.Struct):
    """A tracked wallet and its public profile."""

    blockchain: Blockchain
    type: WalletType
    wallet_address: str
    name: Text = UNSET
    image_url: Text = UNSET
    twitter: Text = UNSET
    telegram: Text = UNSET
    copytrade_link: Text = UNSET

    def columns(self) -> tuple[str | None, ...]:
        """Return the values as in `incoming_wallets`; None for a field that is left out. Raises BadRow."""
        chain = CHAINS[self.blockchain]
        if self.type not in chain.types:
            raise must_be("type", f"{one_of(chain.types)} on {chain.name}", self.type)
        profile = (self.name, self.image_url, self.twitter, self.telegram, self.copytrade_link)
        names = ("name", "image_url", "twitter", "telegram", "copytrade_link")
        return (
            chain.name,
            self.type,
            check_address(chain.name, self.wallet_address),
            *(_profile_text(field, text) for field, text in zip(names, profile, strict=True)),
        )


class TradeRow(msgspec.Struct, gc=False):
    """One trade of a tracked wallet. Amounts are exact decimals in the token, the native coin, and USD.

    It has a value, a value in USD, or both. Its place in the chain is a block (a slot) and the place of its
    transaction in that; UNSET where they are not known.
    """

    blockchain: Blockchain
    wallet_address: str
    tx_signature: str
    mint: str
    transaction_type: Side
    token_amount: RawAmount
    created_at: datetime
    value: RawAmount = UNSET
    token_name: Text = UNSET
    value_usd: RawAmount = UNSET
    exchanged_value: RawAmount = UNSET
    event_index: Any = UNSET
    block: Any = UNSET
    block_index: Any = UNSET

    def check(self, now: datetime) -> RowAmounts:
        """Convert the row to its stored form. Raises BadRow.

        Return its amounts. The value is UNSET if USD alone are stated.
        """
        self.mint = check_address(self.blockchain, self.mint, "mint")
        self.wallet_address = self.wallet_address.strip()
        if not CHAINS[self.blockchain].case_sensitive:
            self.wallet_address = self.wallet_address.lower()
        self.tx_signature = check_signature(self.tx_signature)
        name = self.token_name
        # The conditions are repeated here, since calling a function for each field is slow.
        if name and (len(name) > MAX_TEXT or "\0" in name):
            check_text("token_name", name, MAX_TEXT)
        if name:
            self.token_name = (name if name.isprintable() else visible(name)).strip()
        amount = check_amount("token_amount", self.token_amount, above_zero=True)
        usd = optional_amount("value_usd", self.value_usd)
        value = optional_amount("value", self.value)
        if not value and usd:
            value = UNSET
        elif not value:
            raise BadRow(f"value is empty; it must be {AMOUNT_FORM}, unless value_usd is stated")
        exchanged = optional_amount("exchanged_value", self.exchanged_value)
        if self.created_at.tzinfo is None or not EARLIEST <= self.created_at <= now:
            self.created_at = check_time("created_at", self.created_at, now)
        self.event_index = 0 if self.event_index is UNSET else check_event_index(self.event_index)
        if self.block is not UNSET or self.block_index is not UNSET:
            self._check_place()
        return amount, value, usd, exchanged

    def _check_place(self) -> None:
        """Convert the place in the chain; an empty field is one that is left out. Raises BadRow."""
        for name, most in (("block", MAX_BLOCK), ("block_index", MAX_EVENT_INDEX)):
            number = whole_number(name, getattr(self, name), most)
            setattr(self, name, UNSET if number is None else number)
        if self.block_index is not UNSET and self.block is UNSET:
            raise BadRow("block_index is the place in a block, and block is missing")


class PriceRow(msgspec.Struct):
    """The price of a native coin in USD at a moment."""

    currency: Currency
    usd: RawAmount
    priced_at: datetime

    def columns(self, now: datetime) -> tuple[object, ...]:
        """Return currency, price and time as they are stored. Raises BadRow."""
        priced_at = check_time("priced_at", self.priced_at, now)
        return self.currency, check_amount("usd", self.usd, above_zero=True), priced_at


class QuoteRow(msgspec.Struct):
    """The price of a token in USD on a market at a moment, and what that market holds in USD, if known."""

    blockchain: Blockchain
    mint: str
    usd: RawAmount
    priced_at: datetime
    liquidity_usd: RawAmount = UNSET

    def check(self, now: datetime) -> tuple[datetime, str, str | None]:
        """Convert the mint to its stored form, and return time, price and liquidity. Raises BadRow."""
        self.mint = check_address(self.blockchain, self.mint, "mint")
        usd = check_amount("usd", self.usd, above_zero=True)
        liquidity = optional_amount("liquidity_usd", self.liquidity_usd)
        return check_time("priced_at", self.priced_at, now), usd, None if liquidity is UNSET else liquidity


class WalletIdentity(msgspec.Struct):
    """A wallet, tracked or not."""

    blockchain: Blockchain
    wallet_address: str

    def key(self) -> tuple[str, str]:
        """Return blockchain and address as they are stored. Raises BadRow."""
        return self.blockchain, check_address(self.blockchain, self.wallet_address)


class TradeIdentity(msgspec.Struct):
    """A trade, imported or not."""

    blockchain: Blockchain
    wallet_address: str
    tx_signature: str
    mint: str
    transaction_type: Side
    event_index: Any = UNSET

    def key(self) -> tuple[str, str, str, str, bool, int]:
        """Return blockchain, address, signature, mint, is_sell and index as stored. Raises BadRow."""
        return (
            self.blockchain,
            check_address(self.blockchain, self.wallet_address),
            # What an earlier version has stored can be removed, whatever it is.
            stored_signature(self.tx_signature),
            check_address(self.blockchain, self.mint, "mint"),
            self.transaction_type == "sell",
            check_event_index(self.event_index),
        )


class TokenIdentity(msgspec.Struct):
    """A token of a file; all other columns are ignored."""

    blockchain: Blockchain
    mint: str

    def key(self) -> tuple[str, str]:
        """Return blockchain and mint as they are stored. Raises BadRow."""
        return self.blockchain, check_address(self.blockchain, self.mint, "mint")


def good(row: RowType | BadRow) -> RowType:
    """Return the row itself. Raises the BadRow that a reader yielded in its place."""
    if isinstance(row, BadRow):
        raise row
    return row


def _profile_text(field: str, text: Text) -> str | None:
    return None if text is UNSET else visible(check_text(field, text or "", MAX_TEXT)).strip()
