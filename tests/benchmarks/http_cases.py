"""What the HTTP benchmark requests, and with which keys."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.benchmarks.http_world import PAGE, RECORDS, solana_address
from wallet_api.api.keys import PREFIX, key_hash
from wallet_api.base.chains import CHAINS
from wallet_api.database import connect

# What two checkouts are compared by, each with its target as a share of bare Flask.
TARGETS = {
    "ordinary keys, one question": 0.6,
    "ordinary keys, mixed": 0.35,
    "ordinary keys, all operations": None,
}
_ONE_QUESTION = "/v1/transactions/volume?blockchain=solana&type=kol&seconds=3600"
_EVERYONE = "/v1/wallets?blockchain=base&type=smart"
_PERIODS = ("6h", "1d", "7d", "30d")
_GROUPS = [(chain.name, type) for chain in CHAINS.values() for type in chain.types]
# So many different requests a case, unless it has more keys.
_CALLS = 15_000
_INSERT = """
INSERT INTO api_keys (name, key_hash, credits, rate)
SELECT %(name)s || ' ' || place,
       key_hash,
       %(credits)s,
       %(rate)s
  FROM unnest(%(hashes)s::bytea[]) WITH ORDINALITY AS made (key_hash, place)
"""


@dataclass(frozen=True)
class Keys:
    """Keys by kind: one without limits that matter, and others with the default rate.

    Those of `low` have 1,000 credits, which charges each request before its response; others a million.
    """

    hot: Sequence[str]
    ordinary: Sequence[str]
    many: Sequence[str]
    low: Sequence[str]

    def save(self, database_url: str) -> None:
        """Insert all keys into the database."""
        rest = (("ordinary", 1_000_000, None), ("many", 1_000_000, None), ("low", 1_000, None))
        with connect(database_url) as connection:
            for name, credits, rate in (("hot", 10**12, "100000000/minute"), *rest):
                hashes = [key_hash(key) for key in getattr(self, name)]
                parameters = {"name": name, "credits": credits, "rate": rate, "hashes": hashes}
                connection.execute(_INSERT, parameters)
            connection.execute("VACUUM ANALYZE api_keys")


def make_keys(low: int) -> Keys:
    """Return new keys. One insertion by the command line takes half a second, so they are made here."""
    counts = {"hot": 1, "ordinary": 1_500, "many": 15_000, "low": low}
    return Keys(
        **{name: [PREFIX + secrets.token_urlsafe(32) for _ in range(n)] for name, n in counts.items()}
    )


class Call(NamedTuple):
    """One request."""

    path: str
    key: str = ""
    accept_encoding: str = ""


def write_calls(file: Path, calls: Sequence[Call]) -> Path:
    """Write the requests for wrk's script."""
    file.write_text("".join("\t".join(call) + "\n" for call in calls))
    return file


class Questions:
    """Draws paths at random, the popular ones more often."""

    def __init__(self, cursors: Sequence[str]) -> None:
        self._cursors = cursors
        # Zipf: the wallet of rank n is wanted a nth as often as the first.
        self._popularity = list(accumulate(1 / rank for rank in range(1, len(RECORDS) + 1)))

    def one(self, chance: Random) -> str:
        """The same path each time."""
        return _ONE_QUESTION

    def mixed(self, chance: Random) -> str:
        """Two histories to each leaderboard, volume and list."""
        kinds = (self.history, self.history, self.leaderboard, self.volume, self.list)
        return chance.choice(kinds)(chance)

    def history(self, chance: Random) -> str:
        """The history of one of 400 wallets, by popularity."""
        return f"/v1/wallets/history?type=whale&{self._wallet(chance)}"

    def leaderboard(self, chance: Random) -> str:
        """The ten first of any group and period."""
        return f"/v1/wallet/leaderboard?{_group(chance)}&period={chance.choice(_PERIODS)}&limit=10"

    def volume(self, chance: Random) -> str:
        """The volume of any group, in one of a few windows."""
        return (
            f"/v1/transactions/volume?{_group(chance)}&seconds={chance.choice((300, 3_600, 21_600, 86_400))}"
        )

    def list(self, chance: Random) -> str:
        """Any page of 50 of 5,000 wallets."""
        return f"{_EVERYONE}&limit={PAGE}&cursor={chance.choice(self._cursors)}"

    def holdings(self, chance: Random) -> str:
        """The balances of any of 400 wallets, by popularity."""
        return f"/v1/wallets/holdings?{self._wallet(chance)}"

    def everyone(self, chance: Random) -> str:
        """All 5,000 wallets of a group."""
        return _EVERYONE

    def all(self, chance: Random) -> str:
        """Any of all operations, each as often as the others."""
        if chance.random() < 5 / 19:
            kinds = (self.history, self.leaderboard, self.volume, self.list, self.holdings)
            return chance.choice(kinds)(chance)
        wallet = self._wallet(chance)
        token = f"blockchain=solana&mint={solana_address(f'token {chance.randrange(20)}')}"
        group, period = _group(chance), chance.choice(_PERIODS)
        return chance.choice(
            (
                f"/v1/wallets/lookup?address={wallet.partition('address=')[2]}",
                f"/v1/wallet/pnl_calendar?{wallet}",
                f"/v1/wallets/connections?{wallet}&limit=20",
                f"/v1/wallets/tracker?{wallet}&period={period}",
                f"/v1/transactions/latest?{group}&limit=20",
                f"/v1/transactions/timerange?{group}&minutes={chance.randrange(1, 60)}",
                f"/v1/transactions/count?{group}&hours={chance.randrange(1, 24)}",
                f"/v1/tokens/transactions?{token}&limit=20",
                f"/v1/tokens/stats?{token}",
                f"/v1/tokens/holders?{token}&limit=20",
                f"/v1/analytics?{group}&mode=most_traded&period={period}",
                f"/v1/analytics?{group}&mode=net_flow",
                f"/v1/analytics?{group}&mode=volume_trend&period={period}",
                f"/v1/signals?{group}&mode={chance.choice(('cluster', 'entry', 'exit'))}",
            )
        )

    def _wallet(self, chance: Random) -> str:
        address = chance.choices(RECORDS, cum_weights=self._popularity)[0]
        return f"blockchain=solana&address={address}"


def cases(cursors: Sequence[str], keys: Keys) -> dict[str, list[Call]]:
    """Return the requests of all cases by name. `cursors` are those of the list's pages after the first."""
    questions = Questions(cursors)
    one, mixed = questions.one, questions.mixed
    gzip = [call._replace(accept_encoding="gzip") for call in _spread(questions.everyone, keys.ordinary)]
    return {
        "one hot key, one question": _spread(one, keys.hot),
        "one hot key, mixed": _spread(mixed, keys.hot),
        "ordinary keys, one question": _spread(one, keys.ordinary),
        "ordinary keys, mixed": _spread(mixed, keys.ordinary),
        "ordinary keys, all operations": _spread(questions.all, keys.ordinary),
        "15,000 keys, one question": _spread(one, keys.many),
        "15,000 keys, mixed": _spread(mixed, keys.many),
        "1,000 credits, mixed": _spread(mixed, keys.low),
        "history": _spread(questions.history, keys.ordinary),
        "leaderboard of 10": _spread(questions.leaderboard, keys.ordinary),
        "volume": _spread(questions.volume, keys.ordinary),
        "list of 50": _spread(questions.list, keys.ordinary),
        "holdings": _spread(questions.holdings, keys.ordinary),
        "5,000 wallets, gzip": gzip,
    }


def _group(chance: Random) -> str:
    chain, type = chance.choice(_GROUPS)
    return f"blockchain={chain}&type={type}"


def _spread(question: Callable[[Random], str], keys: Sequence[str]) -> list[Call]:
    """Pair questions with keys, so that each key is used once before any is used again.

    A third of the callers accept gzip.
    """
    chance = Random(3)
    callers = [
        (keys[place % len(keys)], "" if place % 3 else "gzip") for place in range(max(len(keys), 1_500))
    ]
    calls: list[Call] = []
    while len(calls) < _CALLS:
        chance.shuffle(callers)
        calls += [Call(question(chance), key, accepted) for key, accepted in callers]
    return calls
