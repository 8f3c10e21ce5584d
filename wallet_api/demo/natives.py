"""The price of a native coin over the days of a world: a random walk with a sample every ten minutes."""

from collections.abc import Iterator
from random import Random

from wallet_api.demo.forms import seeded

STEP_SECONDS = 600
USD_DECIMALS = 4
_LEVELS = {"SOL": 182.0, "BNB": 640.0, "ETH": 3050.0}
_GAP_SECONDS = 5 * 3600


class NativePrice:
    """The US dollar price of one currency. Seconds count from the start of the world."""

    def __init__(self, currency: str, span_seconds: int, seed: object, *, with_gap: bool = True) -> None:
        self.currency = currency
        self._with_gap = with_gap
        self._span_seconds = span_seconds
        # Samples are counted from the end, so that the last one is at the end of the world.
        self._first = span_seconds % STEP_SECONDS
        self._samples = _walk(_LEVELS[currency], span_seconds // STEP_SECONDS + 1, seeded(seed, currency))

    def at(self, second: int) -> int:
        """Return the price near `second`, in 10^-4 US dollars."""
        place = (second - self._first + STEP_SECONDS // 2) // STEP_SECONDS
        return self._samples[min(max(place, 0), len(self._samples) - 1)]

    def known(self) -> Iterator[tuple[int, int]]:
        """Yield second and price of each recorded sample, oldest first, without those in the gap."""
        gap_start = self._span_seconds * 3 // 5
        gap_seconds = min(_GAP_SECONDS, self._span_seconds // 5) if self._with_gap else 0
        for place, price in enumerate(self._samples):
            second = self._first + place * STEP_SECONDS
            if not gap_start <= second < gap_start + gap_seconds:
                yield second, price


def _walk(level: float, steps: int, random: Random) -> list[int]:
    samples = []
    drift = 0.0
    for _ in range(steps):
        # The factor pulls the price back, so that it stays plausible in a long world.
        drift = drift * 0.9997 + random.gauss(0, 0.0025)
        samples.append(round(level * (1 + drift) * 10**USD_DECIMALS) if drift > -0.9 else 1)
    return samples
