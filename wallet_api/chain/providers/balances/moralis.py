"""Moralis' wallet API: balances on all four chains, with flags for verified contracts and spam.

Formats: https://docs.moralis.com/web3-data-api/evm/reference/get-wallet-token-balances-price and
https://docs.moralis.com/web3-data-api/solana/reference/get-portfolio.
"""

from dataclasses import replace
from typing import Any

import msgspec

from wallet_api.base.chains import EVM_PSEUDO_MINT, Chain
from wallet_api.chain.decoding.amounts import read_address, read_amount, read_decimals
from wallet_api.chain.providers.balances.base import (
    NATIVE,
    Balances,
    HeldToken,
    KnownTokens,
    Pages,
    read_native,
    read_tokens,
    sum_by_address,
)
from wallet_api.chain.providers.faults import ProviderFault, TooLarge
from wallet_api.chain.providers.fetch import Fetch, Fetcher, Limits
from wallet_api.chain.providers.metrics import FetchMetrics
from wallet_api.chain.providers.parsing import clean, read_flag
from wallet_api.chain.providers.replies import Reply, read_json, refuse
from wallet_api.settings import Settings

_PAGE_ROWS = "100"


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


class MoralisEvm:
    """`/wallets/{address}/tokens`, page by page. A native balance above 0 is one of the rows."""

    def __init__(self, chain: Chain, settings: Settings, limits: Limits, metrics: FetchMetrics) -> None:
        self.fetcher = _fetcher(settings, limits, metrics)
        self._url = settings.moralis_evm_url
        self._chain = chain
        self._parameters = {
            # Without it Moralis assumes Ethereum.
            "chain": chain.moralis_chain,
            "exclude_spam": "false" if settings.holdings_keep_spam else "true",
        }

    def balances(self, address: str, known_tokens: KnownTokens, fetch: Fetch) -> Balances:
        tokens: dict[str, HeldToken] = {}
        pages = Pages()
        page_parameters = {"limit": _PAGE_ROWS}
        while True:
            page = fetch.get(
                f"{self._url}/wallets/{address}/tokens", self._parameters | page_parameters, _read_page
            )
            for token in read_tokens(page.result, self._token, fetch):
                # A second row of a token repeats the first.
                tokens.setdefault(token.address, token)
            if not pages.has_next(page.cursor):
                break
            page_parameters = {"cursor": page.cursor or ""}
        native = tokens.pop(NATIVE, None)
        if native is None:
            url = f"{self._url}/{address}/balance"
            return Balances(fetch.get(url, self._parameters, _read_balance), list(tokens.values()))
        return Balances(native.amount, list(tokens.values()))

    def _token(self, row: dict[str, Any]) -> HeldToken | None:
        address = row.get("token_address")
        if read_flag(row.get("native_token")) or address == EVM_PSEUDO_MINT:
            amount = read_native(row.get("balance"))
            return HeldToken(
                NATIVE, self._chain.coin.name, self._chain.currency, amount, self._chain.native_decimals
            )
        units = read_amount(row.get("balance"))
        # Without a balance, missing decimals hide nothing.
        if not units:
            return None
        return HeldToken(
            address=read_address(self._chain, address),
            name=clean(row.get("name")),
            symbol=clean(row.get("symbol")),
            amount=units,
            decimals=read_decimals(row.get("decimals")),
            verified=read_flag(row.get("verified_contract")),
            spam=read_flag(row.get("possible_spam")),
        )


class MoralisSolana:
    """`/account/mainnet/{address}/portfolio`: one document with a row for each token account."""

    def __init__(self, chain: Chain, settings: Settings, limits: Limits, metrics: FetchMetrics) -> None:
        # The response has no pages, so for a large wallet the first byte may take long.
        limits = replace(limits, silence_seconds=limits.total_seconds)
        self.fetcher = _fetcher(settings, limits, metrics)
        self._url = settings.moralis_solana_url
        self._chain = chain
        self._parameters = {
            "nftMetadata": "false",
            "mediaItems": "false",
            "excludeSpam": "false" if settings.holdings_keep_spam else "true",
        }

    def balances(self, address: str, known_tokens: KnownTokens, fetch: Fetch) -> Balances:
        url = f"{self._url}/account/mainnet/{address}/portfolio"
        portfolio = fetch.get(url, self._parameters, lambda reply: read_json(reply.body, _Portfolio))
        accounts: set[str] = set()

        def token(row: dict[str, Any]) -> HeldToken | None:
            account = row.get("associatedTokenAddress")
            if isinstance(account, str):
                if account in accounts:
                    return None
                accounts.add(account)
            units = read_amount(row.get("amountRaw"))
            if not units:
                return None
            return HeldToken(
                address=read_address(self._chain, row.get("mint")),
                name=clean(row.get("name")),
                symbol=clean(row.get("symbol")),
                amount=units,
                decimals=read_decimals(row.get("decimals")),
                verified=read_flag(row.get("isVerifiedContract")),
                spam=read_flag(row.get("possibleSpam")),
            )

        tokens = sum_by_address(read_tokens(portfolio.tokens, token, fetch))
        return Balances(read_native(portfolio.native_balance.lamports), tokens)


def _fetcher(settings: Settings, limits: Limits, metrics: FetchMetrics) -> Fetcher:
    fetcher = Fetcher("moralis", limits, metrics, _refuse)
    fetcher.session.headers["X-API-Key"] = str(settings.moralis_api_key)
    return fetcher


def _refuse(reply: Reply) -> ProviderFault:
    # "Cannot fetch token balances as wallet contains over 2000 tokens."
    if 400 <= reply.status < 500 and "wallet contains over" in reply.text:
        return TooLarge(f"status {reply.status}")
    return refuse(reply)


def _read_page(reply: Reply) -> _Page:
    return read_json(reply.body, _Page)


def _read_balance(reply: Reply) -> int:
    return read_native(read_json(reply.body, _Balance).balance)
