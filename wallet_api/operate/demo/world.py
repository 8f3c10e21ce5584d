"""A synthetic world as rows of imports: wallets, native prices, trades."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache
from itertools import accumulate, islice
from math import exp, sin
from random import Random
from typing import NamedTuple

import msgspec

from wallet_api.base.chains import CHAINS, Chain
from wallet_api.base.coins import COINS, Currency
from wallet_api.ledger.files.rows import PriceRow, TradeRow, WalletRow
from wallet_api.operate.demo import forms
from wallet_api.operate.demo.tokens import SUPPLY, decimals_of, face_of

WALLETS = 400
TRADES = 200_000
DAYS = 45
SEED = 1

_DAY = 86400
_PRICE_SECONDS = 600
_USD_DECIMALS = 4
_BLOCK = 5000
_TRADES_PER_LAUNCH = 100
_OLD_TOKENS = 12
_TYPICAL_BUY_USD = 163.8
# How many times as much as others some types of wallets trade.
_SIZE = {"smart": 3.0, "whale": 40.0}
# A disc, which any browser draws without a request.
_PICTURE = (
    "data:image/svg+xml,%3Csvg%20xmlns='http://www.w3.org/2000/svg'%20viewBox='0%200%202%202'%3E"
    "%3Ccircle%20cx='1'%20cy='1'%20r='1'%20fill='hsl({hue},60%25,50%25)'/%3E%3C/svg%3E"
)
_SOLD_PERCENTAGES = (10, 25, 50, 75, 100, 100, 100)
# fmt: off
_FIRST_NAMES = (
    "Marlow", "Vera", "Kestrel", "Juno", "Atlas", "Nyx", "Bramble", "Orson", "Pixel", "Quill", "Rook", "Wren",
)
_LAST_NAMES = ("Trades", "Labs", "Calls", "Capital", "Alpha", "Moon", "Chain")
# fmt: on


class _Token(NamedTuple):
    mint: str
    name: str
    level: float
    swing: float
    days: float
    phase: float

    def price(self, second: int) -> float:
        """Return its price in the native coin: a long wave, and short ones."""
        long = self.swing * sin(second / _DAY / self.days + self.phase)
        short = 0.09 * sin(second / 2600 + 9 * self.phase) + 0.05 * sin(second / 410 + 5 * self.phase)
        return self.level * exp(long + short)


class World:
    """Wallets that always trade, at the rate of `trades` in `days` days, seen at the time `now`.

    The same arguments give the same rows. A later `now` changes no row, and adds others.
    """

    def __init__(
        self,
        now: datetime,
        *,
        wallets: int = WALLETS,
        trades: int = TRADES,
        days: int = DAYS,
        seed: int = SEED,
    ) -> None:
        self.trades = trades
        self._now = now.timestamp()
        self._beginning = self._now - days * _DAY
        self._seconds_per_trade = days * _DAY / trades
        self._seed = seed
        self._places = range(wallets)
        ranks = [*self._places]
        forms.seeded(seed, "ranks").shuffle(ranks)
        self._example = _wallet(0, seed).wallet_address
        # Some wallets trade thirty times as much as others.
        self._shares = list(accumulate(1 / (rank + 10) for rank in ranks))
        self._token = lru_cache(maxsize=4096)(self._make_token)

    def wallet_rows(self) -> list[WalletRow]:
        """Return the wallets."""
        return [_wallet(place, self._seed) for place in self._places]

    def price_rows(self, after: datetime | None = None) -> Iterator[PriceRow]:
        """Yield the native prices, oldest first: of all days, or since shortly before `after`."""
        start = self._beginning if after is None else max(self._beginning, after.timestamp())
        for place in range(int(start / _PRICE_SECONDS), int(self._now / _PRICE_SECONDS) + 1):
            second = place * _PRICE_SECONDS
            for currency in COINS:
                yield PriceRow(currency, _decimal(_usd(currency, second), _USD_DECIMALS), _time(second))

    def trade_rows(self, after: datetime | None = None) -> Iterator[TradeRow]:
        """Yield the trades, oldest first: `trades` in all, or since shortly before `after`."""
        # Trade n is at a random moment between the multiples n and n + 1 of the seconds per trade.
        end = int(self._now / self._seconds_per_trade)
        start = end - self.trades
        if after is not None:
            start = max(start, int(after.timestamp() / self._seconds_per_trade))
        wallets = self.wallet_rows()
        for first in range(start - start % _BLOCK, end, _BLOCK):
            yield from islice(self._block(wallets, first), max(start - first, 0), max(end - first, 0))

    def _block(self, wallets: list[WalletRow], first: int) -> Iterator[TradeRow]:
        """Yield the trades of a block. It begins without holdings, so it depends on no earlier block."""
        random = forms.seeded(self._seed, "trades", first)
        held: defaultdict[int, dict[_Token, int]] = defaultdict(dict)
        for number in range(first, first + _BLOCK):
            [place] = random.choices(self._places, cum_weights=self._shares)
            second = int((number + random.random()) * self._seconds_per_trade)
            yield self._trade(random, wallets[place], held[place], number, second)

    def _trade(
        self, random: Random, wallet: WalletRow, holding: dict[_Token, int], number: int, second: int
    ) -> TradeRow:
        """Return a trade of the wallet, and change its holding."""
        chain = CHAINS[wallet.blockchain]
        decimals = decimals_of(chain)
        # The more tokens a wallet holds, the more often it sells.
        is_buy = random.random() > len(holding) / (len(holding) + 2)
        if is_buy:
            token = self._token(chain, _pick(random, number))
            if not holding and wallet.wallet_address == self._example:
                # The documents request its trades in this one, which it has whenever it trades.
                token = self._token(chain, _OLD_TOKENS - 1)
            typical = _TYPICAL_BUY_USD / chain.coin.usd * _SIZE.get(wallet.type, 1.0)
            coins = typical * random.lognormvariate(0, 0.9)
            units = int(coins / token.price(second) * 10**decimals) + 1
            holding[token] = holding.get(token, 0) + units
        else:
            token = random.choice(list(holding))
            units = max(holding[token] * random.choice(_SOLD_PERCENTAGES) // 100, 1)
            coins = units / 10**decimals * token.price(second)
            holding[token] -= units
            if not holding[token]:
                del holding[token]
        row = TradeRow(
            blockchain=wallet.blockchain,
            wallet_address=wallet.wallet_address,
            tx_signature=forms.evm_hash(random) if chain.is_evm else forms.solana_signature(random),
            mint=token.mint,
            token_name=token.name,
            transaction_type="buy" if is_buy else "sell",
            token_amount=_decimal(units, decimals),
            value=_decimal(int(coins * 10**chain.native_decimals), chain.native_decimals),
            created_at=_time(second),
        )
        # The import computes the dollars of the others from the native prices.
        if random.random() < 0.85:
            row.value_usd = _decimal(int(coins * _usd(chain.currency, second)), _USD_DECIMALS)
        return row

    def _make_token(self, chain: Chain, number: int) -> _Token:
        random = forms.seeded(self._seed, chain.name, "token", number)
        is_old = number < _OLD_TOKENS
        mint = forms.evm_address(random) if chain.is_evm else forms.solana_address(random)
        return _Token(
            mint=mint,
            name=str(face_of(chain, mint).name),
            # All of it is worth some thousands of typical buys.
            level=_TYPICAL_BUY_USD / chain.coin.usd * random.lognormvariate(10, 1) / SUPPLY,
            swing=0.2 if is_old else random.uniform(0.3, 2.0),
            days=random.uniform(0.05, 1.0),
            phase=random.uniform(0, 6.28),
        )


def _wallet(place: int, seed: int) -> WalletRow:
    groups = [(chain, type_) for chain in CHAINS.values() for type_ in chain.types]
    number, group = divmod(place, len(groups))
    chain, type_ = groups[group]
    # The wallets of a number and type have the same address on all EVM chains.
    if chain.is_evm:
        address = forms.evm_address(forms.seeded(seed, "evm", type_, number), forms.EVM_PREFIX)
    else:
        address = forms.solana_address(forms.seeded(seed, "solana", type_, number), forms.SOLANA_PREFIX)
    named = {"blockchain": chain.name, "type": type_, "wallet_address": address}
    row = msgspec.convert(named, WalletRow)
    if type_ == "kol":
        last, first = divmod(number, len(_FIRST_NAMES))
        row.name = f"{_FIRST_NAMES[first]} {_LAST_NAMES[last % len(_LAST_NAMES)]}"
        handle = row.name.replace(" ", "").lower()
        row.image_url = _PICTURE.format(hue=number * 47 % 360)
        row.twitter = f"https://x.example/{handle}"
        row.copytrade_link = f"https://copytrade.example/{address}"
    return row


def _pick(random: Random, number: int) -> int:
    """Return the number of the token that trade `number` buys: an old one, or a recent launch."""
    if random.random() < 0.1:
        return random.randrange(_OLD_TOKENS)
    return number // _TRADES_PER_LAUNCH - int(random.expovariate(1 / 8))


def _usd(currency: Currency, second: int) -> int:
    """Return the price of a native coin in 10^-4 US dollars, constant for ten minutes."""
    days = (second - second % _PRICE_SECONDS) / _DAY
    return int(COINS[currency].usd * 10**_USD_DECIMALS * (1 + 0.08 * sin(days / 5) + 0.015 * sin(days * 9)))


def _decimal(units: int, decimals: int) -> str:
    """Return `units` of 10^-decimals as a decimal: 1500000000 at 9 is `1.500000000`."""
    whole, rest = divmod(units, 10**decimals)
    return f"{whole}.{rest:0{decimals}}"


def _time(second: int) -> datetime:
    return datetime.fromtimestamp(second, UTC)
