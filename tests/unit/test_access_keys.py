"""Keys, their hashes, the header they come in, and the rates they may have."""

import re

import pytest
from limits import parse

from wallet_api.keys import normal_rate


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
