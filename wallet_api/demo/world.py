"""A synthetic world as rows of import files: wallets, trades, prices."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import lru_cache
from heapq import merge
from typing import Any

import orjson

from wallet_api.chains import CHAINS, CURRENCIES
from wallet_api.demo.balances import Balance, Portfolio, native_units
from wallet_api.demo.forms import decimal_text, time_text
from wallet_api.demo.identities import Wallet, make_wallets
from wallet_api.demo.natives import USD_DECIMALS, NativePrice
from wallet_api.demo.tokens import Market, Token
from wallet_api.demo.trader import Fill, Trader

WALLETS = 320
TRADES = 200_000
DAYS = 45
SEED = 1

Row = dict[str, Any]


class World:
    """A world of `wallets` that made `trades` trades in the `days` before `now`.

    The same arguments give the same rows, byte for byte; another `now` moves the same world in time. Another
    `part` has the same wallets with other trades, tokens and prices. Each wallet's trades are generated
    independently, so memory grows with wallets, not with trades.
    """

    def __init__(
        self,
        now: datetime,
        *,
        wallets: int = WALLETS,
        trades: int = TRADES,
        days: int = DAYS,
        seed: int = SEED,
        part: object = "",
    ) -> None:
        if now.tzinfo is None:
            raise ValueError("now must be aware of its time zone")
        self.trades = trades
        self._now = now
        self._span_seconds = days * 86400
        self._beginning = int(now.timestamp()) - self._span_seconds
        self._seed: object = f"{seed}/{part}" if part else seed
        self._wallets = make_wallets(wallets, trades, seed)
        self._by_address = {(wallet.chain.name, wallet.address): wallet for wallet in self._wallets}
        self._prices = {
            currency: NativePrice(currency, self._span_seconds, self._seed, with_gap=not part)
            for currency in CURRENCIES
        }
        # Enough tokens for the busiest wallets, but few enough that wallets trade the same ones.
        tokens = min(max(trades // 150, 300), 20_000)
        self._markets = {
            name: Market(chain, tokens, self._span_seconds, self._seed) for name, chain in CHAINS.items()
        }
        self.portfolio = lru_cache(maxsize=1024)(self._portfolio)

    def wallet_rows(self) -> Iterator[Row]:
        """Return the rows of a wallets file."""
        return (wallet.row() for wallet in self._wallets)

    def price_rows(self) -> Iterator[Row]:
        """Yield the rows of a prices file, oldest first for each currency."""
        for currency, price in self._prices.items():
            for second, usd in price.known():
                yield {
                    "currency": currency,
                    "usd": decimal_text(usd, USD_DECIMALS),
                    "priced_at": time_text(self._beginning + second),
                }

    def trade_rows(self) -> Iterator[Row]:
        """Return the rows of a trades file in order of time."""
        streams = (self._timed_rows(wallet) for wallet in self._wallets)
        # The index of the wallet decides between equal times, so that rows are never compared.
        return (row for _, _, row in merge(*streams))

    def balances_at(self, chain: str, address: str, moment: datetime) -> Iterator[Balance]:
        """Yield the token balances of a wallet after its trades up to `moment`."""
        wallet = self._by_address.get((chain, address))
        if wallet is None:
            return
        left: dict[int, int] = {}
        for fill in self._trader(wallet).fills():
            if self._beginning + fill.second > moment.timestamp():
                break
            units = left.get(fill.number, 0) + (fill.units if fill.is_buy else -fill.units)
            # A sell of more than was bought leaves nothing.
            left[fill.number] = max(units, 0)
        for number, units in left.items():
            if units:
                token = self._markets[chain].token(number)
                yield Balance(
                    token.mint, token.name, token.symbol, token.decimals, units, verified=token.verified
                )

    def _portfolio(self, chain: str, address: str) -> Portfolio:
        """Return the balances of a wallet after its last trade; nothing for an unknown wallet."""
        if (chain, address) not in self._by_address:
            return Portfolio(0, ())
        return Portfolio(native_units(chain, address), tuple(self.balances_at(chain, address, self._now)))

    def _trader(self, wallet: Wallet) -> Trader:
        return Trader(wallet, self._markets[wallet.chain.name], self._span_seconds, self._seed)

    def _timed_rows(self, wallet: Wallet) -> Iterator[tuple[int, int, Row]]:
        market = self._markets[wallet.chain.name]
        price = self._prices[wallet.chain.currency]
        for fill in self._trader(wallet).fills():
            row = self._trade_row(wallet, market.token(fill.number), fill, price)
            yield fill.second, wallet.index, row

    def _trade_row(self, wallet: Wallet, token: Token, fill: Fill, price: NativePrice) -> Row:
        decimals = wallet.chain.native_decimals
        row = {
            "blockchain": wallet.chain.name,
            "wallet_address": wallet.address,
            "tx_signature": fill.tx_signature,
            "event_index": fill.event_index,
            "mint": token.mint,
            "token_name": token.name,
            "transaction_type": "buy" if fill.is_buy else "sell",
            "token_amount": decimal_text(fill.units, token.decimals),
            "value": decimal_text(fill.value, decimals),
            "created_at": time_text(self._beginning + fill.second),
        }
        if fill.has_usd:
            usd = fill.value * price.at(fill.second) * 100 // 10**decimals
            row["value_usd"] = decimal_text(usd, USD_DECIMALS + 2)
        return row


def ndjson(rows: Iterable[Row]) -> Iterator[bytes]:
    """Return the lines of a file with these rows."""
    return (orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
