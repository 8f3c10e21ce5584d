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
from wallet_api.chain.providers.parsing import read_row
from wallet_api.chain.providers.replies import read_as
from wallet_api.settings import Settings


def dexscreener(settings: Settings, fetcher: Fetcher) -> MarketSource:
    """Return the source of DexScreener's prices. More addresses in a request would be cut off in silence."""
    return MarketSource("dexscreener", tuple(CHAINS), 30, fetcher, settings.dexscreener_url, _prices)


def _prices(fetch: Fetch, url: str, chain: Chain, mints: Sequence[str]) -> Mapping[str, MarketPrice]:
    """Return by token the price in the deepest of its pools."""
    url = f"{url}/tokens/v1/{chain.dexscreener_id}/{','.join(mints)}"
    found: dict[str, MarketPrice] = {}
    for raw in fetch.get(url, {}, read_as(list[msgspec.Raw])):
        try:
            pool = read_row(raw)
            mint = _base_token(chain, pool)
            # A pool that is not traded has no price.
            if mint not in mints or pool.get("priceUsd") is None:
                continue
            liquidity = read_liquidity(read_object(pool.get("liquidity")).get("usd"))
            price = MarketPrice(read_price(pool["priceUsd"]), liquidity)
        except UnusableRow:
            fetch.left_out += 1
            continue
        # A pool that states no liquidity is not deeper than any other.
        if mint not in found or _depth(price) > _depth(found[mint]):
            found[mint] = price
    return found


def _base_token(chain: Chain, pool: Mapping[str, Any]) -> str:
    """Return the token whose price the pool has; "" in a pool of another chain. Raise UnusableRow."""
    mint = read_object(pool.get("baseToken")).get("address")
    if not isinstance(mint, str):
        raise UnusableRow("a pool without a base token")
    # An address may be of a token on several chains.
    return chain.canonical(mint) if pool.get("chainId") == chain.dexscreener_id else ""


def _depth(price: MarketPrice) -> Any:
    return -1 if price.liquidity_usd is None else price.liquidity_usd
