"""Balances from an EVM node: the native coin and the known tokens, since a node cannot list tokens.

Known are the tokens that the wallet has traded according to the ledger, and those in the operator's list.
https://ethereum.org/en/developers/docs/apis/json-rpc/
"""

from wallet_api.base.chains import Chain
from wallet_api.chain.providers.balances.base import BalanceProvider, Balances, HeldToken, KnownTokens
from wallet_api.chain.providers.fetch import Fetch, Limits
from wallet_api.chain.providers.jsonrpc import Node
from wallet_api.chain.providers.metadata import multicall
from wallet_api.chain.providers.metadata.evm import EvmTokens, read_quantity
from wallet_api.chain.providers.metadata.faces import read_token_list
from wallet_api.chain.providers.metrics import FetchMetrics
from wallet_api.settings import Settings


def evm_rpc(chain: Chain, settings: Settings, limits: Limits, metrics: FetchMetrics) -> BalanceProvider:
    """Return what reads eth_getBalance, and balanceOf of the known tokens through Multicall3."""
    node = Node(str(settings.chain(chain.name).rpc_url), limits, metrics)
    listed = read_token_list(settings.evm_token_list, chain)
    evm_tokens = EvmTokens(chain, node)

    def balances(address: str, known_tokens: KnownTokens, fetch: Fetch) -> Balances:
        evm_tokens.check_chain(fetch)
        known = dict.fromkeys([*listed, *known_tokens()])
        tokens = [token for token in known if chain.is_address(token)]
        (native,) = node.call(fetch, [("eth_getBalance", [address, "latest"])])
        balance_of = multicall.balance_of(address)
        results = evm_tokens.call(fetch, [(token, balance_of) for token in tokens])
        amounts = dict(zip(tokens, map(multicall.read_uint, results), strict=True))
        held = {token: amount for token, amount in amounts.items() if amount}
        faces = {token: listed[token] for token in held if token in listed}
        faces |= evm_tokens.faces(fetch, [token for token in held if token not in faces])
        for count, remark in (
            (sum(amount is None for amount in amounts.values()), "the balance of a token is unknown"),
            (len(held) - len(faces), "the decimals of a token are unknown"),
        ):
            fetch.left_out += count
            fetch.remark = fetch.remark or (remark if count else "")
        return Balances(
            read_quantity(native),
            [
                HeldToken(token, face.name, face.symbol, held[token], face.decimals, token in listed)
                for token in held
                if (face := faces.get(token)) is not None and face.decimals is not None
            ],
        )

    return BalanceProvider(node.fetcher, balances)
