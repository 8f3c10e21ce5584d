"""Moralis' wallet API: balances on all four chains, with flags for verified contracts and spam.

Formats: https://docs.moralis.com/web3-data-api/evm/reference/get-wallet-token-balances-price and
https://docs.moralis.com/web3-data-api/solana/reference/get-portfolio.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import msgspec

from wallet_api.base.chains import EVM_PSEUDO_MINT, Chain
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
from wallet_api.chain.providers.faults import ProviderFault, TooLarge
from wallet_api.chain.providers.fetch import Fetch, Fetcher, Limits
from wallet_api.chain.providers.metrics import FetchMetrics
from wallet_api.chain.providers.parsing import has_next, read_flag, read_rows
from wallet_api.chain.providers.replies import Reply, read_as, read_json, refuse
from wallet_api.settings import Settings

_PAGE_ROWS = "100"
_EVM_NAMES = ("balance", "token_address", "verified_contract", "possible_spam")
_SOLANA_NAMES = ("amountRaw", "mint", "isVerifiedContract", "possibleSpam")


class _Page(msgspec.Struct):
    result: list[msgspec.Raw]
    cursor: str | None = None


class _Balance(msgspec.Struct):
    balance: str | int


class _Lamports(msgspec.Struct):
    lamports: str | int


class _Portfolio(msgspec.Struct, rename="camel"):
    native_balance: _Lamports
    tokens: list[msgspec.Raw]


def moralis_evm(chain: Chain, settings: Settings, limits: Limits, metrics: FetchMetrics) -> BalanceProvider:
    """Return what reads `/wallets/{address}/tokens`, page by page.

    A native balance above 0 is one of the rows.
    """
    parameters = {
        # Without it Moralis assumes Ethereum.
        "chain": chain.moralis_chain,
        "exclude_spam": "false" if settings.holdings_keep_spam else "true",
    }

    def balances(address: str, known_tokens: KnownTokens, fetch: Fetch) -> Balances:
        tokens: dict[str, HeldToken] = {}
        seen: set[str] = set()
        page_parameters = {"limit": _PAGE_ROWS}
        while True:
            url = f"{settings.moralis_evm_url}/wallets/{address}/tokens"
            page = fetch.get(url, parameters | page_parameters, read_as(_Page))
            for token in read_rows(page.result, partial(_evm_token, chain), fetch):
                # A second row of a token repeats the first.
                tokens.setdefault(token.address, token)
            if not has_next(page.cursor, seen, MAX_PAGES):
                break
            page_parameters = {"cursor": page.cursor or ""}
        native = tokens.pop(NATIVE, None)
        if native is None:
            url = f"{settings.moralis_evm_url}/{address}/balance"
            return Balances(fetch.get(url, parameters, _read_balance), list(tokens.values()))
        return Balances(native.amount, list(tokens.values()))

    return BalanceProvider(_fetcher(settings, limits, metrics), balances)


def _evm_token(chain: Chain, row: dict[str, Any]) -> HeldToken | None:
    if read_flag(row.get("native_token")) or row.get("token_address") == EVM_PSEUDO_MINT:
        amount = read_native(row.get("balance"))
        return HeldToken(NATIVE, chain.coin.name, chain.currency, amount, chain.native_decimals)
    return read_held(chain, row, _EVM_NAMES)


def moralis_solana(
    chain: Chain, settings: Settings, limits: Limits, metrics: FetchMetrics
) -> BalanceProvider:
    """Return what reads `/account/mainnet/{address}/portfolio`: a document with a row for each account."""
    # The response has no pages, so for a large wallet the first byte may take long.
    limits = replace(limits, silence_seconds=limits.total_seconds)
    parameters = {
        "nftMetadata": "false",
        "mediaItems": "false",
        "excludeSpam": "false" if settings.holdings_keep_spam else "true",
    }

    def balances(address: str, known_tokens: KnownTokens, fetch: Fetch) -> Balances:
        url = f"{settings.moralis_solana_url}/account/mainnet/{address}/portfolio"
        portfolio = fetch.get(url, parameters, read_as(_Portfolio))
        accounts: set[str] = set()

        def token(row: dict[str, Any]) -> HeldToken | None:
            account = row.get("associatedTokenAddress")
            if isinstance(account, str):
                if account in accounts:
                    return None
                accounts.add(account)
            return read_held(chain, row, _SOLANA_NAMES)

        tokens = sum_by_address(read_rows(portfolio.tokens, token, fetch))
        return Balances(read_native(portfolio.native_balance.lamports), tokens)

    return BalanceProvider(_fetcher(settings, limits, metrics), balances)


def _fetcher(settings: Settings, limits: Limits, metrics: FetchMetrics) -> Fetcher:
    fetcher = Fetcher("moralis", limits, metrics, _refuse)
    fetcher.session.headers["X-API-Key"] = str(settings.moralis_api_key)
    return fetcher


def _refuse(reply: Reply) -> ProviderFault:
    # "Cannot fetch token balances as wallet contains over 2000 tokens."
    if 400 <= reply.status < 500 and "wallet contains over" in reply.text:
        return TooLarge(f"status {reply.status}")
    return refuse(reply)


def _read_balance(reply: Reply) -> int:
    return read_native(read_json(reply.body, _Balance).balance)
