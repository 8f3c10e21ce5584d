"""The rates that keys may have; what they let through is in tests/api/test_limits.py."""

import re

import pytest

from wallet_api.keys import normal_rate


def test_a_rate_is_a_count_and_a_period() -> None:
    assert normal_rate(" 300 / Minute ") == "300/minute"
    for rate in ("1/second", "5/hour", "999999999999/day"):
        assert normal_rate(rate) == rate
    for rate in (
        *("", "0/minute", "-1/minute", "1.5/minute", "300", "/minute", "300/week", "300 per minute"),
        *("٣/minute", "1/minute\n", "1000000000000/day"),
    ):
        with pytest.raises(ValueError, match=re.escape("COUNT/second, /minute, /hour or /day")):
            normal_rate(rate)
