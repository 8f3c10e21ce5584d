"""Balances from an EVM node: the native coin and the known tokens, since a node cannot list tokens.

Known are the tokens that the wallet has traded according to the ledger, and those in the operator's list.
https://ethereum.org/en/developers/docs/apis/json-rpc/
"""

from wallet_api.chains import Chain
from wallet_api.providers import multicall
from wallet_api.providers.balances.base import Balances, HeldToken, Holder
from wallet_api.providers.balances.token_list import read_token_list
from wallet_api.providers.evm_tokens import EvmTokens, check_chain, read_quantity
from wallet_api.providers.fetch import Fetch, Limits
from wallet_api.providers.jsonrpc import Node
from wallet_api.providers.metrics import FetchMetrics
from wallet_api.settings import Settings


class EvmRpc:
    """eth_getBalance, and balanceOf of the known tokens through Multicall3."""

    def __init__(self, chain: Chain, settings: Settings, limits: Limits, metrics: FetchMetrics) -> None:
        self._chain = chain
        self._node = Node(str(settings.chain(chain.name).rpc_url), limits, metrics)
        self._listed = read_token_list(settings.evm_token_list, chain)
        self._tokens = EvmTokens(self._node)
        self._chain_is_checked = False
        self.fetcher = self._node.fetcher

    def balances(self, wallet: Holder, fetch: Fetch) -> Balances:
        if not self._chain_is_checked:
            check_chain(self._chain, self._node, fetch)
            self._chain_is_checked = True
        known = dict.fromkeys([*self._listed, *wallet.known_tokens()])
        tokens = [address for address in known if self._chain.is_address(address)]
        (native,) = self._node.call(fetch, [("eth_getBalance", [wallet.address, "latest"])])
        balance_of = multicall.balance_of(wallet.address)
        balances = self._tokens.call(fetch, [(token, balance_of) for token in tokens])
        amounts = dict(zip(tokens, map(multicall.read_uint, balances), strict=True))
        held = {token: amount for token, amount in amounts.items() if amount}
        facts = {token: self._listed[token] for token in held if token in self._listed}
        facts |= self._tokens.facts(fetch, [token for token in held if token not in facts])
        for count, remark in (
            (sum(amount is None for amount in amounts.values()), "the balance of a token is unknown"),
            (len(held) - len(facts), "the decimals of a token are unknown"),
        ):
            fetch.left_out += count
            fetch.remark = fetch.remark or (remark if count else "")
        return Balances(
            read_quantity(native),
            [
                HeldToken(token, fact.name, fact.symbol, held[token], fact.decimals, token in self._listed)
                for token in held
                if (fact := facts.get(token)) is not None
            ],
        )
