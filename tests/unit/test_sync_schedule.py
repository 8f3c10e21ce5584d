"""Rounds begin at even intervals, however long they take."""

import pytest

from wallet_api.sync.schedule import next_due


@pytest.mark.parametrize(
    ("due", "now", "begins"),
    [
        (0.0, 0.0, 60.0),
        (0.0, 59.9, 60.0),
        # A long one is followed at once, and the grid stays.
        (0.0, 61.0, 60.0),
        (60.0, 119.0, 120.0),
        (0.0, 150.0, 120.0),
    ],
)
def test_beginnings_stay_on_the_grid(due: float, now: float, begins: float) -> None:
    assert next_due(due, now, 60.0) == begins
