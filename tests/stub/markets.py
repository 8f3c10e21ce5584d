"""DexScreener, GeckoTerminal and Jupiter: the same pools of tokens, each in its form."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from flask import Response, request

from tests.stub.moralis import json_response
from wallet_api.base.chains import CHAINS

# The words of both for a chain.
_DEXSCREENER = {chain.dexscreener_id: chain.name for chain in CHAINS.values()}
_GECKOTERMINAL = {chain.geckoterminal_network: chain.name for chain in CHAINS.values()}


class Pool(NamedTuple):
    """A pool of a token: its price in dollars and what it holds, as JSON has them; None is left out."""

    usd: Any
    liquidity: Any = 50_000.5


@dataclass
class Markets:
    """The pools of each token, by chain and mint. `rows` are sent before them, whatever they are."""

    pools: dict[tuple[str, str], Sequence[Pool]] = field(default_factory=dict)
    rows: list[Any] = field(default_factory=list)
    # The tokens of each request.
    asked: list[list[str]] = field(default_factory=list)

    def of(self, chain: str, addresses: str, most: int = 30) -> list[tuple[str, Pool]]:
        """Return the pools of these tokens, of which more are cut off in silence."""
        mints = addresses.split(",")
        self.asked.append(mints)
        return [(mint, pool) for mint in mints[:most] for pool in self.pools.get((chain, mint), ())]

    def dexscreener(self, chain: str, addresses: str) -> Response:
        return json_response(
            [*self.rows, *(pair(chain, *found) for found in self.of(_DEXSCREENER[chain], addresses))]
        )

    def geckoterminal(self, network: str, addresses: str) -> Response:
        assert request.headers["Accept"] == "application/json;version=20230302"
        assert request.args["include"] == "top_pools"
        found = self.of(_GECKOTERMINAL[network], addresses)
        return json_response(
            {
                "data": [*self.rows, *(_token(network, *each) for each in found)],
                "included": [_pool(network, *each) for each in found],
            }
        )

    def jupiter(self) -> Response:
        found = self.of("solana", request.args["ids"], 50)
        return json_response(
            {mint: {"usdPrice": pool.usd, "liquidity": pool.liquidity, "decimals": 6} for mint, pool in found}
        )


def pair(chain: str, mint: str, pool: Pool, **members: Any) -> dict[str, Any]:
    """Return a pool as DexScreener sends it, with other members in place of its own."""
    price = {} if pool.usd is None else {"priceUsd": pool.usd}
    liquidity = (
        {} if pool.liquidity is None else {"liquidity": {"usd": pool.liquidity, "base": 1, "quote": 2}}
    )
    return {
        "chainId": chain,
        "dexId": "raydium",
        "pairAddress": f"pool-of-{mint}",
        # With capitals, as it sends those of EVM chains.
        "baseToken": {"address": mint.upper().replace("0X", "0x", 1) if chain != "solana" else mint},
        "quoteToken": {"address": "So11111111111111111111111111111111111111112", "symbol": "SOL"},
        "priceNative": "0.000001020",
        **price,
        **liquidity,
        **members,
    }


def _token(network: str, mint: str, pool: Pool) -> dict[str, Any]:
    return {
        "id": f"{network}_{mint}",
        "type": "token",
        "attributes": {"address": mint, "price_usd": pool.usd, "total_reserve_in_usd": "999999999.0"},
        "relationships": {"top_pools": {"data": [{"id": f"{network}_pool-of-{mint}", "type": "pool"}]}},
    }


def _pool(network: str, mint: str, pool: Pool) -> dict[str, Any]:
    reserve = {} if pool.liquidity is None else {"reserve_in_usd": str(pool.liquidity)}
    return {"id": f"{network}_pool-of-{mint}", "type": "pool", "attributes": reserve}
