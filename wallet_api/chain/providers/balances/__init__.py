"""The providers of balances, one module each; which one serves a chain is a setting."""

from collections.abc import Callable, Mapping
from pkgutil import resolve_name
from types import MappingProxyType

from wallet_api.base.chains import CHAINS, Chain
from wallet_api.chain.providers.balances.base import BalanceProvider
from wallet_api.chain.providers.fetch import Limits
from wallet_api.chain.providers.metrics import FetchMetrics
from wallet_api.settings import Settings

_Make = Callable[[Chain, Settings, Limits, FetchMetrics], BalanceProvider]

# By the name in the settings: what makes it for EVM chains, and for Solana, and the setting that it requires.
# Only the chosen one is imported, since the libraries for the nodes' binary formats make a start slower and
# every worker larger.
_PROVIDERS: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {
        "moralis": ("moralis:moralis_evm", "moralis:moralis_solana", "MORALIS_API_KEY"),
        "rpc": ("evm_rpc:evm_rpc", "solana_rpc:solana_rpc", "{CHAIN}_RPC_URL"),
        "alchemy": ("alchemy:alchemy", "alchemy:alchemy", "ALCHEMY_API_KEY"),
        "demo": ("alchemy:alchemy", "alchemy:alchemy", "ALCHEMY_API_KEY"),
    }
)


def missing_settings(settings: Settings) -> dict[str, str]:
    """Return the chains whose provider lacks a setting, each with the variable that is not set."""
    keys = {"MORALIS_API_KEY": settings.moralis_api_key, "ALCHEMY_API_KEY": settings.alchemy_api_key}
    missing = {}
    for name in CHAINS:
        own = settings.chain(name)
        _, _, variable = _PROVIDERS[own.provider]
        if keys.get(variable, own.rpc_url) is None:
            missing[name] = variable.format(CHAIN=name.upper())
    return missing


def make_provider(chain: Chain, settings: Settings, limits: Limits, metrics: FetchMetrics) -> BalanceProvider:
    """Return the provider that the settings select for `chain`. Raise SettingsError for a bad token list."""
    evm, solana, _ = _PROVIDERS[settings.chain(chain.name).provider]
    make: _Make = resolve_name(f"{__name__}.{evm if chain.is_evm else solana}")
    return make(chain, settings, limits, metrics)
