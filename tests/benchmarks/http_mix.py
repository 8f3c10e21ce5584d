"""The cases of ordinary keys: many callers at the default rate, and what they request."""

from collections.abc import Callable, Sequence
from itertools import accumulate
from random import Random

from tests.benchmarks.http_cases import PEER_RATIO, Call, Case
from tests.benchmarks.http_keys import ORDINARY_KEYS, Keys
from tests.benchmarks.http_world import PAGE, Made, solana_address
from wallet_api.chains import CHAINS

YARDSTICK = "bare Flask, gthread"
MIXED = "ordinary keys, mixed"
ONE = "ordinary keys, one question"
ALL = "ordinary keys, all operations"
# What two checkouts are compared by.
DECISIVE = (ONE, MIXED, ALL)
_ONE_QUESTION = "/v1/transactions/volume?blockchain=solana&type=kol&seconds=3600"
_EVERYONE = "/v1/wallets?blockchain=base&type=smart"
_PERIODS = ("6h", "1d", "7d", "30d")
_WINDOWS = (300, 3_600, 21_600, 86_400)
_GROUPS = [(chain.name, type) for chain in CHAINS.values() for type in chain.types]
# Each key is used this often before a measurement begins, by one worker or another.
_LEAD_IN = 4
# So many different requests a case, unless it has more keys.
_CALLS = 15_000

Question = Callable[[Random], str]


class Questions:
    """Draws paths at random, the popular ones more often. `peer` is for the words of the peer's list."""

    def __init__(self, made: Made, *, peer: bool = False) -> None:
        self._records = made.record_addresses
        # Zipf: the wallet of rank n is wanted a nth as often as the first.
        self._popularity = list(accumulate(1 / rank for rank in range(1, len(self._records) + 1)))
        self._pages = made.crowd_addresses[PAGE - 1 : -PAGE : PAGE] if peer else made.crowd_cursors
        self._word = "after" if peer else "cursor"

    def one(self, chance: Random) -> str:
        """The same path each time."""
        return _ONE_QUESTION

    def mixed(self, chance: Random) -> str:
        """Two histories to each leaderboard, volume and list."""
        kinds = (self.history, self.history, self.leaderboard, self.volume, self.list)
        return chance.choice(kinds)(chance)

    def history(self, chance: Random) -> str:
        """The history of one of 400 wallets, by popularity."""
        address = chance.choices(self._records, cum_weights=self._popularity)[0]
        return f"/v1/wallets/history?blockchain=solana&type=whale&address={address}"

    def leaderboard(self, chance: Random) -> str:
        """The ten first of any group and period."""
        chain, type = chance.choice(_GROUPS)
        period = chance.choice(_PERIODS)
        return f"/v1/wallet/leaderboard?blockchain={chain}&type={type}&period={period}&limit=10"

    def volume(self, chance: Random) -> str:
        """The volume of any group, in one of a few windows."""
        chain, type = chance.choice(_GROUPS)
        seconds = chance.choice(_WINDOWS)
        return f"/v1/transactions/volume?blockchain={chain}&type={type}&seconds={seconds}"

    def list(self, chance: Random) -> str:
        """Any page of 50 of 5,000 wallets."""
        return f"{_EVERYONE}&limit={PAGE}&{self._word}={chance.choice(self._pages)}"

    def all(self, chance: Random) -> str:
        """Any of all operations, each as often as the others."""
        if chance.random() < 5 / 19:
            kinds = (self.history, self.leaderboard, self.volume, self.list, self.holdings)
            return chance.choice(kinds)(chance)
        wallet = f"blockchain=solana&address={chance.choices(self._records, cum_weights=self._popularity)[0]}"
        token = f"blockchain=solana&mint={solana_address(f'token {chance.randrange(20)}')}"
        chain, type = chance.choice(_GROUPS)
        group = f"blockchain={chain}&type={type}"
        period = chance.choice(_PERIODS)
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

    def holdings(self, chance: Random) -> str:
        """The balances of any of 400 wallets, by popularity."""
        address = chance.choices(self._records, cum_weights=self._popularity)[0]
        return f"/v1/wallets/holdings?blockchain=solana&address={address}"

    def everyone(self, chance: Random) -> str:
        """All 5,000 wallets of a group."""
        return _EVERYONE


def ordinary_cases(made: Made, keys: Keys) -> dict[str, Case]:
    """Return all cases by name, the yardstick first."""
    ours, peers = Questions(made), Questions(made, peer=True)
    hot, many = [keys.hot], keys.many

    def operation(question: Question) -> Case:
        return _case("service", question, keys.ordinary, steady=True)

    return {
        YARDSTICK: Case("flask", [Call("/")]),
        "one hot key, one question": _case("service", ours.one, hot),
        "one hot key, mixed": _case("service", ours.mixed, hot),
        ONE: _case("service", ours.one, keys.ordinary, 0.6, "peer, one question"),
        MIXED: _case("service", ours.mixed, keys.ordinary, 0.35, "peer, mixed"),
        ALL: _case("service", ours.all, keys.ordinary),
        "15,000 keys, one question": _case("service", ours.one, many, beside=ONE),
        "15,000 keys, mixed": _case("service", ours.mixed, many, beside=MIXED),
        "1,000 credits, mixed": _case("service", ours.mixed, keys.low),
        "history": operation(ours.history),
        "leaderboard of 10": operation(ours.leaderboard),
        "volume": operation(ours.volume),
        "list of 50": operation(ours.list),
        "holdings": operation(ours.holdings),
        "5,000 wallets, gzip": Case(
            "service",
            [Call(path, key, "gzip") for path, key, _ in _spread(ours.everyone, keys.ordinary)],
            lead_in_calls=len(keys.ordinary),
        ),
        "peer, one question": _case("peer", peers.one, keys.ordinary),
        "peer, mixed": _case("peer", peers.mixed, keys.ordinary),
    }


def _case(
    server: str,
    question: Question,
    keys: Sequence[str],
    least: float | None = None,
    peer: str | None = None,
    *,
    beside: str | None = None,
    steady: bool = False,
) -> Case:
    return Case(
        server,
        _spread(question, keys),
        least,
        peer,
        PEER_RATIO if peer else None,
        beside,
        steady,
        # The peer keeps nothing, so nothing has to get warm there.
        0 if server == "peer" else _LEAD_IN * len(keys),
    )


def _spread(question: Question, keys: Sequence[str]) -> list[Call]:
    """Pair questions with keys, so that each key is used once before any is used again.

    A third of the callers accept gzip.
    """
    chance = Random(3)
    places = range(max(len(keys), ORDINARY_KEYS))
    callers = [(keys[place % len(keys)], "" if place % 3 else "gzip") for place in places]
    calls: list[Call] = []
    while len(calls) < _CALLS:
        chance.shuffle(callers)
        calls += [Call(question(chance), key, accepted) for key, accepted in callers]
    return calls
