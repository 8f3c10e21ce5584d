"""Balances from an EVM node: the native coin and the known tokens, since a node cannot list tokens.

Known are the tokens that the wallet has traded according to the ledger, and those in the operator's list.
https://ethereum.org/en/developers/docs/apis/json-rpc/
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from cachetools import LRUCache

from wallet_api.chains import Chain
from wallet_api.providers.balances import multicall
from wallet_api.providers.balances.base import Balances, Token, Wallet
from wallet_api.providers.balances.token_list import TokenFacts, read_token_list
from wallet_api.providers.faults import Malformed, NotConfigured
from wallet_api.providers.fetch import Fetch, Limits
from wallet_api.providers.jsonrpc import Node, Result
from wallet_api.providers.metrics import FetchMetrics
from wallet_api.providers.parsing import MAX_DECIMALS, clean
from wallet_api.settings import Settings

_CHUNK = 200
_CACHED_FACTS = 50_000
# Error codes of nodes for a contract that failed, as opposed to the node.
_CONTRACT_CODES = (3, -32015)
_CONTRACT_WORDS = ("revert", "opcode", "out of gas", "execution")

# A contract and the call data.
ContractCall = tuple[str, bytes]
Value = TypeVar("Value")


class EvmRpc:
    """eth_getBalance, and balanceOf of the known tokens through Multicall3."""

    def __init__(self, chain: Chain, settings: Settings, limits: Limits, metrics: FetchMetrics) -> None:
        self._chain = chain
        self._chain_id = chain.evm_chain_id
        self._node = Node(getattr(settings, f"{chain.name}_rpc_url"), limits, metrics)
        self._listed = read_token_list(settings.evm_token_list, chain)
        self._lock = threading.Lock()
        self._cached: LRUCache[str, TokenFacts] = LRUCache(_CACHED_FACTS)
        self._chain_is_checked = False
        self.fetcher = self._node.fetcher

    def balances(self, wallet: Wallet, fetch: Fetch) -> Balances:
        self._check_chain(fetch)
        known = dict.fromkeys([*self._listed, *wallet.known_tokens()])
        tokens = [address for address in known if self._chain.is_address(address)]
        (native,) = self._node.call(fetch, [("eth_getBalance", [wallet.address, "latest"])])
        balance_of = multicall.balance_of(wallet.address)
        balances = self._call(fetch, [(token, balance_of) for token in tokens])
        amounts = dict(zip(tokens, map(multicall.read_uint, balances), strict=True))
        held = {token: amount for token, amount in amounts.items() if amount}
        facts = self._facts(fetch, list(held))
        if unknown := len(held) - len(facts):
            fetch.left_out += unknown
            fetch.remark = fetch.remark or "the decimals of a token are unknown"
        return Balances(
            _quantity(native),
            [
                Token(token, fact.name, fact.symbol, held[token], fact.decimals, token in self._listed)
                for token, fact in facts.items()
            ],
        )

    def _check_chain(self, fetch: Fetch) -> None:
        if not self._chain_is_checked:
            (result,) = self._node.call(fetch, [("eth_chainId", [])])
            if _quantity(result) != self._chain_id:
                raise NotConfigured(f"{self._chain.name.upper()}_RPC_URL is a node of another chain")
            self._chain_is_checked = True

    def _facts(self, fetch: Fetch, tokens: Sequence[str]) -> Mapping[str, TokenFacts]:
        """Return the decimals and names of the tokens, from the list or their contracts.

        Tokens whose decimals are unknown are left out.
        """
        with self._lock:
            known = {token: self._listed.get(token) or self._cached.get(token) for token in tokens}
        unknown = [token for token, fact in known.items() if fact is None]
        selectors = (multicall.DECIMALS, multicall.SYMBOL, multicall.NAME)
        returned = self._call(fetch, [(token, selector) for selector in selectors for token in unknown])
        count = len(unknown)
        for index, token in enumerate(unknown):
            decimals = multicall.read_uint(returned[index])
            if decimals is not None and decimals <= MAX_DECIMALS:
                symbol, name = (clean(multicall.read_text(returned[index + part * count])) for part in (1, 2))
                known[token] = self._store_fact(token, TokenFacts(name, symbol, decimals))
        return {token: fact for token, fact in known.items() if fact is not None}

    def _store_fact(self, token: str, fact: TokenFacts) -> TokenFacts:
        with self._lock:
            self._cached[token] = fact
        return fact

    def _call(self, fetch: Fetch, calls: Sequence[ContractCall]) -> list[bytes | None]:
        """Return the contracts' return values; None for a contract that fails.

        A contract that burns all gas makes the calls after it fail too, so failed calls are repeated alone.
        """
        chunks = [calls[start : start + _CHUNK] for start in range(0, len(calls), _CHUNK)]
        results = self._node.call(fetch, [multicall.aggregate(chunk) for chunk in chunks])
        returned: list[bytes | None] = []
        for chunk, result in zip(chunks, results, strict=True):
            returned += multicall.read_aggregate(_returned(result) or b"", len(chunk))
        failed = [index for index, value in enumerate(returned) if value is None]
        alone = self._node.call(fetch, [multicall.call(*calls[index]) for index in failed])
        for index, result in zip(failed, alone, strict=True):
            returned[index] = _returned(result)
        return returned


def _returned(result: Result) -> bytes | None:
    """Return the return value of a contract; None if it failed. Raise ProviderFault if the node failed."""
    error = result.error
    if error is not None and (
        error.code in _CONTRACT_CODES or any(word in error.message.lower() for word in _CONTRACT_WORDS)
    ):
        return None
    return _hexadecimal(result, bytes.fromhex)


def _quantity(result: Result) -> int:
    return _hexadecimal(result, lambda digits: int(digits, 16))


def _hexadecimal(result: Result, read: Callable[[str], Value]) -> Value:
    text = result.read(str)
    try:
        return read(text.removeprefix("0x"))
    except ValueError:
        raise Malformed("not a hexadecimal value") from None
