"""The trades of one wallet: their times, tokens and amounts."""

from collections.abc import Iterator
from math import cos, tau
from typing import NamedTuple

from wallet_api.demo.forms import evm_hash, seeded, solana_signature
from wallet_api.demo.identities import Wallet
from wallet_api.demo.tokens import MAJORS, Market

MOST_TOKENS = 1800
_HOUR = 3600
# Activity of an hour relative to the average: many hours are idle, a few are bursts.
_MOODS = (0.0, 0.0, 0.0, 0.1, 0.3, 0.6, 1.0, 1.5, 2.5, 9.0)
_MEAN_MOOD = sum(_MOODS) / len(_MOODS)
_PERCENTAGES = (10, 25, 25, 33, 50, 50, 50, 75, 100, 100, 100, 100, 100)
_TYPICAL_BUY = {"SOL": 0.9, "BNB": 0.25, "ETH": 0.06}
_SIZE = {"kol": 1.0, "smart": 3.0, "whale": 40.0}


class Fill(NamedTuple):
    """A trade in smallest units. `number` is that of the token; `second` counts from the start."""

    second: int
    number: int
    is_buy: bool
    units: int
    value: int
    tx_signature: str
    event_index: int
    has_usd: bool


class Holding:
    """A wallet's position in a token: `units` after `fills` trades; `price` is that of its last buy.

    With `given_up` the wallet no longer trades it.
    """

    __slots__ = ("cost", "fills", "given_up", "price", "units")

    def __init__(self) -> None:
        self.units = 0
        self.cost = 0
        self.fills = 0
        self.price = 1
        self.given_up = True


class Trader:
    """The trading of one wallet, the same in every run."""

    def __init__(self, wallet: Wallet, market: Market, span_seconds: int, seed: object) -> None:
        self.known: list[int] = []
        self._held: dict[int, Holding] = {}
        self._wallet = wallet
        self._market = market
        self._span_seconds = span_seconds
        self._random = seeded(seed, "trader", wallet.chain.name, wallet.address)
        self._sign = solana_signature if wallet.chain.name == "solana" else evm_hash
        self._most_tokens = min(MOST_TOKENS, max(2, round(2.5 * wallet.trades**0.55)))
        typical_coins = _TYPICAL_BUY[wallet.chain.currency] * _SIZE[wallet.type]
        self._typical_buy = int(typical_coins * 10**wallet.chain.native_decimals)
        # Some wallets buy minutes after a launch, others days later.
        self._typical_age = 60 * 5 ** self._random.uniform(0.5, 5.5)
        self._active: list[int] = []
        self._seen: set[int] = set()
        self._oversold: dict[int, int] = {}

    def fills(self) -> Iterator[Fill]:
        """Yield all trades of the wallet, oldest first."""
        random = self._random
        left = self._wallet.trades
        previous: Fill | None = None
        for second in self._seconds():
            if previous is not None and random.random() < 0.05:
                # A transaction with several events: a buy in parts, or a swap of one token for another.
                moment, signature, event = previous.second, previous.tx_signature, previous.event_index + 1
                number, is_buy = previous.number if previous.is_buy else self._pick(moment), True
            else:
                moment, signature, event = second, self._sign(random), 0
                number, is_buy = self._decide(moment, left)
            while is_buy and self._oversold.get(number) == moment:
                # The ledger orders buys before sells of the same second, so this buy would cover that sell.
                number = random.randrange(MAJORS)
            units, value = self._buy(number, moment) if is_buy else self._sell(number, moment)
            previous = Fill(
                moment, number, is_buy, units, value, signature, event, has_usd=random.random() < 0.85
            )
            left -= 1
            yield previous

    def _seconds(self) -> Iterator[int]:
        """Yield the times of the trades in order: more by day, in bursts, and mostly up to the end."""
        random = self._random
        hours = self._span_seconds // _HOUR
        first = int(hours * max(random.uniform(-1.5, 0.8), 0.0))
        last = hours - 1 if random.random() < 0.75 else random.randint(first, hours - 1)
        morning = random.randrange(24)
        left = self._wallet.trades
        for hour in range(first, last):
            rhythm = 1 + 0.9 * cos((hour - morning) * tau / 24)
            expected = left / (last - hour + 1) * rhythm * random.choice(_MOODS) / _MEAN_MOOD
            count = min(int(expected + random.random()), left)
            if count:
                left -= count
                yield from self._within(hour, count)
        if left:
            # The last trade is minutes before the end.
            latest = (last + 1) * _HOUR - 5 - int((_HOUR - 5) * random.random() ** 3)
            yield from sorted([*self._within(last, left - 1), latest])

    def _within(self, hour: int, count: int) -> list[int]:
        random = self._random
        window = random.choice((300, 900, _HOUR, _HOUR))
        start = hour * _HOUR + int(random.random() * (_HOUR - window))
        return sorted(start + int(random.random() * window) for _ in range(count))

    def _decide(self, second: int, left: int) -> tuple[int, bool]:
        """Return the token to trade, and whether to buy it. `left` is the number of remaining trades."""
        random = self._random
        if not self.known or random.random() * left < self._most_tokens - len(self.known):
            number = self._pick(second)
            # Some tokens are sold without a buy, as if they were sent to the wallet.
            return number, number in self._seen or random.random() > 0.04
        if not self._active or random.random() < 0.08:
            return random.choice(self.known), True
        number = self._active[int(random.random() * len(self._active))]
        gain = self._market.token(number).price(second) / self._held[number].price
        if gain < 0.2 and random.random() < 0.7:
            # A large loss: keep the rest unsold.
            self._forget(number)
            return random.choice(self.known), True
        return number, random.random() > (0.8 if gain > 1.5 else 0.55)

    def _pick(self, second: int) -> int:
        """Return a token to buy: sometimes an old one, mostly a launch of the age that the wallet prefers."""
        random = self._random
        if len(self.known) >= self._most_tokens:
            return random.choice(self.known)
        if random.random() < 0.06:
            return random.randrange(MAJORS)
        return self._market.launched_before(second, random.expovariate(1 / self._typical_age))

    def _know(self, number: int) -> None:
        if number not in self._seen:
            self._seen.add(number)
            self.known.append(number)

    def _buy(self, number: int, second: int) -> tuple[int, int]:
        random = self._random
        self._know(number)
        value = int(self._typical_buy * random.lognormvariate(0, 0.9)) + 1
        if random.random() < 0.5:
            # Round amounts, as people enter them.
            step = 10 ** (len(str(value)) - 1)
            value = -(-value // step) * step
        token = self._market.token(number)
        price = token.price(second) * random.randint(990, 1020) // 1000 + 1
        units = value * token.scale // price + 1
        holding = self._held.get(number)
        if holding is None:
            holding = self._held[number] = Holding()
        if holding.given_up:
            holding.given_up = False
            self._active.append(number)
        holding.units += units
        holding.cost += value
        holding.fills += 1
        holding.price = price
        return units, value

    def _sell(self, number: int, second: int) -> tuple[int, int]:
        random = self._random
        self._know(number)
        token = self._market.token(number)
        price = token.price(second) * random.randint(975, 1005) // 1000 + 1
        holding = self._held.get(number)
        if holding is None:
            # A plausible amount that was never bought.
            self._oversold[number] = second
            units = self._typical_buy * random.randint(1, 3000) * token.scale // (1000 * price) + 1
            return units, units * price // token.scale
        holding.fills += 1
        chance = random.random()
        if chance < 0.03 and holding.fills == 2:
            # Sell all at cost: neither profit nor loss.
            self._close(number)
            return holding.units, holding.cost
        if chance > 0.98:
            # Sell more than was bought, as if the rest was sent to the wallet.
            self._oversold[number] = second
            self._close(number)
            units = holding.units + holding.units // 7 + 1
            return units, units * price // token.scale
        # Rarely, sell all but a small rest.
        share = 997 if chance > 0.96 else 10 * random.choice(_PERCENTAGES)
        units = max(holding.units * share // 1000, 1)
        holding.units -= units
        if not holding.units:
            self._close(number)
        return units, units * price // token.scale

    def _close(self, number: int) -> None:
        self._forget(number)
        del self._held[number]

    def _forget(self, number: int) -> None:
        self._held[number].given_up = True
        self._active.remove(number)
