"""GeckoTerminal: tokens with their prices, and their pools.

https://apiguide.geckoterminal.com
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import msgspec

from wallet_api.base.chains import CHAINS, Chain
from wallet_api.chain.decoding.amounts import UnusableRow
from wallet_api.chain.providers.faults import Malformed, Overloaded
from wallet_api.chain.providers.fetch import Fetch, Fetcher
from wallet_api.chain.providers.markets.source import (
    MarketPrice,
    MarketSource,
    read_liquidity,
    read_object,
    read_price,
)
from wallet_api.chain.providers.parsing import read_row
from wallet_api.chain.providers.replies import Reply, read_json
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
    """Return the prices of tokens, with their pools of most liquidity."""
    url = f"{url}/networks/{chain.geckoterminal_network}/tokens/multi/{','.join(mints)}"
    tokens = fetch.get(url, {"include": "top_pools"}, _read_tokens)
    reserves = _reserves(fetch, tokens.included)
    found: dict[str, MarketPrice] = {}
    for raw in tokens.data:
        try:
            row = read_row(raw)
            attributes = read_object(row.get("attributes"))
            # Null: it has no pool that is traded.
            if attributes.get("price_usd") is not None:
                mint = attributes.get("address")
                if not isinstance(mint, str):
                    raise UnusableRow("a token without an address")
                found[chain.canonical(mint)] = MarketPrice(
                    read_price(attributes["price_usd"]), _liquidity(row, attributes, reserves)
                )
        except UnusableRow:
            fetch.left_out += 1
    return {mint: price for mint, price in found.items() if mint in mints}


def _read_tokens(reply: Reply) -> _Tokens:
    document = read_json(reply.body, dict[str, msgspec.Raw])
    if "data" not in document:
        # Its rate limit comes with status 200 too.
        if b"429" in bytes(document.get("status", b"")):
            raise Overloaded("a rate limit with status 200")
        raise Malformed("a success without data")
    return read_json(reply.body, _Tokens)


def _reserves(fetch: Fetch, pools: Sequence[msgspec.Raw]) -> dict[str, Decimal | None]:
    """Return by pool what it holds."""
    reserves: dict[str, Decimal | None] = {}
    for raw in pools:
        try:
            row = read_row(raw)
        except UnusableRow:
            fetch.left_out += 1
            continue
        reserve = read_object(row.get("attributes")).get("reserve_in_usd")
        reserves[str(row.get("id"))] = read_liquidity(reserve)
    return reserves


def _liquidity(
    row: Mapping[str, Any], attributes: Mapping[str, Any], reserves: Mapping[str, Decimal | None]
) -> Decimal | None:
    """Return what the first pool of a token holds, which makes its price; else what all of them hold."""
    pools = read_object(read_object(row.get("relationships")).get("top_pools")).get("data")
    first = read_object(pools[0]).get("id") if isinstance(pools, list) and pools else None
    of_first = reserves.get(str(first))
    return read_liquidity(attributes.get("total_reserve_in_usd")) if of_first is None else of_first
