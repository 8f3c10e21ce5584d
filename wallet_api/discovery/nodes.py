"""The node of a chain, from the settings, with a purse and the results of before."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager

from prometheus_client import CollectorRegistry

from wallet_api.chains import CHAINS
from wallet_api.discovery.evm import EvmSource
from wallet_api.discovery.launches import FirstBuyers
from wallet_api.discovery.purse import Purse
from wallet_api.discovery.results import Results, SavingNode
from wallet_api.discovery.solana import SolanaSource
from wallet_api.providers.metrics import FetchMetrics
from wallet_api.settings import Settings
from wallet_api.sync.sources import node_url, trade_limits


@contextmanager
def node_source(
    settings: Settings, chain: str, mints: Sequence[str], purse: Purse, results: Results
) -> Iterator[Callable[[], FirstBuyers]]:
    """Yield what makes the source of a chain. Raise SettingsError."""
    metrics = FetchMetrics(CollectorRegistry())
    node = SavingNode(node_url(settings, chain), trade_limits(settings), metrics, purse, results)

    def make() -> FirstBuyers:
        if CHAINS[chain].is_evm:
            return EvmSource(CHAINS[chain], node, settings.chain(chain).confirm_seconds, mints)
        return SolanaSource(node, mints)

    with closing(node.fetcher):
        yield make
