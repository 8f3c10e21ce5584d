"""Cursors: what was encoded is decoded, and anything else is refused."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wallet_api.errors import InvalidParameter
from wallet_api.queries.cursors import Figure, Index, Moment, Text, decode, encode

SCOPE = ("history", "solana", "kol", "So11111111111111111111111111111111111111112")


class Key(msgspec.Struct, array_like=True, frozen=True):
    """A key with a part of every kind in use."""

    created_at: Moment
    is_sell: bool
    text: Text
    number: Index
    amount: Figure


# However busy the machine is.
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.one_of(st.text(max_size=80), st.binary(max_size=60).map(lambda raw: raw.hex())))
def test_a_cursor_that_was_not_encoded_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidParameter):
        decode(cursor, SCOPE, Key)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("created_at", datetime(2026, 1, 1)),  # noqa: DTZ001
        ("text", "nul\0"),
        ("number", -1),
        ("number", 2**31),
        ("amount", "NaN"),
        ("amount", "Infinity"),
        ("amount", "--1"),
        ("amount", "-"),
        ("amount", "1e9"),
    ],
)
def test_a_forged_key_that_no_row_can_have_is_refused(field: str, value: Any) -> None:
    whole = Key(datetime(2026, 1, 1, tzinfo=UTC), True, "text", 0, "1.5")
    assert decode(encode(SCOPE, whole), SCOPE, Key) == whole
    with pytest.raises(InvalidParameter):
        decode(encode(SCOPE, msgspec.structs.replace(whole, **{field: value})), SCOPE, Key)
