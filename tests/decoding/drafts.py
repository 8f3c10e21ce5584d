"""Trades as the tests of decoding write them."""

from collections.abc import Iterable
from decimal import Decimal

from tests.sync.operator import plain
from wallet_api.chain.decoding.trades import Draft

USD = Decimal(160)


def shown(drafts: Iterable[Draft]) -> list[tuple[str, str, str, str]]:
    """Return token, side, amount and native value of each, where a coin costs USD."""
    sides = ((draft, "sell" if draft.is_sell else "buy") for draft in drafts)
    return sorted(
        (draft.mint, side, plain(draft.token_amount), plain(draft.value(USD))) for draft, side in sides
    )
