"""How soon new trades are in the ledger after their block: a histogram for each chain."""

import bisect
import math
from collections.abc import Sequence
from dataclasses import dataclass

from wallet_api.database import Connection, load_statements

_BOUNDS = (1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, math.inf)

_DELAYS = load_statements(__package__, "delays")


@dataclass(frozen=True, slots=True)
class Delays:
    """The delays of a chain: for each upper bound the trades with at most this delay, and their sum."""

    blockchain: str
    buckets: Sequence[tuple[float, int]]
    seconds: float

    def quantile(self, part: float) -> float:
        """Return the upper bound of the delays of the fastest `part` of the trades."""
        wanted = part * self.buckets[-1][1]
        return next(bound for bound, trades in self.buckets if trades >= wanted)


def save_delays(connection: Connection, blockchain: str, delays: Sequence[float]) -> None:
    """Add the delays of new trades, in seconds."""
    places = [bisect.bisect_left(_BOUNDS, delay) for delay in delays]
    met = sorted(set(places))
    parameters = {
        "blockchain": blockchain,
        "at_most": [_BOUNDS[place] for place in met],
        "trades": [places.count(place) for place in met],
        "seconds": [
            sum(delay for delay, of in zip(delays, places, strict=True) if of == place) for place in met
        ],
    }
    connection.execute(_DELAYS["add"], parameters)


def read_delays(connection: Connection) -> list[Delays]:
    """Return the delays of each chain that has some, since ever."""
    counts: dict[str, dict[float, tuple[int, float]]] = {}
    for row in connection.execute(_DELAYS["all"]):
        counts.setdefault(row["blockchain"], {})[row["at_most"]] = (row["trades"], row["seconds"])
    histograms = []
    for blockchain, met in counts.items():
        buckets, trades = [], 0
        for bound in _BOUNDS:
            trades += met.get(bound, (0, 0.0))[0]
            buckets.append((bound, trades))
        histograms.append(Delays(blockchain, buckets, sum(seconds for _, seconds in met.values())))
    return histograms
