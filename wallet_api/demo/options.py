"""The size and seed of a world as options of a command."""

from collections.abc import Callable
from typing import Any

import click

from wallet_api.demo.world import DAYS, SEED, TRADES, WALLETS

Command = Callable[..., Any]

_SIZES = (
    ("--wallets", WALLETS, 1, "How many wallets are tracked."),
    ("--trades", TRADES, 1, "How many trades they made together."),
    ("--days", DAYS, 1, "Over how many days up to now."),
    ("--seed", SEED, 0, "The same seed makes the same world."),
)


def world_options(command: Command) -> Command:
    """Lend `command` the options wallets, trades, days and seed, which World takes under the same names."""
    for name, default, least, text in reversed(_SIZES):
        command = click.option(
            name, default=default, show_default=True, type=click.IntRange(least), help=text
        )(command)
    return command
