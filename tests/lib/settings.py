"""Settings with other values, those of a chain by the name that its variable has."""

from collections.abc import Iterator
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any

from wallet_api.base.chains import CHAINS
from wallet_api.settings import ChainSettings, Settings


def changed(settings: Settings, **values: Any) -> Settings:
    """Return the settings with these values, such as `eth_provider="rpc"`."""
    own: dict[str, Any] = {}
    chains = dict(settings.chains)
    for name, value in values.items():
        chain, _, field = name.partition("_")
        if chain in CHAINS:
            chains[chain] = replace(chains[chain], **{field: value})
        else:
            own[name] = value
    return replace(settings, chains=MappingProxyType(chains), **own)


def values(settings: Settings) -> dict[str, Any]:
    """Return the value of each variable, by its name."""
    return {variable: value for variable, value, _ in _values(settings)}


def defaults() -> dict[str, Any]:
    """Return the default of each variable, by its name."""
    return values(Settings())


def environment(settings: Settings) -> dict[str, str]:
    """Return the variables that are not the default."""
    return {
        variable: str(value) for variable, value, default in _values(settings) if value not in (None, default)
    }


def _values(settings: Settings) -> Iterator[tuple[str, Any, Any]]:
    """Yield each variable with its value and its default."""
    known = set(Settings.variables())
    for setting in fields(settings):
        if setting.name != "chains":
            yield setting.name.upper(), getattr(settings, setting.name), setting.default
    for chain, own in settings.chains.items():
        for setting in fields(ChainSettings):
            variable = f"{chain}_{setting.name}".upper()
            if variable in known:
                yield variable, getattr(own, setting.name), setting.default
