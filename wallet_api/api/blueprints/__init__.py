"""The views, a module for each noun, with what the OpenAPI document shows of them."""

import pkgutil
from collections.abc import Iterator
from functools import cache
from importlib import import_module

from flask import Blueprint, Flask

from wallet_api.api.responses.operation import operation_of


@cache
def operation_names() -> tuple[str, ...]:
    """Return the names of all operations, in their order."""
    app = Flask(__name__, static_folder=None)
    for blueprint in all_blueprints():
        app.register_blueprint(blueprint)
    operations = filter(None, (operation_of(app, endpoint) for endpoint in app.view_functions))
    return tuple(sorted({operation.name for operation in operations}))


def all_blueprints() -> Iterator[Blueprint]:
    """Yield the blueprint of each module here, in the order of their names."""
    for module in pkgutil.iter_modules(__path__):
        yield import_module(f"{__name__}.{module.name}").blueprint
