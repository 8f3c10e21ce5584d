"""The size and seed of a world as command options."""

from collections.abc import Callable
from typing import Any

import click

from wallet_api.demo.world import DAYS, SEED, TRADES, WALLETS

Command = Callable[..., Any]

_SIZES = (
    ("--wallets", WALLETS, 1, "Number of tracked wallets."),
    ("--trades", TRADES, 1, "Number of trades of all wallets."),
    ("--days", DAYS, 1, "Number of days up to now."),
    ("--seed", SEED, 0, "Seed of the random data; the same seed gives the same data."),
)


def world_options(command: Command) -> Command:
    """Add the options wallets, trades, days and seed to `command`; World has arguments of these names."""
    for name, default, least, text in reversed(_SIZES):
        command = click.option(
            name, default=default, show_default=True, type=click.IntRange(least), help=text
        )(command)
    return command
