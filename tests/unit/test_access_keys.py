"""Keys, their hashes, the header they come in, and the rates they may have."""

import re
from hashlib import sha256

import pytest
from limits import parse

from wallet_api.keys import bearer_key, key_hash, normal_rate


@pytest.mark.parametrize(
    ("header", "key"),
    [
        (None, None),
        ("", None),
        ("Bearer", None),
        ("Bearer ", None),
        ("Bearer   ", None),
        ("Bearer a", "a"),
        ("bEaReR   a ", "a"),
        ("Bearer a b", None),
        ("Bearera", None),
        ("Basic a", None),
        (" Bearer a", None),
    ],
)
def test_the_key_of_a_header(header: str | None, key: str | None) -> None:
    assert bearer_key(header) == key


def test_what_is_stored_of_a_key_is_its_sha_256() -> None:
    assert key_hash("wk_a") == sha256(b"wk_a").digest()


@pytest.mark.parametrize("odd", ["", "\x00", "🐳", "a lone \ud800", "\udcff"])
def test_any_text_has_a_hash(odd: str) -> None:
    assert len(key_hash(odd)) == 32


@pytest.mark.parametrize(
    ("rate", "normal", "amount", "seconds"),
    [
        ("1/second", "1/second", 1, 1),
        ("300/minute", "300/minute", 300, 60),
        (" 300 / Minute ", "300/minute", 300, 60),
        ("5/hour", "5/hour", 5, 3600),
        ("999999999999/day", "999999999999/day", 999999999999, 86400),
    ],
)
def test_a_rate_is_a_count_and_a_period(rate: str, normal: str, amount: int, seconds: int) -> None:
    assert normal_rate(rate) == normal
    limit = parse(normal)
    assert (limit.amount, limit.get_expiry()) == (amount, seconds)


@pytest.mark.parametrize(
    "rate",
    [
        "",
        "0/minute",
        "-1/minute",
        "1.5/minute",
        "300",
        "/minute",
        "300/week",
        "300 per minute",
        "٣/minute",
        "1/minute\n",
    ],
)
def test_any_other_rate_is_refused_with_what_is_allowed(rate: str) -> None:
    with pytest.raises(ValueError, match=re.escape("COUNT/second, /minute, /hour or /day")):
        normal_rate(rate)
