"""The node of a chain, from the settings, with a purse and the results of before."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager

from wallet_api.base.chains import CHAINS
from wallet_api.chain.discovery.evm import EvmSource
from wallet_api.chain.discovery.purse import Purse
from wallet_api.chain.discovery.results import Results, SavingNode
from wallet_api.chain.discovery.solana import SolanaSource
from wallet_api.chain.sync.sources import node_url, trade_limits
from wallet_api.settings import Settings

FirstBuyers = EvmSource | SolanaSource
"""The node of a chain. Its methods raise ProviderFault; what they have yielded was right."""


@contextmanager
def node_source(
    settings: Settings, chain: str, mints: Sequence[str], purse: Purse, results: Results
) -> Iterator[Callable[[], FirstBuyers]]:
    """Yield what makes the source of a chain. Raise SettingsError."""
    node = SavingNode(node_url(settings, chain), trade_limits(settings), purse, results)

    def make() -> FirstBuyers:
        if CHAINS[chain].is_evm:
            return EvmSource(CHAINS[chain], node, settings.chain(chain).confirm_seconds, mints)
        return SolanaSource(node, mints)

    with closing(node.fetcher):
        yield make
