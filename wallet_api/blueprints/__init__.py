"""The views, a module for each noun, with what the OpenAPI document shows of them."""

import pkgutil
from collections.abc import Iterator
from importlib import import_module

from flask import Blueprint


def all_blueprints() -> Iterator[Blueprint]:
    """Yield the blueprint of each module here, in the order of their names."""
    for module in pkgutil.iter_modules(__path__):
        yield import_module(f"{__name__}.{module.name}").blueprint
