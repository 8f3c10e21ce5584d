"""GeckoTerminal: tokens with their prices, and their pools.

https://apiguide.geckoterminal.com
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
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
from wallet_api.chain.providers.replies import Reply, read_json, read_success
from wallet_api.settings import Settings

_HEADERS = {"Accept": "application/json;version=20230302"}


class _Tokens(msgspec.Struct):
    data: list[msgspec.Raw]
    included: list[msgspec.Raw] = []


def geckoterminal(settings: Settings, fetcher: Fetcher) -> MarketSource:
    """Return the source of GeckoTerminal's prices."""
    fetcher.session.headers.update(_HEADERS)
    return MarketSource("geckoterminal", tuple(CHAINS), 30, fetcher, settings.geckoterminal_url, _prices)


def _prices(fetch: Fetch, url: str, chain: Chain, mints: Sequence[str]) -> Mapping[str, MarketPrice]:
    url = f"{url}/networks/{chain.geckoterminal_network}/tokens/multi/{','.join(mints)}"
    tokens = fetch.get(url, {"include": "top_pools"}, _read_tokens)
    reserves = dict(read_rows(tokens.included, _reserve, fetch))

    def read(row: Mapping[str, Any]) -> tuple[str, MarketPrice] | None:
        attributes = read_object(row.get("attributes"))
        # Null: it has no pool that is traded.
        if attributes.get("price_usd") is None:
            return None
        mint = attributes.get("address")
        if not isinstance(mint, str):
            raise UnusableRow("a token without an address")
        liquidity = _liquidity(row, attributes, reserves)
        return chain.canonical(mint), MarketPrice(read_price(attributes["price_usd"]), liquidity)

    return {mint: price for mint, price in read_rows(tokens.data, read, fetch) if mint in mints}


def _read_tokens(reply: Reply) -> _Tokens:
    # Its rate limit comes with status 200 too.
    read_success(reply.body)
    return read_json(reply.body, _Tokens)


def _reserve(row: Mapping[str, Any]) -> tuple[str, Decimal | None]:
    return str(row.get("id")), read_liquidity(read_object(row.get("attributes")).get("reserve_in_usd"))


def _liquidity(
    row: Mapping[str, Any], attributes: Mapping[str, Any], reserves: Mapping[str, Decimal | None]
) -> Decimal | None:
    """Return what the first pool of a token holds, which makes its price; else what all of them hold."""
    pools = read_object(read_object(row.get("relationships")).get("top_pools")).get("data")
    first = read_object(pools[0]).get("id") if isinstance(pools, list) and pools else None
    of_first = reserves.get(str(first))
    return read_liquidity(attributes.get("total_reserve_in_usd")) if of_first is None else of_first
