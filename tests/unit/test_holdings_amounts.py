"""Amounts stay exact, and texts are cleaned, for any data of a chain."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.holdings.conftest import evm_token, impatient, make, read_rows
from tests.lib.settings import changed
from tests.stub.moralis import Balance, Portfolio
from tests.stub.server import Stub
from wallet_api.chain.providers.balances.base import BalanceProvider
from wallet_api.chain.providers.parsing import clean
from wallet_api.settings import Settings

PLAIN = re.compile(r"(0|[1-9][0-9]*)(\.[0-9]*[1-9])?")
INVISIBLE = "\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u061c\ufeff"
WALLET = "0x" + "ab" * 20

# Every length from one digit to the 78 of 2^256 - 1, not only the few large ones of a plain range.
uint256 = st.integers(0, 256).flatmap(lambda bits: st.integers(0, 2**bits - 1))
decimals = st.integers(0, 255)
holdings = st.lists(st.tuples(uint256, decimals), max_size=20)


@pytest.fixture(scope="module")
def wire() -> Iterator[Stub]:
    stub = Stub()
    yield stub
    stub.close()


@pytest.fixture(scope="module")
def providers(wire: Stub) -> dict[str, BalanceProvider]:
    own = impatient(Settings(), wire)
    return {name: make(changed(own, eth_provider=name), "eth") for name in ("moralis", "rpc", "alchemy")}


Read = Callable[[str, Portfolio], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def read(wire: Stub, providers: dict[str, BalanceProvider]) -> Read:
    """Return the rows of a wallet with these balances, read from a provider."""
    # A token's decimals never change on a chain, so each reading has tokens of its own.
    numbers = iter(range(10**9))

    def read(name: str, portfolio: Portfolio) -> list[dict[str, Any]]:
        tokens = tuple(
            token._replace(address=evm_token(next(numbers), 0).address) for token in portfolio.tokens
        )
        wire.portfolios["eth", WALLET] = Portfolio(portfolio.native, tokens)
        return read_rows(providers[name], "eth", WALLET, tokens)

    return read


@pytest.mark.parametrize("name", ["moralis", "rpc", "alchemy"])
@settings(max_examples=40, deadline=None)
@given(native=uint256, held=holdings)
def test_formatted_amounts_are_exact_to_the_last_digit(
    read: Read, name: str, native: int, held: list[tuple[int, int]]
) -> None:
    tokens = tuple(Balance("", "", "", places, units) for units, places in held)
    first, *rows = read(name, Portfolio(native, tokens))
    assert (first["token_address"], first["amount"]) == ("native", str(native))
    shown = [(int(row["amount"]), row["decimals"]) for row in rows]
    assert sorted(shown) == sorted((units, places) for units, places in held if units)
    for row in (first, *rows):
        assert re.fullmatch("0|[1-9][0-9]*", row["amount"])
        assert PLAIN.fullmatch(row["amount_formatted"])
        assert Fraction(row["amount_formatted"]) == Fraction(int(row["amount"]), 10 ** row["decimals"])
    keys = [(-Fraction(row["amount_formatted"]), row["token_address"]) for row in rows]
    assert keys == sorted(keys)


@given(st.text(st.characters(exclude_categories=[])))
def test_a_text_is_short_visible_and_storable(text: str) -> None:
    shown = clean(text)
    assert len(shown) <= 128
    assert not [letter for letter in shown if unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp")]
    assert not set(shown) & set(INVISIBLE)
    shown.encode()
    assert clean(shown) == shown
