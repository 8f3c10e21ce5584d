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


# However busy the machine is.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


class Key(msgspec.Struct, array_like=True, frozen=True):
    """A key with a part of every kind in use."""

    created_at: Moment
    is_sell: bool
    text: Text
    number: Index
    amount: Figure


keys = st.builds(
    Key,
    created_at=st.datetimes(timezones=st.just(UTC)),
    is_sell=st.booleans(),
    text=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
    number=st.integers(0, 2**31 - 1),
    amount=st.decimals(allow_nan=False, allow_infinity=False, places=9).map("{:f}".format),
)


@unhurried
@given(keys)
def test_a_key_comes_back_as_it_was(key: Key) -> None:
    cursor = encode(SCOPE, key)
    assert decode(cursor, SCOPE, Key) == key
    # It can stand in a query string as it is.
    assert cursor.isascii()
    assert cursor.replace("-", "").replace("_", "").isalnum()


@unhurried
@given(keys, st.integers(0, 3), st.text(max_size=3))
def test_a_cursor_of_another_query_is_refused(key: Key, place: int, other: str) -> None:
    scope = list(SCOPE)
    scope[place] += other or "x"
    with pytest.raises(InvalidParameter) as refused:
        decode(encode(tuple(scope), key), SCOPE, Key)
    assert refused.value.parameter == "cursor"


@unhurried
@given(keys, st.data())
def test_a_cursor_with_a_character_changed_is_refused_or_names_another_key(
    key: Key, data: st.DataObject
) -> None:
    cursor = encode(SCOPE, key)
    place = data.draw(st.integers(0, len(cursor) - 1))
    changed = cursor[:place] + data.draw(st.sampled_from("A_-9z=/+ é")) + cursor[place + 1 :]
    try:
        found = decode(changed, SCOPE, Key)
    except InvalidParameter:
        return
    assert encode(SCOPE, found) == changed


@unhurried
@given(st.one_of(st.text(max_size=80), st.binary(max_size=60).map(lambda raw: raw.hex())))
def test_a_cursor_that_was_not_encoded_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidParameter):
        decode(cursor, SCOPE, Key)


def test_a_key_of_another_shape_is_refused() -> None:
    others: list[Any] = ["text", 1, None, [], {}, [1, 2, 3, 4, 5]]
    for key in others:
        with pytest.raises(InvalidParameter):
            decode(encode(SCOPE, key), SCOPE, Key)


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
