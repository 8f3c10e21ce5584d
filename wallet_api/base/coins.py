"""The native coins of the chains."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

Currency = Literal["SOL", "BNB", "ETH"]
CURRENCIES: tuple[Currency, ...] = get_args(Currency)


@dataclass(frozen=True)
class Coin:
    """A native coin: the names under which price providers list it, and its dollars in the demo."""

    currency: Currency
    name: str
    decimals: int
    usd: float
    coingecko_id: str
    binance_symbol: str


COINS: Mapping[Currency, Coin] = MappingProxyType(
    {
        "SOL": Coin("SOL", "Solana", 9, 182.0, coingecko_id="solana", binance_symbol="SOLUSDT"),
        "BNB": Coin("BNB", "BNB", 18, 640.0, coingecko_id="binancecoin", binance_symbol="BNBUSDT"),
        "ETH": Coin("ETH", "Ether", 18, 3050.0, coingecko_id="ethereum", binance_symbol="ETHUSDT"),
    }
)
