"""Alchemy's Portfolio API: balances of all four chains, without a verified flag and without a spam flag.

https://www.alchemy.com/docs/data/portfolio-apis/portfolio-api-endpoints/portfolio-api-endpoints/get-tokens-by-address
"""

from functools import partial
from typing import Any

import msgspec

from wallet_api.base.chains import Chain
from wallet_api.chain.decoding.amounts import UnusableRow
from wallet_api.chain.providers.balances.base import (
    MAX_PAGES,
    NATIVE,
    BalanceProvider,
    Balances,
    HeldToken,
    KnownTokens,
    read_held,
    read_native,
    sum_by_address,
)
from wallet_api.chain.providers.faults import Broken
from wallet_api.chain.providers.fetch import Fetch, Fetcher, Limits
from wallet_api.chain.providers.metrics import FetchMetrics
from wallet_api.chain.providers.parsing import has_next, read_rows
from wallet_api.chain.providers.replies import Reply, read_json
from wallet_api.settings import Settings

# It has no flags.
_NAMES = ("amount", "address", "", "")


class _Data(msgspec.Struct, rename="camel"):
    tokens: list[msgspec.Raw]
    page_key: str | None = None


class _Response(msgspec.Struct, rename="camel"):
    # Documented as a list of rows; the API returns an object that contains them.
    data: _Data | list[msgspec.Raw]
    page_key: str | None = None
    error: msgspec.Raw = msgspec.Raw(b"null")


def alchemy(chain: Chain, settings: Settings, limits: Limits, metrics: FetchMetrics) -> BalanceProvider:
    """Return what reads `/assets/tokens/by-address`, page by page.

    The row without an address is the native coin.
    """
    url = f"{settings.alchemy_url}/{settings.alchemy_api_key}/assets/tokens/by-address"

    def balances(address: str, known_tokens: KnownTokens, fetch: Fetch) -> Balances:
        document: dict[str, Any] = {
            "addresses": [{"address": address, "networks": [chain.alchemy_network]}],
            "withMetadata": True,
            "withPrices": False,
            "includeNativeTokens": True,
        }
        rows: list[HeldToken] = []
        seen: set[str] = set()
        while True:
            page = fetch.post(url, document, _read_page)
            rows += read_rows(page.tokens, partial(_read_token, chain), fetch)
            if not has_next(page.page_key, seen, MAX_PAGES):
                break
            document["pageKey"] = page.page_key
        # On EVM chains a token has one row; on Solana it may have one for each account.
        if chain.case_sensitive:
            tokens = {token.address: token for token in sum_by_address(rows)}
        else:
            tokens = {token.address: token for token in reversed(rows)}
        native = tokens.pop(NATIVE, None)
        return Balances(native.amount if native is not None else 0, list(tokens.values()))

    return BalanceProvider(Fetcher(settings.chain(chain.name).provider, limits, metrics), balances)


def _read_token(chain: Chain, row: dict[str, Any]) -> HeldToken | None:
    if row.get("network", chain.alchemy_network) != chain.alchemy_network:
        return None
    if row.get("error"):
        raise UnusableRow("the provider could not read this token")
    balance, facts = _number(row.get("tokenBalance")), row.get("tokenMetadata")
    if row.get("tokenAddress") is None:
        return HeldToken(NATIVE, "", "", read_native(balance), chain.native_decimals)
    known = facts if isinstance(facts, dict) else {}
    return read_held(chain, {**known, "amount": balance, "address": row["tokenAddress"]}, _NAMES)


def _number(balance: Any) -> Any:
    """Return a hexadecimal balance as a number, and others, which some networks send, unchanged."""
    if isinstance(balance, str) and balance[:2] == "0x":
        try:
            return int(balance[2:] or "0", 16)
        except ValueError:
            return None
    return balance


def _read_page(reply: Reply) -> _Data:
    response = read_json(reply.body, _Response)
    # A response with status 200 and an error lacks the balances of some networks.
    if bytes(response.error) != b"null":
        raise Broken("an error with status 200")
    if isinstance(response.data, list):
        return _Data(response.data, response.page_key)
    return response.data
