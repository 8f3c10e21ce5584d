"""The hours of the day in which a wallet trades."""

from collections.abc import Sequence

_HOURS = 24


def active_hours(trades: Sequence[int]) -> str:
    """Return the shortest run of hours with at least 80 % of the trades, such as "13:00-21:00 UTC".

    `trades` has a number for each hour of UTC. A run may pass midnight; its end is exclusive. Of runs of the
    same length that with most trades is returned, then the one that starts first; "" without trades.
    """
    total = sum(trades)
    if total == 0:
        return ""
    twice = [*trades, *trades]
    for length in range(1, _HOURS + 1):
        runs = [sum(twice[start : start + length]) for start in range(_HOURS)]
        most = max(runs)
        if most * 100 >= total * 80:
            break
    start = runs.index(most)
    end = (start + length) % _HOURS or _HOURS
    return f"{start:02}:00-{end:02}:00 UTC"
