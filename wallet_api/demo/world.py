"""A synthetic world as rows of import files: wallets, native prices, trades."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import lru_cache
from itertools import accumulate, islice
from math import exp, sin
from random import Random
from typing import Any, NamedTuple

import orjson

from wallet_api.chains import CHAINS, COINS, Chain, Currency
from wallet_api.demo.forms import (
    decimal_text,
    evm_address,
    evm_hash,
    seeded,
    solana_address,
    solana_signature,
    time_text,
)

WALLETS = 320
TRADES = 200_000
DAYS = 45
SEED = 1

# The wallets exist on no chain, and their addresses show it.
SOLANA_PREFIX = "DemoWaLLet"
EVM_PREFIX = "0xde30de30de30"

_DAY = 86400
_PRICE_SECONDS = 600
_USD_DECIMALS = 4
_BLOCK = 5000
_TRADES_PER_LAUNCH = 100
_OLD_TOKENS = 12
_LEVELS: dict[Currency, float] = {"SOL": 182.0, "BNB": 640.0, "ETH": 3050.0}
_TYPICAL_BUY: dict[Currency, float] = {"SOL": 0.9, "BNB": 0.25, "ETH": 0.06}
_SIZE = {"kol": 1.0, "smart": 3.0, "whale": 40.0}
_SOLD_PERCENTAGES = (10, 25, 50, 75, 100, 100, 100)
# fmt: off
_FIRST_NAMES = (
    "Marlow", "Vera", "Kestrel", "Juno", "Atlas", "Nyx", "Bramble", "Orson", "Pixel", "Quill", "Rook", "Wren",
)
_LAST_NAMES = ("Trades", "Labs", "Calls", "Capital", "Alpha", "Moon", "Chain")
_TOKEN_FRONTS = ("Pepe", "Doge", "Cat", "Frog", "Moon", "Baby", "Giga", "Turbo", "Chad", "Ghost", "Neon")
_TOKEN_BACKS = ("Coin", "Inu", "AI", "Hat", "DAO", "Swap", "World", "King", "Club", "Lab", "Bot", "Cash")
# fmt: on

Row = dict[str, Any]


class _Wallet(NamedTuple):
    chain: Chain
    type: str
    number: int
    address: str

    def row(self) -> Row:
        name = ""
        if self.type == "kol":
            last, first = divmod(self.number, len(_FIRST_NAMES))
            name = f"{_FIRST_NAMES[first]} {_LAST_NAMES[last % len(_LAST_NAMES)]}"
        handle = name.replace(" ", "").lower()
        return {
            "blockchain": self.chain.name,
            "type": self.type,
            "wallet_address": self.address,
            "name": name,
            "image_url": f"https://images.example/{handle}.png" if name else "",
            "twitter": f"https://x.example/{handle}" if name else "",
            "telegram": "",
            "copytrade_link": f"https://copytrade.example/{self.address}" if name else "",
        }


class _Token(NamedTuple):
    mint: str
    name: str
    level: float
    swing: float
    days: float
    phase: float

    def price(self, second: int) -> float:
        """Return its price in the native coin."""
        return self.level * exp(self.swing * sin(second / _DAY / self.days + self.phase))


class World:
    """Wallets that always trade, at the rate of `trades` in `days` days, seen at the time `now`.

    The same arguments give the same rows, byte for byte. A later `now` changes no row, and adds others.
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
        self._wallets = [_wallet(place, seed) for place in range(wallets)]
        ranks = list(range(wallets))
        seeded(seed, "ranks").shuffle(ranks)
        # Some wallets trade thirty times as much as others.
        self._shares = list(accumulate(1 / (rank + 10) for rank in ranks))
        self._token = lru_cache(maxsize=4096)(self._make_token)

    def wallet_rows(self) -> Iterator[Row]:
        """Return the rows of a wallets file."""
        return (wallet.row() for wallet in self._wallets)

    def price_rows(self, after: datetime | None = None) -> Iterator[Row]:
        """Yield the rows of a prices file, oldest first: of all days, or since shortly before `after`."""
        start = self._beginning if after is None else max(self._beginning, after.timestamp())
        for place in range(int(start / _PRICE_SECONDS), int(self._now / _PRICE_SECONDS) + 1):
            second = place * _PRICE_SECONDS
            for currency in COINS:
                usd = decimal_text(_usd(currency, second), _USD_DECIMALS)
                yield {"currency": currency, "usd": usd, "priced_at": time_text(second)}

    def trade_rows(self, after: datetime | None = None) -> Iterator[Row]:
        """Yield the rows of a trades file, oldest first: `trades` in all, or since shortly before `after`."""
        # Trade n is at a random moment between the multiples n and n + 1 of the seconds per trade.
        end = int(self._now / self._seconds_per_trade)
        start = end - self.trades
        if after is not None:
            start = max(start, int(after.timestamp() / self._seconds_per_trade))
        for first in range(start - start % _BLOCK, end, _BLOCK):
            yield from islice(self._block(first), max(start - first, 0), max(end - first, 0))

    def _block(self, first: int) -> Iterator[Row]:
        """Yield the trades of a block. It begins without holdings, so it depends on no earlier block."""
        random = seeded(self._seed, "trades", first)
        held: defaultdict[_Wallet, dict[_Token, int]] = defaultdict(dict)
        for number in range(first, first + _BLOCK):
            [wallet] = random.choices(self._wallets, cum_weights=self._shares)
            second = int((number + random.random()) * self._seconds_per_trade)
            holding = held[wallet]
            # The more tokens a wallet holds, the more often it sells.
            is_buy = random.random() > len(holding) / (len(holding) + 2)
            scale = 10 ** decimals_of(wallet.chain)
            coin = 10**wallet.chain.native_decimals
            if is_buy:
                token = self._token(wallet.chain, _pick(random, number))
                typical = _TYPICAL_BUY[wallet.chain.currency] * _SIZE[wallet.type]
                coins = typical * random.lognormvariate(0, 0.9)
                units = int(coins / token.price(second) * scale) + 1
                holding[token] = holding.get(token, 0) + units
            else:
                token = random.choice(list(holding))
                units = max(holding[token] * random.choice(_SOLD_PERCENTAGES) // 100, 1)
                coins = units / scale * token.price(second)
                holding[token] -= units
                if not holding[token]:
                    del holding[token]
            is_solana = wallet.chain.name == "solana"
            row = {
                "blockchain": wallet.chain.name,
                "wallet_address": wallet.address,
                "tx_signature": solana_signature(random) if is_solana else evm_hash(random),
                "mint": token.mint,
                "token_name": token.name,
                "transaction_type": "buy" if is_buy else "sell",
                "token_amount": decimal_text(units, decimals_of(wallet.chain)),
                "value": decimal_text(int(coins * coin), wallet.chain.native_decimals),
                "created_at": time_text(second),
            }
            # The import computes the dollars of the others from the native prices.
            if random.random() < 0.85:
                usd = int(coins * _usd(wallet.chain.currency, second))
                row["value_usd"] = decimal_text(usd, _USD_DECIMALS)
            yield row

    def _make_token(self, chain: Chain, number: int) -> _Token:
        random = seeded(self._seed, chain.name, "token", number)
        is_old = number < _OLD_TOKENS
        return _Token(
            mint=solana_address(random) if chain.name == "solana" else evm_address(random),
            name=f"{random.choice(_TOKEN_FRONTS)} {random.choice(_TOKEN_BACKS)}",
            level=_TYPICAL_BUY[chain.currency] * random.lognormvariate(-14, 2),
            swing=0.2 if is_old else random.uniform(0.3, 2.0),
            days=random.uniform(0.05, 1.0),
            phase=random.uniform(0, 6.28),
        )


def ndjson(rows: Iterable[Row]) -> Iterator[bytes]:
    """Return the lines of a file with these rows."""
    return (orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)


def decimals_of(chain: Chain) -> int:
    """Return the decimals of each token of the chain."""
    return 6 if chain.name == "solana" else 18


def _wallet(place: int, seed: int) -> _Wallet:
    groups = [(chain, type_) for chain in CHAINS.values() for type_ in chain.types]
    number, group = divmod(place, len(groups))
    chain, type_ = groups[group]
    # The wallets of a number and type have the same address on all EVM chains.
    if chain.name == "solana":
        address = solana_address(seeded(seed, "solana", type_, number), SOLANA_PREFIX)
    else:
        address = evm_address(seeded(seed, "evm", type_, number), EVM_PREFIX)
    return _Wallet(chain, type_, number, address)


def _pick(random: Random, number: int) -> int:
    """Return the number of the token that trade `number` buys: an old one, or a recent launch."""
    if random.random() < 0.1:
        return random.randrange(_OLD_TOKENS)
    return number // _TRADES_PER_LAUNCH - int(random.expovariate(1 / 8))


def _usd(currency: Currency, second: int) -> int:
    """Return the price of a native coin in 10^-4 US dollars, constant for ten minutes."""
    days = (second - second % _PRICE_SECONDS) / _DAY
    return int(_LEVELS[currency] * 10**_USD_DECIMALS * (1 + 0.08 * sin(days / 5) + 0.015 * sin(days * 9)))
