"""The rows of a snapshot for the response: filtered, ordered, and with amounts in decimal notation."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

import msgspec
import orjson

from wallet_api.base.chains import Chain
from wallet_api.base.forms import without_zeros
from wallet_api.base.times import shown_time
from wallet_api.chain.providers.balances.base import NATIVE, Balances, HeldToken
from wallet_api.holdings.snapshots import Snapshot

_ROWS = msgspec.json.Decoder(list[msgspec.Raw])


@dataclass(frozen=True, slots=True)
class FormattedSnapshot:
    """A snapshot whose rows are formatted: `tokens` is the JSON array of the response, `count` its length.

    `left_out` counts the rows of the provider that could not be read.
    """

    tokens: bytes
    count: int
    left_out: int
    refreshed_at: datetime
    taken_at: float

    def rows(self, start: int = 0, end: int | None = None) -> list[bytes]:
        """Return the rows from `start` to before `end`, each as JSON."""
        return [bytes(row) for row in _ROWS.decode(self.tokens)[start:end]]

    @property
    def last_updated(self) -> str:
        """Return when the balances were fetched: UTC, ISO 8601 with Z, whole seconds."""
        return shown_time(self.refreshed_at)

    @property
    def warnings(self) -> list[str]:
        """Return the warnings about the balances."""
        if not self.left_out:
            return []
        rows = "row" if self.left_out == 1 else "rows"
        return [f"{self.left_out} {rows} of the provider could not be read: these balances are not complete."]


@dataclass(frozen=True)
class Filter:
    """Which tokens are shown: none that is denied, and those flagged as spam only with `keep_spam`."""

    keep_spam: bool
    denied: frozenset[tuple[str, str]] = frozenset()

    def shows(self, chain: Chain, token: HeldToken) -> bool:
        """Return whether the token is shown."""
        return (self.keep_spam or not token.spam) and (chain.name, token.address) not in self.denied


def format_snapshot(chain: Chain, snapshot: Snapshot, shown: Filter) -> FormattedSnapshot:
    """Return the rows of a snapshot that are shown, as JSON."""
    tokens = in_order(chain, snapshot.balances, shown)
    left_out = snapshot.balances.left_out
    return FormattedSnapshot(
        tokens_json(tokens), len(tokens), left_out, snapshot.refreshed_at, snapshot.taken_at
    )


def in_order(chain: Chain, balances: Balances, shown: Filter) -> list[HeldToken]:
    """Return the native coin, then the tokens with a balance, largest amount first, ties by address."""
    native = HeldToken(
        NATIVE, chain.coin.name, chain.currency, balances.native, chain.native_decimals, verified=True
    )
    held = [token for token in balances.tokens if token.amount and shown.shows(chain, token)]
    held.sort(key=lambda token: token.address)
    # Decimals compare exactly, whatever the context's precision; reverse keeps ties in order.
    held.sort(key=lambda token: Decimal(f"{token.amount}E-{token.decimals}"), reverse=True)
    return [native, *held]


def tokens_json(tokens: Iterable[HeldToken]) -> bytes:
    """Return the rows as the JSON array of the response."""
    return orjson.dumps(
        [
            {
                "token_address": token.address,
                "token_name": token.name,
                "symbol": token.symbol,
                "amount": str(token.amount),
                "amount_formatted": _whole_tokens(token.amount, token.decimals),
                "decimals": token.decimals,
                "verified_contract": token.verified,
            }
            for token in tokens
        ]
    )


def _whole_tokens(amount: int, decimals: int) -> str:
    """Return `amount / 10 ** decimals` in plain decimal notation: every digit, no trailing zeros."""
    # By its digits, which takes half as long as by a Decimal.
    digits = str(amount).rjust(decimals + 1, "0")
    point = len(digits) - decimals
    return without_zeros(f"{digits[:point]}.{digits[point:]}") if decimals else digits
