"""The providers of balances, one module each; which one serves a chain is a setting."""

from collections.abc import Callable, Mapping
from pkgutil import resolve_name
from types import MappingProxyType

from wallet_api.base.chains import CHAINS, Chain
from wallet_api.chain.providers.balances.base import BalanceProvider
from wallet_api.chain.providers.fetch import Limits
from wallet_api.chain.providers.metrics import FetchMetrics
from wallet_api.settings import Settings

_Kind = Callable[[Chain, Settings, Limits, FetchMetrics], BalanceProvider]

# By the name in the settings: the class for EVM chains, and for Solana. Only the chosen one is imported,
# since the libraries for the nodes' binary formats make a start slower and every worker larger.
_KINDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "moralis": ("moralis:MoralisEvm", "moralis:MoralisSolana"),
        "rpc": ("evm_rpc:EvmRpc", "solana_rpc:SolanaRpc"),
        "alchemy": ("alchemy:Alchemy", "alchemy:Alchemy"),
        "demo": ("alchemy:Alchemy", "alchemy:Alchemy"),
    }
)


def missing_settings(settings: Settings) -> dict[str, str]:
    """Return the chains whose provider lacks a setting, each with the variable that is not set."""
    keys = {"MORALIS_API_KEY": settings.moralis_api_key, "ALCHEMY_API_KEY": settings.alchemy_api_key}
    needed = {"moralis": "MORALIS_API_KEY", "alchemy": "ALCHEMY_API_KEY", "demo": "ALCHEMY_API_KEY"}
    missing = {}
    for name in CHAINS:
        own = settings.chain(name)
        variable = needed.get(own.provider, f"{name.upper()}_RPC_URL")
        if keys.get(variable, own.rpc_url) is None:
            missing[name] = variable
    return missing


def make_provider(chain: Chain, settings: Settings, limits: Limits, metrics: FetchMetrics) -> BalanceProvider:
    """Return the provider that the settings select for `chain`. Raise SettingsError for a bad token list."""
    evm, solana = _KINDS[settings.chain(chain.name).provider]
    kind: _Kind = resolve_name(f"{__name__}.{evm if chain.is_evm else solana}")
    return kind(chain, settings, limits, metrics)
