"""The providers of balances, one module each; which one serves a chain is a setting."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from wallet_api.chains import Chain
from wallet_api.holdings.fetch import Limits
from wallet_api.holdings.metrics import Metrics
from wallet_api.holdings.providers import moralis
from wallet_api.holdings.providers.base import Provider
from wallet_api.settings import Settings

_MAKERS: Mapping[str, Callable[[Chain, Settings, Limits, Metrics], Provider]] = MappingProxyType(
    {
        "moralis": moralis.make_provider,
    }
)


def make_provider(chain: Chain, settings: Settings, limits: Limits, metrics: Metrics) -> Provider:
    """The provider that the settings choose for `chain`."""
    chosen: str = getattr(settings, f"{chain.name}_provider")
    return _MAKERS[chosen](chain, settings, limits, metrics)
