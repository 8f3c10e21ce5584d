"""The providers of balances, one module each; which one serves a chain is a setting."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from wallet_api.chains import Chain
from wallet_api.holdings.fetch import Limits
from wallet_api.holdings.metrics import Metrics
from wallet_api.holdings.providers.alchemy import Alchemy
from wallet_api.holdings.providers.base import Provider
from wallet_api.holdings.providers.evm_rpc import EvmRpc
from wallet_api.holdings.providers.moralis import MoralisEvm, MoralisSolana
from wallet_api.holdings.providers.solana_rpc import SolanaRpc
from wallet_api.settings import Settings

_Kind = Callable[[Chain, Settings, Limits, Metrics], Provider]

# By the name that the settings use: for the EVM chains, and for Solana.
_KINDS: Mapping[str, tuple[_Kind, _Kind]] = MappingProxyType(
    {
        "moralis": (MoralisEvm, MoralisSolana),
        "rpc": (EvmRpc, SolanaRpc),
        "alchemy": (Alchemy, Alchemy),
    }
)


def make_provider(chain: Chain, settings: Settings, limits: Limits, metrics: Metrics) -> Provider:
    """The provider that the settings choose for `chain`. Raises SettingsError for a bad token list."""
    evm, solana = _KINDS[getattr(settings, f"{chain.name}_provider")]
    return (solana if chain.name == "solana" else evm)(chain, settings, limits, metrics)
