"""DexScreener: the pools of tokens, with their prices.

https://docs.dexscreener.com/api/reference
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from wallet_api.base.chains import CHAINS, Chain
from wallet_api.chain.decoding.amounts import UnusableRow
from wallet_api.chain.providers.fetch import Fetch, Fetcher
from wallet_api.chain.providers.markets.source import (
    MarketPrice,
    MarketSource,
    read_liquidity,
    read_object,
    read_price,
)
from wallet_api.chain.providers.parsing import read_rows
from wallet_api.chain.providers.replies import read_as
from wallet_api.settings import Settings


def dexscreener(settings: Settings, fetcher: Fetcher) -> MarketSource:
    """Return the source of DexScreener's prices. More addresses in a request would be cut off in silence."""
    return MarketSource("dexscreener", tuple(CHAINS), 30, fetcher, settings.dexscreener_url, _prices)


def _prices(fetch: Fetch, url: str, chain: Chain, mints: Sequence[str]) -> Mapping[str, MarketPrice]:
    """Return by token the price in the deepest of its pools."""

    def read(pool: Mapping[str, Any]) -> tuple[str, MarketPrice] | None:
        mint = read_object(pool.get("baseToken")).get("address")
        if not isinstance(mint, str):
            raise UnusableRow("a pool without a base token")
        # An address may be of a token on several chains, and a pool that is not traded has no price.
        is_of_chain = pool.get("chainId") == chain.dexscreener_id and chain.canonical(mint) in mints
        if not is_of_chain or pool.get("priceUsd") is None:
            return None
        liquidity = read_liquidity(read_object(pool.get("liquidity")).get("usd"))
        return chain.canonical(mint), MarketPrice(read_price(pool["priceUsd"]), liquidity)

    url = f"{url}/tokens/v1/{chain.dexscreener_id}/{','.join(mints)}"
    found: dict[str, MarketPrice] = {}
    for mint, price in read_rows(fetch.get(url, {}, read_as(list[msgspec.Raw])), read, fetch):
        # A pool that states no liquidity is not deeper than any other.
        if mint not in found or _depth(price) > _depth(found[mint]):
            found[mint] = price
    return found


def _depth(price: MarketPrice) -> Any:
    return -1 if price.liquidity_usd is None else price.liquidity_usd
