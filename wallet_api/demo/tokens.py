"""The tokens of a chain: their launches, names, and prices over time."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, log
from random import Random

from wallet_api.chains import Chain
from wallet_api.demo.forms import evm_address, seeded, solana_address
from wallet_api.demo.words import TOKEN_BACKS, TOKEN_FRONTS

MAJORS = 12
_LEAD_SECONDS = 10 * 86400
_GROWTH = 1.25
_KNOTS_PER_LOG = 1 / log(_GROWTH)
_WIGGLE_SECONDS = 900


@dataclass(frozen=True, slots=True)
class Token:
    """A token. `scale` is a million whole tokens in the smallest unit; prices are quoted for that amount."""

    mint: str
    name: str
    symbol: str
    decimals: int
    scale: int
    verified: bool
    launched: int
    heights: Sequence[float]
    wiggle: Sequence[float]
    phase: int

    def price(self, second: int) -> int:
        """Return the price of a million whole tokens at `second`, in the native coin's smallest unit."""
        age = max(second - self.launched, 0)
        # The ages of knots grow by a constant factor: prices move as much in the first hour as in a month.
        place = log(1 + age / 60) * _KNOTS_PER_LOG
        knot = int(place)
        low, high = self.heights[knot], self.heights[knot + 1]
        sway = self.wiggle[(age // _WIGGLE_SECONDS + self.phase) % len(self.wiggle)]
        return max(int(exp(low + (high - low) * (place - knot) + sway)), 1)


class Market:
    """The tokens of one chain, numbered by launch: a few old tokens with stable prices, then new launches."""

    def __init__(self, chain: Chain, count: int, span_seconds: int, seed: object) -> None:
        self._chain = chain
        self._count = count
        self._seed = seed
        self._spacing = (span_seconds + _LEAD_SECONDS) / (count - MAJORS)
        self._knots = int(log(2 + (span_seconds + 100 * 86400) / 60) * _KNOTS_PER_LOG) + 2
        self._wiggle = _wiggle(seeded(seed, chain.name, "wiggle"))
        self.token = lru_cache(maxsize=None)(self._token)

    def launched_before(self, second: int, age_seconds: float) -> int:
        """Return the number of a token about `age_seconds` old at `second`, or of the oldest launch."""
        launches = int((second - age_seconds + _LEAD_SECONDS) / self._spacing)
        return min(MAJORS + max(launches, 0), self._count - 1)

    def _token(self, number: int) -> Token:
        random = seeded(self._seed, self._chain.name, "token", number)
        major = number < MAJORS
        solana = self._chain.name == "solana"
        if solana:
            mint = solana_address(random, "" if major or random.random() < 0.25 else "pump")
        else:
            mint = evm_address(random)
        first, second = random.choice(TOKEN_FRONTS), random.choice(TOKEN_BACKS)
        decimals = random.choices((6, 9), (8, 2))[0] if solana else random.choices((18, 9, 6), (85, 10, 5))[0]
        launched = -90 * 86400 if major else int((number - MAJORS) * self._spacing) - _LEAD_SECONDS
        # A launchpad mints 10^9 tokens, which are first worth about 400 SOL together.
        worth = {"SOL": 400.0, "BNB": 120.0, "ETH": 25.0}[
            self._chain.currency
        ] * 10**self._chain.native_decimals
        start = log(worth * (1e3 if major else random.lognormvariate(0, 0.6)) / 1000)
        return Token(
            mint=mint,
            name=f"{first} {second}" if random.random() < 0.7 else f"{first}{second.lower()}",
            symbol=f"{first}{second}"[:10].upper(),
            decimals=decimals,
            scale=10 ** (6 + decimals),
            verified=major or random.random() < 0.05,
            launched=launched,
            heights=_path(random, start, self._knots, steady=major),
            wiggle=self._wiggle,
            phase=random.randrange(len(self._wiggle)),
        )


def _path(random: Random, start: float, knots: int, *, steady: bool) -> Sequence[float]:
    """Return the logarithm of the price at each knot."""
    if steady:
        peak, peak_knot, last, fall_knots, noise = 0.0, 1, random.gauss(0, 0.3), 10, 0.08
    else:
        fate = random.random()
        if fate < 0.3:  # rug pull: rises within the hour, then collapses
            peak, peak_knot = random.uniform(0.3, 1.8), random.randint(4, 18)
            last, fall_knots = random.uniform(-5.0, -2.5), random.randint(1, 3)
        elif fate < 0.7:  # rises for some hours, then falls slowly
            peak, peak_knot = random.uniform(0.8, 2.4), random.randint(8, 28)
            last, fall_knots = random.uniform(-2.5, -0.3), random.randint(8, 20)
        elif fate < 0.92:  # rises for days, and keeps a part
            peak, peak_knot = random.uniform(2.3, 4.6), random.randint(22, 40)
            last, fall_knots = peak - random.uniform(0.3, 2.5), random.randint(6, 15)
        else:  # never rises
            peak, peak_knot, last, fall_knots = 0.0, 1, random.uniform(-1.5, 0.2), 25
        noise = 0.12
    heights = array("d")
    for knot in range(knots):
        if knot <= peak_knot:
            trend = peak * knot / peak_knot
        else:
            trend = peak + (last - peak) * min((knot - peak_knot) / fall_knots, 1.0)
        heights.append(start + trend + random.gauss(0, noise))
    return heights


def _wiggle(random: Random) -> Sequence[float]:
    """Return a series of short swings, which each token begins at another place."""
    series = array("d", [0.0])
    for _ in range(1023):
        series.append(series[-1] * 0.93 + random.gauss(0, 0.05))
    return series
