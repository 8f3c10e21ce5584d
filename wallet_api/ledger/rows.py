"""The rows of the files taken in: their fields, and what makes one bad."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Literal, TypeVar

import msgspec

from wallet_api.chains import CHAINS, Chain

Blockchain = Literal["solana", "bnb", "base", "eth"]
Currency = Literal["SOL", "BNB", "ETH"]

RowType = TypeVar("RowType", bound=msgspec.Struct)

AHEAD = timedelta(minutes=5)
EARLIEST = datetime(2009, 1, 3, tzinfo=UTC)
MAX_TEXT = 2048
MAX_MINT = 128
MAX_SIGNATURE = 256
MAX_EVENT_INDEX = 2**31 - 1
# Far beyond any real token, and narrow enough that every quotient keeps its 40 decimals.
MAX_WHOLE_DIGITS = 60
MAX_DECIMALS = 36


class BadRow(ValueError):
    """The row cannot land; the message says why."""


class WalletRow(msgspec.Struct):
    """A tracked wallet and its public profile."""

    blockchain: Blockchain
    type: Literal["kol", "smart", "whale"]
    wallet_address: str
    name: str | None = None
    image_url: str | None = None
    twitter: str | None = None
    telegram: str | None = None
    copytrade_link: str | None = None

    def columns(self) -> tuple[str, ...]:
        """The values of the wallets table, in the order of wallets.sql. Raises BadRow."""
        chain = CHAINS[self.blockchain]
        if self.type not in chain.types:
            raise BadRow(
                f"type {self.type} does not exist on {chain.name}; allowed: {', '.join(chain.types)}"
            )
        profile = (self.name, self.image_url, self.twitter, self.telegram, self.copytrade_link)
        names = ("name", "image_url", "twitter", "telegram", "copytrade_link")
        texts = [
            text and check_text(field, text, MAX_TEXT) for field, text in zip(names, profile, strict=True)
        ]
        return (
            chain.name,
            self.type,
            check_address(chain, self.wallet_address),
            *(text or "" for text in texts),
        )


class TradeRow(msgspec.Struct, gc=False):
    """One trade of a tracked wallet. Amounts are exact decimals in the token, the native coin, and USD."""

    blockchain: Blockchain
    wallet_address: str
    tx_signature: str
    mint: str
    transaction_type: Literal["buy", "sell"]
    token_amount: Decimal
    value: Decimal
    created_at: datetime
    token_name: str | None = None
    value_usd: Decimal | None = None
    event_index: int | None = None

    def check(self, now: datetime) -> tuple[str, str, str | None]:
        """Put the row into its stored form; its amounts as texts: token, value, USD. Raises BadRow."""
        if not CHAINS[self.blockchain].case_sensitive:
            self.mint = self.mint.lower()
            self.wallet_address = self.wallet_address.lower()
        # To call a function for each field takes as long as all else that is done with a row.
        if not 0 < len(self.tx_signature) <= MAX_SIGNATURE or "\0" in self.tx_signature:
            check_text("tx_signature", self.tx_signature, MAX_SIGNATURE, required=True)
        if not 0 < len(self.mint) <= MAX_MINT or "\0" in self.mint:
            check_text("mint", self.mint, MAX_MINT, required=True)
        if self.token_name is not None:
            if len(self.token_name) > MAX_TEXT or "\0" in self.token_name:
                check_text("token_name", self.token_name, MAX_TEXT)
            self.token_name = self.token_name or None
        if not self.token_amount:
            raise BadRow("token_amount must be above 0")
        amount = check_amount("token_amount", self.token_amount)
        value = check_amount("value", self.value)
        usd = None if self.value_usd is None else check_amount("value_usd", self.value_usd)
        if self.created_at.tzinfo is None or not EARLIEST <= self.created_at <= now:
            self.created_at = check_time("created_at", self.created_at, now)
        if self.event_index is None:
            self.event_index = 0
        elif not 0 <= self.event_index <= MAX_EVENT_INDEX:
            raise BadRow(f"event_index must be from 0 to {MAX_EVENT_INDEX}")
        return amount, value, usd


class PriceRow(msgspec.Struct):
    """The price of a native coin in USD at a moment."""

    currency: Currency
    usd: Decimal
    priced_at: datetime

    def check(self, now: datetime) -> None:
        """Put the row into its stored form. Raises BadRow."""
        check_amount("usd", self.usd, above_zero=True)
        self.priced_at = check_time("priced_at", self.priced_at, now)


def check_address(chain: Chain, text: str) -> str:
    """The stored form of an address. Raises BadRow."""
    if not chain.is_address(text):
        raise BadRow(f"wallet_address is not a {chain.name} address ({chain.address_form})")
    return chain.canonical(text)


def check_text(field: str, text: str, longest: int, *, required: bool = False) -> str:
    """The text itself. Raises BadRow where PostgreSQL would not take it, or it is too long."""
    if required and not text:
        raise BadRow(f"{field} is empty")
    if len(text) > longest:
        raise BadRow(f"{field} is longer than {longest} characters")
    if "\0" in text:
        raise BadRow(f"{field} contains a NUL character")
    return text


def check_amount(field: str, amount: Decimal, *, above_zero: bool = False) -> str:
    """The amount as text. Raises BadRow unless finite, not negative (or above zero), of bearable length."""
    # Nearly all amounts are short and plain, and their text is the cheapest to look at.
    text = str(amount)
    plain = len(text) <= MAX_DECIMALS and text.replace(".", "").isdecimal()
    if plain and (amount or not above_zero):
        return text
    if not amount.is_finite():
        raise BadRow(f"{field} is not a finite number")
    if amount < 0 or (above_zero and not amount):
        raise BadRow(f"{field} must be {'above 0' if above_zero else 'at least 0'}")
    exponent = amount.as_tuple().exponent
    assert isinstance(exponent, int)
    if exponent < -MAX_DECIMALS or amount.adjusted() >= MAX_WHOLE_DIGITS:
        raise BadRow(
            f"{field} has more than {MAX_WHOLE_DIGITS} digits before or {MAX_DECIMALS} after the point"
        )
    return text


def check_time(field: str, moment: datetime, now: datetime) -> datetime:
    """The moment, aware; one without an offset is UTC. Raises BadRow when it cannot be."""
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if moment > now + AHEAD:
        raise BadRow(f"{field} is more than 5 minutes ahead of now")
    if moment < EARLIEST:
        raise BadRow(f"{field} is before {EARLIEST:%Y-%m-%d}, when there was no blockchain")
    return moment


def good(row: RowType | BadRow) -> RowType:
    """The row itself. Raises the BadRow that a reader found in its place."""
    if isinstance(row, BadRow):
        raise row
    return row
