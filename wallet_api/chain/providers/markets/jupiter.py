"""Jupiter: prices of tokens of Solana, without those that it does not trust.

https://dev.jup.ag/docs/price/v3
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from wallet_api.base.chains import Chain
from wallet_api.chain.providers.faults import Malformed
from wallet_api.chain.providers.fetch import Fetch, Fetcher
from wallet_api.chain.providers.markets.source import MarketPrice, MarketSource, read_liquidity, read_price
from wallet_api.chain.providers.parsing import read_rows
from wallet_api.chain.providers.replies import read_as
from wallet_api.settings import Settings


def jupiter(settings: Settings, fetcher: Fetcher) -> MarketSource:
    """Return the source of Jupiter's prices. It takes 50 tokens, whose URL some proxies would not pass on."""
    if settings.jupiter_api_key is not None:
        fetcher.session.headers["x-api-key"] = settings.jupiter_api_key
    return MarketSource("jupiter", ("solana",), 40, fetcher, settings.jupiter_url, _prices)


def _prices(fetch: Fetch, url: str, chain: Chain, mints: Sequence[str]) -> Mapping[str, MarketPrice]:
    rows = fetch.get(f"{url}/price/v3", {"ids": ",".join(mints)}, read_as(dict[str, msgspec.Raw]))
    if rows and not any(mint in rows for mint in mints):
        raise Malformed("a success of no requested token")
    # One that it does not trust is left out, or null.
    trusted = [mint for mint in mints if mint in rows and bytes(rows[mint]) != b"null"]
    return {mint: price for mint in trusted for price in read_rows([rows[mint]], _price, fetch)}


def _price(row: Mapping[str, Any]) -> MarketPrice:
    return MarketPrice(read_price(row.get("usdPrice")), read_liquidity(row.get("liquidity")))
